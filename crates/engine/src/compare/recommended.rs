//! Which of the choices is recommended: what follows from the numbers, by one rule.

use serde::Serialize;

use super::{Choice, Row, Tried};
use crate::words::percent;

/// The rule, for people.
pub(super) const RULE: &str = "of all that satisfy the requirement, write no tight range, no set and no range of values without an order where the study itself writes none, and lose at most 2 % more than the least of these, the one with the least query error";

/// How much more than the least a choice may lose, as a share of the least.
const NEAR: f64 = 0.02;

/// The choice that is recommended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Recommended {
    /// The place of the choice among the rows, from 0.
    pub row: usize,
    /// What speaks for it.
    pub because: String,
    /// `[algorithm]` of the study with it.
    pub lines: String,
}

/// The choice that the rule names; nothing, where no choice satisfies the requirement. Of choices with the same
/// release, the row of the one that is recommended is then of the one that tells least on any table.
pub(super) fn recommended(rows: &mut [Row]) -> Option<Recommended> {
    let own = rows.iter().flat_map(Row::choices).find(|choice| choice.own);
    let own = own?.clone();
    let mut found = best(rows, &own)?;
    let row = &mut rows[found.row];
    let fit = row.equal.iter().enumerate();
    let fit = fit.filter(|(_, choice)| choice.is_within(&own));
    let quietest = fit.min_by_key(|(_, choice)| choice.tells());
    if let Some((place, choice)) = quietest
        && !row.choice.own
        && (!row.choice.is_within(&own) || choice.tells() < row.choice.tells())
    {
        std::mem::swap(&mut row.choice, &mut row.equal[place]);
        found.lines = row.choice.lines.clone();
    }
    Some(found)
}

fn best(rows: &[Row], own: &Choice) -> Option<Recommended> {
    let is_quiet = |row: &Row| row.choices().any(|choice| choice.is_within(own));
    let holding = || {
        rows.iter().enumerate().filter_map(|(place, row)| {
            let measured = row.measured()?;
            (measured.holds && is_quiet(row)).then_some((place, measured))
        })
    };
    let least = holding().map(|(_, measured)| measured.loss);
    let least = least.min_by(f64::total_cmp)?;
    let near = holding().filter(|(_, measured)| measured.loss <= least * (1.0 + NEAR));
    // Where no query finds a record, the loss alone decides.
    let error = |place: &usize| {
        let error = rows[*place].measured()?.query_error?;
        Some(error.mean)
    };
    let (row, measured) = near.min_by(|(one, first), (other, second)| {
        let errors = [one, other].map(|place| error(place).unwrap_or(f64::INFINITY));
        let losses = first.loss.total_cmp(&second.loss);
        // The study's own stands before what is as good.
        let own = [*one, *other].map(|place| !rows[place].choice.own);
        errors[0]
            .total_cmp(&errors[1])
            .then(losses)
            .then(own[0].cmp(&own[1]))
    })?;
    let of_all = rows.iter().filter_map(Row::measured);
    let of_all = of_all.filter(|measured| measured.holds);
    let is_least = of_all.into_iter().all(|other| measured.loss <= other.loss);
    let mut because = match measured.loss <= least {
        true if is_least => format!("loses least, {}", percent(measured.loss)),
        true => format!(
            "loses least of those that the rule admits, {}",
            percent(measured.loss)
        ),
        false => format!(
            "loses {}, at most 2 % more than the least ({}), and has the least query error of those",
            percent(measured.loss),
            percent(least)
        ),
    };
    let own = rows.iter().find(|row| row.choice.own);
    because.push_str(&match own.map(|row| (&row.tried, row.choice.words())) {
        _ if rows[row].choice.own => String::from("; the study says so itself"),
        Some((Tried::Measured(own), words)) if own.holds => {
            format!("; the study's own ({words}) loses {}", percent(own.loss))
        }
        Some((Tried::Measured(_), words)) => {
            format!("; the study's own ({words}) does not satisfy the requirement")
        }
        Some((Tried::Refused { .. }, words)) => {
            format!("; the study's own ({words}) gives no release")
        }
        Some((Tried::NotRun { .. }, words)) => format!("; the study's own ({words}) was not run"),
        None => String::new(),
    });
    Some(Recommended {
        row,
        because,
        lines: rows[row].choice.lines.clone(),
    })
}
