//! Admissions to hospitals: patient, age, sex, zip, day, diagnosis, treatment and cost.
//!
//! Age and zip come from the hospital's catchment area, the day from week and season. The
//! diagnosis depends on age, sex, season and the hospital's specialities, the treatment on
//! diagnosis and age, the cost on treatment, age and the length of the stay, which is not told. Costs are told in bands.

mod calendar;
mod diagnoses;
mod geography;
mod profiles;
mod treatments;

use super::blocks::{SiteRows, push_codes};
use super::random::{Choice, Random};
use crate::table::Column;
use crate::taxonomy::{Taxonomy, TaxonomyError};
use calendar::{AGES, DAYS, FEMALE, age_weight, day_weight, quarter};
use diagnoses::{BANDS, Block, Diagnosis};
use geography::Zip;
use treatments::{SURGERY, TREATMENTS};

/// Where the study's bands of costs begin, but for the first. A bill to the last coin would single out
/// who paid it.
const COST_BANDS: [u64; 5] = [1_000, 2_000, 5_000, 10_000, 20_000];

/// The digits of a patient's identifier: no letters that look like others.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The taxonomies that the study names.
pub(super) fn taxonomies() -> Result<Vec<(&'static str, Taxonomy)>, TaxonomyError> {
    let mut zip = String::new();
    for place in geography::zips() {
        let number = place.number;
        let (town, county, region) = (number / 10, number / 100, number / 10_000);
        zip.push_str(&format!("{number};{town}*;{county}**;{region}****;*\n"));
    }
    let mut diagnosis = String::new();
    for chapter in diagnoses::chapters() {
        for block in chapter.blocks {
            for one in block.diagnoses {
                let row = [one.label, block.label, chapter.label, "*\n"];
                diagnosis.push_str(&row.join(";"));
            }
        }
    }
    let mut treatment = String::new();
    for one in &TREATMENTS {
        treatment.push_str(&[one.label, one.group, one.class, "*\n"].join(";"));
    }
    let read = |name: &'static str, rows: &str| Ok((name, Taxonomy::from_rows(rows, name)?));
    Ok(vec![
        read("zip", &zip)?,
        read("diagnosis", &diagnosis)?,
        read("treatment", &treatment)?,
    ])
}

/// What all hospitals have in common.
pub(super) struct Model {
    seed: u64,
    zips: Vec<Zip>,
    /// For each chapter its label, the code of its first diagnosis, and the number of its diagnoses.
    chapters: Vec<(&'static str, u32, usize)>,
    diagnoses: Vec<&'static Diagnosis>,
    /// For each circumstance and chapter, the choice between its diagnoses.
    within: Vec<Vec<Choice>>,
    /// For each diagnosis, its treatments; frail patients get the second choice.
    treatments: Vec<Treatments>,
    days: Choice,
    /// For each day, the quarter of the year: 0 is winter.
    quarters: Vec<u8>,
    /// Powers of a number a little above one, times 2^16: a log-normal factor for a bell draw.
    factors: Vec<u64>,
}

struct Treatments {
    codes: Vec<u32>,
    choices: [Choice; 2],
}

/// A hospital.
pub(super) struct Hospital<'a> {
    model: &'a Model,
    site: usize,
    ages: Choice,
    zips: Choice,
    /// For each circumstance, the choice between chapters.
    chapters: Vec<Choice>,
}

/// Age band, sex and quarter as one number.
fn circumstance(band: usize, sex: usize, quarter: usize) -> usize {
    (band * 2 + sex) * 4 + quarter
}

fn circumstances() -> impl Iterator<Item = (usize, usize, usize)> {
    (0..BANDS.len() * 8).map(|number| (number / 8, number / 4 % 2, number % 4))
}

fn band_of(age: u32) -> usize {
    BANDS.iter().filter(|first| **first <= age).count() - 1
}

impl Model {
    pub(super) fn new(seed: u64) -> Self {
        let mut chapters = Vec::new();
        let mut all: Vec<&'static Diagnosis> = Vec::new();
        let mut treatments = Vec::new();
        for chapter in diagnoses::chapters() {
            let first = all.len();
            for block in chapter.blocks {
                all.extend(block.diagnoses);
                treatments.extend(block.diagnoses.iter().map(|_| Treatments::of(block)));
            }
            chapters.push((chapter.label, first as u32, all.len() - first));
        }
        let within = circumstances().map(|(band, sex, quarter)| {
            let choices = chapters.iter().map(|(_, first, count)| {
                let diagnoses = all[*first as usize..].iter().take(*count);
                Choice::new(diagnoses.map(|one| one.weight_for(band, sex, quarter)))
            });
            choices.collect()
        });
        let mut factor = 65_536.0 / 5.6;
        let factors = (0..=1020).map(|_| {
            factor *= 1.003_383;
            factor as u64
        });
        Self {
            seed,
            zips: geography::zips(),
            within: within.collect(),
            chapters,
            diagnoses: all,
            treatments,
            days: Choice::new((0..DAYS).map(day_weight)),
            quarters: (0..DAYS).map(quarter).collect(),
            factors: factors.collect(),
        }
    }

    /// The hospital of a site.
    pub(super) fn site(&self, site: usize) -> Hospital<'_> {
        let profile = profiles::profile(site);
        let patients = self
            .zips
            .iter()
            .map(|zip| geography::patients(zip, profile.at, profile.reach));
        let ages = (0..AGES).map(|age| age_weight(age as u64) * profile.age(age));
        let chapters = circumstances().map(|(band, sex, quarter)| {
            Choice::new(self.chapters.iter().map(|(label, first, count)| {
                let diagnoses = self.diagnoses[*first as usize..].iter().take(*count);
                let weights = diagnoses.map(|one| one.weight_for(band, sex, quarter));
                weights.sum::<u64>() * profile.chapter(label)
            }))
        });
        Hospital {
            model: self,
            site,
            ages: Choice::new(ages),
            zips: Choice::new(patients),
            chapters: chapters.collect(),
        }
    }

    /// An identifier that no other row of any site has: site and row, stirred by the seed.
    fn patient(&self, site: usize, row: u64) -> [u8; 11] {
        const MASK: u64 = (1 << 50) - 1;
        let mut number = (((site as u64) << 34) | row) ^ (self.seed & MASK);
        // Each step can be undone, so different rows get different numbers.
        for _ in 0..2 {
            number = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) & MASK;
            number ^= number >> 25;
        }
        let mut text = *b"P0000000000";
        for digit in text[1..].iter_mut().rev() {
            *digit = DIGITS[(number % 32) as usize];
            number /= 32;
        }
        text
    }

    /// The band of the cost.
    fn cost(&self, random: &mut Random, diagnosis: u32, treatment: u32, age: u32) -> u32 {
        let usual = self.diagnoses[diagnosis as usize].days;
        // Tenths of a day; the old stay longer.
        let stay = (usual * (7 + u64::from(age) / 15) * self.factors[random.bell()]) >> 16;
        let price = TREATMENTS[treatment as usize].price + 42 * stay;
        let cost = (price * self.factors[random.bell()]) >> 16;
        COST_BANDS.iter().filter(|least| **least <= cost).count() as u32
    }
}

impl SiteRows for Hospital<'_> {
    fn draw(&self, random: &mut Random, first: u64, rows: usize, columns: &mut [Column]) {
        let model = self.model;
        for row in first..first + rows as u64 {
            let age = self.ages.draw(random) as u32;
            let band = band_of(age);
            let sex = usize::from(random.below(100) >= FEMALE[band]);
            let zip = self.zips.draw(random) as u32;
            let day = model.days.draw(random);
            let case = circumstance(band, sex, usize::from(model.quarters[day]));
            let chapter = self.chapters[case].draw(random);
            let within = model.within[case][chapter].draw(random);
            let diagnosis = model.chapters[chapter].1 + within as u32;
            let treatments = &model.treatments[diagnosis as usize];
            let frail = usize::from(age >= 80);
            let treatment = treatments.codes[treatments.choices[frail].draw(random)];
            let cost = model.cost(random, diagnosis, treatment, age);
            if let Column::Text(patients) = &mut columns[0] {
                let patient = model.patient(self.site, row);
                // Letters and digits are text.
                patients.push(std::str::from_utf8(&patient).unwrap_or_default(), row + 2);
            }
            let codes = [age, sex as u32, zip, day as u32, diagnosis, treatment, cost];
            push_codes(columns, &codes);
        }
    }
}

impl Treatments {
    fn of(block: &Block) -> Self {
        let named = block.treatments.iter().filter_map(|(label, weight)| {
            let code = TREATMENTS.iter().position(|one| one.label == *label)?;
            Some((code, *weight))
        });
        let (codes, weights): (Vec<usize>, Vec<u64>) = named.unzip();
        let choice = |surgery: u64| {
            let weights = codes.iter().zip(&weights);
            Choice::new(weights.map(|(code, weight)| match TREATMENTS[*code].class {
                SURGERY => weight * surgery,
                _ => weight * 10,
            }))
        };
        Self {
            choices: [choice(10), choice(4)],
            codes: codes.into_iter().map(|code| code as u32).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
