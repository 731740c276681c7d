//! Persons, with the nine columns of the Adult table.
//!
//! Age, sex and origin come from the site's people. Race follows origin, schooling follows age,
//! sex and origin, marital status follows age and sex, the form of work follows schooling and
//! age, the occupation schooling and sex, and the salary follows from all of them.

mod countries;
mod people;
mod profiles;
mod work;

use super::blocks::{SiteRows, push_codes};
use super::random::{Choice, Random};
use crate::table::Column;
use crate::taxonomy::{Taxonomy, TaxonomyError};
use countries::{COUNTRIES, RACES};
use people::{AGE_PAY, BANDS, LEVELS, Level, MARITAL, MARRIED, MOST_POINTS, SALARIES};
use work::{FORMS, OCCUPATIONS};

/// The least age and the number of ages, as the study says.
const LEAST_AGE: u32 = 17;
const AGES: u64 = 80;

/// The taxonomies that the study names.
pub(super) fn taxonomies() -> Result<Vec<(&'static str, Taxonomy)>, TaxonomyError> {
    let read = |name: &'static str, rows: Vec<Vec<&str>>| {
        let rows = rows.iter().map(|row| row.join(";") + ";*\n");
        Ok((name, Taxonomy::from_rows(&rows.collect::<String>(), name)?))
    };
    let above = |label: &'static str, nodes: &[&'static str]| {
        let mut row = vec![label];
        row.extend(nodes);
        row
    };
    let marital = MARITAL.iter().map(|(label, nodes)| above(label, nodes));
    let education = LEVELS.iter().map(|level| above(level.label, level.above));
    let countries = COUNTRIES
        .iter()
        .map(|one| vec![one.label, one.part, one.continent]);
    let forms = FORMS.iter().map(|one| vec![one.label, one.sector]);
    let occupations = OCCUPATIONS
        .iter()
        .map(|one| vec![one.label, one.group, one.class]);
    let salaries = SALARIES.iter().map(|(label, node, _)| vec![*label, *node]);
    Ok(vec![
        read("marital-status", marital.collect())?,
        read("education", education.collect())?,
        read("native-country", countries.collect())?,
        read("workclass", forms.collect())?,
        read("occupation", occupations.collect())?,
        read("salary-class", salaries.collect())?,
    ])
}

/// What all sites have in common.
pub(super) struct Model {
    /// For each kind of origin.
    races: Vec<Choice>,
    /// For each band of ages, women then men.
    marital: Vec<[Choice; 2]>,
    /// For each band of ages and rank of schooling.
    forms: Vec<Vec<Choice>>,
    /// For each number of points.
    salaries: Vec<Choice>,
}

/// A site: the office that counts one part of the country.
pub(super) struct Office<'a> {
    model: &'a Model,
    ages: Choice,
    countries: Choice,
    /// For each band of ages, origin's schooling, and sex.
    levels: Vec<Choice>,
    /// For each rank of schooling, women then men.
    occupations: Vec<[Choice; 2]>,
}

impl Model {
    pub(super) fn new() -> Self {
        let pair = |weights: &[[u64; 7]; 2]| weights.map(Choice::new);
        let forms = |band: usize| {
            let generation = usize::from(band >= 2) + usize::from(band >= 5);
            let choice = |rank: usize| {
                let weights = FORMS.iter();
                Choice::new(weights.map(|form| form.people[rank] * form.ages[generation]))
            };
            (0..4).map(choice).collect()
        };
        let salaries = |points: u64| {
            let weights = SALARIES.iter();
            Choice::new(weights.map(|(_, _, likeliest)| people::salary_weight(points, *likeliest)))
        };
        Self {
            races: RACES.into_iter().map(Choice::new).collect(),
            marital: MARRIED.iter().map(pair).collect(),
            forms: (0..BANDS.len()).map(forms).collect(),
            salaries: (0..=MOST_POINTS).map(salaries).collect(),
        }
    }

    /// The office of a site.
    pub(super) fn site(&self, site: usize) -> Office<'_> {
        let profile = profiles::profile(site);
        let ages = (0..AGES).map(|age| {
            let age = age + u64::from(LEAST_AGE);
            people::age_weight(age) * profile.age(age)
        });
        let countries = COUNTRIES
            .iter()
            .map(|country| country.people * profile.country(country));
        let levels = cases().map(|(band, schooling, sex)| {
            Choice::new(LEVELS.iter().map(|level| {
                // Women study a little more than men, and finish fewer apprenticeships.
                let by_sex = [[5, 3, 6, 5], [5, 5, 5, 5]][sex][level.rank];
                let by_origin = [[14, 6, 3, 2], [5, 5, 5, 5], [3, 4, 7, 11]][schooling];
                let by_site = [4, 4, profile.learned, profile.learned][level.rank];
                level.people[band] * by_sex * by_origin[level.rank] * by_site
            }))
        });
        let occupations = |rank: usize| {
            [0, 1].map(|sex| {
                Choice::new(OCCUPATIONS.iter().map(|one| {
                    let by_sex = [one.women, 100 - one.women][sex];
                    one.people[rank] * by_sex * profile.occupation(one.class)
                }))
            })
        };
        Office {
            model: self,
            ages: Choice::new(ages),
            countries: Choice::new(countries),
            levels: levels.collect(),
            occupations: (0..4).map(occupations).collect(),
        }
    }
}

impl SiteRows for Office<'_> {
    fn draw(&self, random: &mut Random, _: u64, rows: usize, columns: &mut [Column]) {
        let model = self.model;
        for _ in 0..rows {
            let age = self.ages.draw(random);
            let band = band_of(age as u32 + LEAST_AGE);
            // Women live longer.
            let sex = usize::from(random.below(100) >= [49, 49, 50, 50, 51, 56][band]);
            let country = self.countries.draw(random);
            let race = model.races[COUNTRIES[country].like].draw(random);
            let marital = model.marital[band][sex].draw(random);
            let case = case(band, COUNTRIES[country].schooling, sex);
            let level = self.levels[case].draw(random);
            let Level { rank, pay, .. } = LEVELS[level];
            let form = model.forms[band][rank].draw(random);
            let occupation = self.occupations[rank][sex].draw(random);
            // Work without pay earns little, whoever does it.
            let points = match FORMS[form].pay {
                0 => 4,
                form => form + pay + OCCUPATIONS[occupation].pay + AGE_PAY[band] + 3 * sex,
            };
            let salary = model.salaries[points].draw(random);
            let row = [
                sex, age, race, marital, level, country, form, occupation, salary,
            ];
            push_codes(columns, &row.map(|code| code as u32));
        }
    }
}

/// Band of ages, schooling of the origin and sex as one number.
fn case(band: usize, schooling: usize, sex: usize) -> usize {
    (band * 3 + schooling) * 2 + sex
}

fn cases() -> impl Iterator<Item = (usize, usize, usize)> {
    (0..BANDS.len() * 6).map(|number| (number / 6, number / 2 % 3, number % 2))
}

fn band_of(age: u32) -> usize {
    BANDS.iter().filter(|first| **first <= age).count() - 1
}

#[cfg(test)]
mod tests;
