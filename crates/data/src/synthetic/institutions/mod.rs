//! People whom a clinic, a laboratory and an insurer know: the patients of a hospital, their columns
//! at three places. Each institution has them in an order of its own, and lacks a few whom the
//! others have.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::blocks::{Drawer, SiteRows, push_codes};
use super::random::Random;
use super::{Plan, SyntheticError, hospital, table_path};
use crate::files::{Progress, write_table};
use crate::study::Study;
use crate::table::{Codes, Column, Table};
use crate::text::TextColumn;

/// Of this many people an institution lacks one.
const LACKS_ONE_IN: u32 = 25;

/// The columns of a hospital's row.
const AGE: usize = 0;
const DIAGNOSIS: usize = 4;

/// Everybody, with all columns.
pub(super) struct People<'a> {
    pub(super) patients: hospital::Hospital<'a>,
}

impl SiteRows for People<'_> {
    fn draw(&self, random: &mut Random, first: u64, rows: usize, columns: &mut [Column]) {
        let mut drawn = vec![Column::Text(TextColumn::default())];
        drawn.resize_with(8, || Column::Coded(Codes::U32(Vec::new())));
        self.patients.draw(random, first, rows, &mut drawn);
        let codes: Vec<&Codes> = drawn.iter().filter_map(Column::codes).collect();
        for row in 0..rows {
            let [age, sex, zip, _, diagnosis, treatment, cost] =
                [0, 1, 2, 3, DIAGNOSIS, 5, 6].map(|at| codes[at].get(row));
            // Findings depend on the patient's diagnosis and age, and on chance.
            let burden = (diagnosis % 5) * 12 + codes[AGE].get(row) / 2 + random.below(60);
            let marker = match burden {
                0..30 => 0,
                30..80 => 1,
                80..115 => 2,
                _ => 3,
            };
            let sample = [0, 0, 0, 1, 1, 2][random.below(6) as usize];
            if let (Column::Text(from), Column::Text(to)) = (&drawn[0], &mut columns[0]) {
                to.push(from.get(row), first + row as u64 + 2);
            }
            let row = [age, sex, zip, diagnosis, marker, sample, treatment, cost];
            push_codes(columns, &row);
        }
    }
}

/// Writes each institution's table, or one of everybody. All people are held at once.
pub(super) fn tables(
    plan: &Plan,
    folder: &Path,
    study: &Study,
    progress: &dyn Progress,
) -> Result<Vec<(String, PathBuf, u64)>, SyntheticError> {
    let drawer = Drawer::new(plan.kind, plan.seed, &study.schema);
    let everybody = Table::new(Arc::clone(&study.schema), drawer.whole(plan.rows));
    if plan.pooled {
        let name = plan.kind.name();
        let path = table_path(plan, folder, name);
        write_table(&path, &everybody, progress)?;
        return Ok(vec![(name.into(), path, plan.rows)]);
    }
    let mut tables = Vec::new();
    for (place, site) in study.sites.iter().enumerate() {
        let mut random = Random::for_block(plan.seed, "institutions' own", place, 0);
        let mut rows: Vec<usize> = (0..everybody.rows())
            .filter(|_| random.below(LACKS_ONE_IN) > 0)
            .collect();
        for last in (1..rows.len()).rev() {
            rows.swap(last, random.below(last as u32 + 1) as usize);
        }
        let schema = study.schema_at(place);
        let columns = schema.attributes().iter().filter_map(|attribute| {
            let column = everybody.column(study.schema.position(&attribute.name)?);
            Some(match column.picked(&rows) {
                Column::Text(numbers) if site.name == "insurer" => Column::Text(lower(&numbers)),
                other => other,
            })
        });
        let columns = columns.collect();
        let path = table_path(plan, folder, &site.name);
        write_table(&path, &Table::new(schema, columns), progress)?;
        tables.push((site.name.clone(), path, rows.len() as u64));
    }
    Ok(tables)
}

/// The same people's numbers in the form of another institution.
fn lower(numbers: &TextColumn) -> TextColumn {
    let mut lower = TextColumn::default();
    for (place, number) in (1..).zip(numbers.iter()) {
        lower.push(&number.to_lowercase(), place);
    }
    lower
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::files::{Others, read_table};
    use crate::synthetic::{Kind, TableFormat, generate};

    #[test]
    fn institutions_know_the_same_people_and_different_things() {
        let folder = tempfile::tempdir().unwrap();
        let plan = |pooled| Plan {
            kind: Kind::Institutions,
            rows: 600,
            sites: 3,
            seed: 3,
            format: TableFormat::Csv,
            pooled,
            parts: None,
        };
        let written = generate(&plan(false), &folder.path().join("own"), &()).unwrap();
        let study = Study::open(&written.study).unwrap();
        let keys = |place: usize| -> BTreeSet<Vec<u8>> {
            let (_, path, rows) = &written.tables[place];
            let table = read_table(path, &study.schema_at(place), &Others::Refuse, &()).unwrap();
            assert_eq!(table.rows() as u64, *rows);
            study.identity.keys(&table).unwrap().into_iter().collect()
        };
        let all: Vec<BTreeSet<Vec<u8>>> = (0..3).map(keys).collect();
        let common = all[0]
            .iter()
            .filter(|key| all[1].contains(*key) && all[2].contains(*key));
        let common = common.count();
        assert!((450..590).contains(&common), "{common}");
        assert!(
            all.iter()
                .all(|keys| keys.len() > common && keys.len() < 600)
        );
        let again = generate(&plan(false), &folder.path().join("again"), &()).unwrap();
        for ((_, one, _), (_, other, _)) in written.tables.iter().zip(&again.tables) {
            assert_eq!(std::fs::read(one).unwrap(), std::fs::read(other).unwrap());
        }
        let pooled = generate(&plan(true), &folder.path().join("pooled"), &()).unwrap();
        let table = read_table(&pooled.tables[0].1, &study.schema, &Others::Refuse, &()).unwrap();
        assert_eq!(table.rows(), 600);
        let four = Plan {
            sites: 4,
            ..plan(false)
        };
        let refused = generate(&four, &folder.path().join("four"), &()).unwrap_err();
        assert!(
            refused.to_string().contains("institutions are three"),
            "{refused}"
        );
    }
}
