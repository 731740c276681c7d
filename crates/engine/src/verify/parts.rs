//! Parts of the look at a release of a known study: fragments joined again, roles in words, and whether CSV
//! and Parquet say the same.

use std::path::Path;

use hedgerow_data::files::read_release_of;
use hedgerow_data::{Release, Role, Study, Table};
use hedgerow_privacy::classes::Classes;
use hedgerow_privacy::reconstruction::{Fragment, Pairs, Reconstruction, reconstructions};

use super::check::Check;
use crate::error::Error;
use crate::observe::{Observer, Work};

/// What every two sensitive fragments of a release tell together.
pub(super) fn put_together(
    study: &Study,
    release: &Release,
    groups: &Classes,
    original: Option<&Table>,
) -> Vec<Reconstruction> {
    let positions = study.schema.with_role(Role::Sensitive).into_iter();
    let columns: Vec<(usize, Vec<u32>)> = positions
        .filter_map(|position| Some((position, release.verbatim(position)?.iter().collect())))
        .collect();
    let fragments: Vec<Fragment<'_>> = columns
        .iter()
        .map(|(position, codes)| Fragment {
            name: &study.schema.attributes()[*position].name,
            codes,
        })
        .collect();
    reconstructions(groups, &fragments, |one, other| {
        let original = original?;
        let [one, other] = [one, other].map(|place| original.codes(columns[place].0));
        let mut pairs = Pairs::new();
        for pair in one?.iter().zip(other?.iter()) {
            *pairs.entry(pair).or_insert(0) += 1;
        }
        Some(pairs)
    })
}

/// The columns of each role, for people.
pub(super) fn roles(study: &Study) -> Vec<Vec<String>> {
    let of_role = |(role, words): (Role, &str)| {
        let positions = study.schema.with_role(role).into_iter();
        let names = positions.map(|position| study.schema.attributes()[position].name.clone());
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| vec![format!("  {words}"), names.join(", ")])
    };
    let all = [
        (Role::Quasi, "others may know"),
        (Role::Sensitive, "sensitive"),
        (Role::Other, "published as they are"),
        (Role::Identifier, "left out"),
    ];
    all.into_iter().filter_map(of_role).collect()
}

/// Whether the folder's CSV file says the same as the release that was read from its Parquet file.
pub(super) fn check_csv(
    folder: &Path,
    study: &Study,
    release: &Release,
    (check, observer): (&mut Check, &dyn Observer),
) {
    // A file that was changed has been found already.
    if !check.has_both() {
        return;
    }
    let path = folder.join("release.csv");
    let read = read_release_of(&path, study, &*observer.begin(Work::Reading(&path)));
    let read = read.map_err(Error::from);
    match read.and_then(|read| Ok(Release::from_text(&read.text, &study.schema, &[])?)) {
        Ok(csv) => check.same(&csv, release),
        Err(error) => check.findings.push(error.to_string()),
    }
}
