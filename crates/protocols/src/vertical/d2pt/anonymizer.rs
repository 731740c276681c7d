//! Anonymizers: to which levels a site generalizes its records (D2PT section 3.4). Any full-domain
//! algorithm will do; [`Datafly`] is the paper's, [`Optimal`](super::Optimal) loses less.
//!
//! # Discloses
//! Nothing: no other site sees the levels.

use super::lattice::{Lattice, Levels};

/// A full-domain algorithm.
pub trait Anonymizer: Sync {
    /// Levels at which the remaining records satisfy the requirement: the lowest levels that the
    /// anonymizer finds, or, where the sites could not agree at the levels `above`, higher levels. The
    /// highest levels of all always satisfy it.
    fn generalize(&self, lattice: &Lattice<'_>, above: Option<&Levels>) -> Levels;
}

/// Sweeney's Datafly (1997): as long as the requirement does not hold, one level up with the
/// quasi-identifier that has the most different values; of equals the first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Datafly;

impl Anonymizer for Datafly {
    fn generalize(&self, lattice: &Lattice<'_>, above: Option<&Levels>) -> Levels {
        Self::path(lattice, above)
            .pop()
            .unwrap_or_else(|| lattice.top())
    }
}

impl Datafly {
    /// The levels that Datafly goes through; the last of them are its answer.
    pub fn path(lattice: &Lattice<'_>, above: Option<&Levels>) -> Vec<Levels> {
        let mut levels = above.cloned().unwrap_or(vec![0; lattice.attributes()]);
        let mut path = Vec::new();
        if above.is_none() {
            path.push(levels.clone());
            if lattice.holds(&levels) {
                return path;
            }
        }
        while let Some(attribute) = most_distinct(lattice, &levels) {
            levels[attribute] += 1;
            path.push(levels.clone());
            if lattice.holds(&levels) {
                break;
            }
        }
        path
    }
}

/// The attribute with the most different values among those that can go up.
fn most_distinct(lattice: &Lattice<'_>, levels: &[u16]) -> Option<usize> {
    let open = (0..lattice.attributes()).filter(|at| levels[*at] < lattice.height(*at));
    let counted = open.map(|at| (lattice.distinct(at, levels[at]), at));
    // The first of the greatest.
    let best = counted.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, attribute)| attribute)
}

#[cfg(test)]
mod tests {
    use hedgerow_data::{Attribute, Codes, Domain, Role, Schema, Taxonomy};
    use hedgerow_privacy::{Requirement, Scope};

    use super::super::super::own::{Demand, OwnColumn};
    use super::super::settings::Suppression;
    use super::*;

    /// D2PT example 1: first age, then zip twice. Person 5 is alone with (123**, [50-59]) all the
    /// same, unlike the paper's Table 1b says, and age goes up once more.
    #[test]
    fn the_path_of_the_paper() {
        let zip = "12345;1234*;123**;*\n12361;1236*;123**;*\n12362;1236*;123**;*\n\
                   12363;1236*;123**;*\n12471;1247*;124**;*\n12473;1247*;124**;*\n";
        let age = "23;[20-29];[20-39];*\n29;[20-29];[20-39];*\n41;[40-49];[40-59];*\n\
                   43;[40-49];[40-59];*\n52;[50-59];[40-59];*\n55;[50-59];[40-59];*\n\
                   59;[50-59];[40-59];*\n";
        let attribute = |name: &str, rows: &str| Attribute {
            name: name.to_owned(),
            role: Role::Quasi,
            domain: Domain::category(Taxonomy::from_rows(rows, name).unwrap(), false),
            recode: None,
            spelling: hedgerow_data::Spelling::default(),
            publish_unique: false,
        };
        let schema = Schema::new(vec![attribute("zip", zip), attribute("age", age)]);
        let people = [
            [
                "12345", "12345", "12363", "12361", "12362", "12471", "12473",
            ],
            ["23", "29", "41", "43", "59", "52", "55"],
        ];
        let rows: Vec<u32> = (0..7).collect();
        let quasi: Vec<OwnColumn<'_>> = people
            .iter()
            .enumerate()
            .map(|(position, values)| {
                let mut codes = Codes::for_size(7);
                let domain = &schema.attributes()[position].domain;
                let coded = values.iter().map(|value| domain.encode(value.as_bytes()));
                coded.for_each(|code| codes.push(code.unwrap()));
                OwnColumn::new(&schema, position, &codes, &rows)
            })
            .collect();
        let requirement = Requirement::of_line("k = 2", &Scope::default()).unwrap();
        let demand = Demand::new(&requirement, &[], &[]);
        let lattice = Lattice::new(&demand, &quasi, rows.len(), Suppression::NONE);
        let path = Datafly::path(&lattice, None);
        assert_eq!(path, [[0, 0], [0, 1], [1, 1], [2, 1], [2, 2]]);
        // With one record suppressed, and one more so that the suppressed are two, the paper's own levels
        // are enough: person 5, and of the classes of two that with the least node.
        let lattice = Lattice::new(&demand, &quasi, rows.len(), Suppression::Outliers);
        let path = Datafly::path(&lattice, None);
        assert_eq!(path, [[0, 0], [0, 1], [1, 1]]);
        let local = lattice.partition(&[1, 1]).unwrap();
        let hidden = local.suppressed.iter().filter(|hides| **hides).count();
        assert_eq!(hidden, 3);
    }
}
