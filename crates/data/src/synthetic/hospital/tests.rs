//! The hospital: its taxonomies and its joint structure.

use jiff::civil::date;

use super::*;
use crate::synthetic::MOST_SITES;

/// The model counts values in the order of its lists, the study in leaf order: they agree only if
/// no list comes back to a node it has left.
#[test]
fn leaf_order_is_list_order() {
    let trees = taxonomies().unwrap();
    let values = |place: usize| trees[place].1.values();
    let zips = geography::zips();
    assert!(values(0).eq(zips.iter().map(|zip| zip.number.to_string())));
    let model = Model::new(0);
    assert!(values(1).eq(model.diagnoses.iter().map(|one| one.label)));
    assert!(values(2).eq(TREATMENTS.iter().map(|one| one.label)));
}

#[test]
fn the_taxonomies_are_as_rich_as_promised() {
    let trees = taxonomies().unwrap();
    let size = |place: usize| (trees[place].1.leaf_count(), trees[place].1.height());
    let (zips, levels) = size(0);
    assert!(zips > 500 && levels == 4, "{zips} zips");
    let (diagnoses, levels) = size(1);
    assert!(diagnoses > 150 && levels == 3, "{diagnoses} diagnoses");
    assert_eq!(size(2), (50, 3));
}

#[test]
fn every_treatment_that_a_block_names_exists_and_is_used() {
    let mut used = Vec::new();
    for block in diagnoses::chapters().flat_map(|chapter| chapter.blocks) {
        let treatments = Treatments::of(block);
        assert_eq!(
            treatments.codes.len(),
            block.treatments.len(),
            "{}",
            block.label
        );
        used.extend(treatments.codes);
    }
    assert!((0..TREATMENTS.len() as u32).all(|code| used.contains(&code)));
}

#[test]
fn specialities_are_chapters() {
    let letters: String = diagnoses::chapters()
        .map(|chapter| &chapter.label[..1])
        .collect();
    for site in 0..40 {
        let profile = profiles::profile(site);
        assert!(
            profile
                .strong
                .chars()
                .all(|letter| letters.contains(letter))
        );
        assert!(profile.weak.chars().all(|letter| letters.contains(letter)));
        assert!(profile.reach > 0);
    }
}

#[test]
fn the_calendar_is_the_studys() {
    let first = date(2024, 1, 1);
    assert_eq!(first.weekday(), jiff::civil::Weekday::Monday);
    assert_eq!((date(2025, 12, 31) - first).get_days() as u64, DAYS - 1);
    for day in 0..DAYS {
        let date = first
            .checked_add(jiff::Span::new().days(day as i64))
            .unwrap();
        let season = match date.month() {
            12 | 1 | 2 => 0,
            3..=5 => 1,
            6..=8 => 2,
            _ => 3,
        };
        assert_eq!(quarter(day), season, "{date}");
    }
}

#[test]
fn patients_are_distinct() {
    let model = Model::new(u64::MAX);
    let mut seen = std::collections::HashSet::new();
    for site in [0, 1, MOST_SITES - 1] {
        for row in (0..3000).chain(4_000_000_000..4_000_003_000) {
            assert!(seen.insert(model.patient(site, row)));
        }
    }
}
