//! Diagnoses: chapters, blocks and codes in the manner of the ICD, our own selection in plain words,
//! with the people who have them and the season. The numbers are plausible, not measured.

mod body;
mod general;

/// A chapter: the part of medicine.
pub(in crate::synthetic) struct Chapter {
    pub(in crate::synthetic) label: &'static str,
    pub(in crate::synthetic) blocks: &'static [Block],
}

/// A block of related diagnoses, which are treated alike.
pub(in crate::synthetic) struct Block {
    pub(in crate::synthetic) label: &'static str,
    /// Treatments and how often each is chosen.
    pub(in crate::synthetic) treatments: &'static [(&'static str, u64)],
    pub(in crate::synthetic) diagnoses: &'static [Diagnosis],
}

/// A diagnosis.
pub(in crate::synthetic) struct Diagnosis {
    pub(in crate::synthetic) label: &'static str,
    /// How common the diagnosis is.
    pub(in crate::synthetic) weight: u64,
    ages: Ages,
    sexes: Sexes,
    season: Season,
    /// Usual days in hospital.
    pub(in crate::synthetic) days: u64,
}

/// Whom a diagnosis meets, by age.
#[derive(Clone, Copy)]
enum Ages {
    Newborn,
    Child,
    Young,
    Fertile,
    Adult,
    Middle,
    Old,
    Oldest,
    Any,
}

/// Whom a diagnosis meets, by sex.
#[derive(Clone, Copy)]
enum Sexes {
    Both,
    Women,
    Men,
    MoreWomen,
    MoreMen,
}

/// When in the year a diagnosis comes.
#[derive(Clone, Copy)]
enum Season {
    Always,
    Winter,
    Spring,
    Summer,
}

/// First ages of the bands that diagnoses tell apart.
pub(in crate::synthetic) const BANDS: [u32; 11] = [0, 1, 5, 15, 25, 35, 45, 55, 65, 75, 85];

/// All chapters.
pub(in crate::synthetic) fn chapters() -> impl Iterator<Item = &'static Chapter> {
    general::CHAPTERS.iter().chain(&body::CHAPTERS)
}

impl Diagnosis {
    /// How common the diagnosis is for a band of ages, a sex (0 female, 1 male) and a quarter of the
    /// year (0 winter).
    pub(in crate::synthetic) fn weight_for(&self, band: usize, sex: usize, quarter: usize) -> u64 {
        let age = match self.ages {
            Ages::Newborn => [90, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            Ages::Child => [10, 14, 10, 3, 1, 1, 1, 0, 0, 0, 0],
            Ages::Young => [0, 2, 8, 13, 10, 6, 3, 2, 1, 1, 1],
            Ages::Fertile => [0, 0, 0, 8, 16, 7, 0, 0, 0, 0, 0],
            Ages::Adult => [0, 0, 1, 8, 11, 11, 10, 9, 7, 5, 4],
            Ages::Middle => [0, 0, 0, 2, 4, 9, 13, 13, 9, 5, 3],
            Ages::Old => [0, 0, 0, 0, 1, 2, 5, 10, 14, 15, 14],
            Ages::Oldest => [0, 0, 0, 0, 0, 0, 1, 3, 7, 15, 22],
            Ages::Any => [4, 6, 5, 5, 5, 5, 5, 6, 6, 7, 7],
        }[band];
        let sex = match self.sexes {
            Sexes::Both => [2, 2],
            Sexes::Women => [3, 0],
            Sexes::Men => [0, 3],
            Sexes::MoreWomen => [3, 1],
            Sexes::MoreMen => [1, 3],
        }[sex];
        let season = match self.season {
            Season::Always => [3, 3, 3, 3],
            Season::Winter => [6, 3, 1, 2],
            Season::Spring => [1, 6, 4, 1],
            Season::Summer => [1, 3, 6, 2],
        }[quarter];
        self.weight * age * sex * season
    }
}

const fn d(
    label: &'static str,
    weight: u64,
    ages: Ages,
    sexes: Sexes,
    season: Season,
    days: u64,
) -> Diagnosis {
    Diagnosis {
        label,
        weight,
        ages,
        sexes,
        season,
        days,
    }
}
