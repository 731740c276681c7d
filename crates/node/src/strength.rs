//! How strong the models must be that a site demands: a bound for each, beside `minimum_k`.
//!
//! A requirement is a conjunction, so where a study states a model twice the stronger one counts. Of
//! l its number is compared, whatever kind of diversity it is.

use hedgerow_data::document::{DocumentError, Section};
use hedgerow_privacy::{Model, Ratio, Requirement};

/// Which way a bound goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    AtLeast,
    AtMost,
}

/// The model by its key in `[require]`, and the rule that bounds it.
const BOUNDS: [(&str, &str, Way); 7] = [
    ("alpha", "maximum_alpha", Way::AtMost),
    ("l", "minimum_l", Way::AtLeast),
    ("t", "maximum_t", Way::AtMost),
    ("beta", "maximum_beta", Way::AtMost),
    ("delta", "maximum_delta", Way::AtMost),
    ("site_diversity", "minimum_site_diversity", Way::AtLeast),
    ("m", "minimum_m", Way::AtLeast),
];

/// The bounds that a site has set, by rule.
pub(crate) type Strengths = Vec<(&'static str, Ratio)>;

/// Reads the bounds. One for a model that is not demanded would look like a rule and be none.
pub(crate) fn read(
    section: &Section<'_>,
    demanded: Option<&[String]>,
) -> Result<Strengths, DocumentError> {
    let mut strengths = Vec::new();
    for (model, rule, _) in BOUNDS {
        let Some(number) = section.number(rule)? else {
            continue;
        };
        let bound = Ratio::from_decimal(number).ok_or_else(|| {
            let message = format!("`accept.{rule}` is {number}, expected 0 or more");
            section.wrong(rule, message)
        })?;
        if demanded.is_some_and(|demanded| !demanded.iter().any(|name| name == model)) {
            let message = format!(
                "`accept.{rule}` is set, but `accept.models` does not demand `{model}`\nhint: add it there"
            );
            return Err(section.wrong(rule, message));
        }
        strengths.push((rule, bound));
    }
    Ok(strengths)
}

/// What speaks against a study that has the demanded models: a rule and why.
pub(crate) fn refusals(
    strengths: &Strengths,
    demanded: &[String],
    requirement: &Requirement,
) -> Vec<(&'static str, String)> {
    let mut refusals = Vec::new();
    for (model, rule, way) in BOUNDS {
        let stated = requirement.models.iter().filter_map(strength);
        let collusion = requirement.m.map(|m| ("m", Ratio::whole(m)));
        let stated = stated.chain(collusion).filter(|(key, _)| *key == model);
        let stated = stated.map(|(_, strength)| strength);
        let strongest = match way {
            Way::AtLeast => stated.max(),
            Way::AtMost => stated.min(),
        };
        let (true, Some(has)) = (demanded.iter().any(|name| name == model), strongest) else {
            continue;
        };
        let bound = strengths.iter().find(|(set, _)| *set == rule);
        match bound {
            None => refusals.push((rule, format!("is not set; the study has {model} = {has}"))),
            Some((_, bound)) if way == Way::AtLeast && has < *bound => refusals.push((
                rule,
                format!("is {bound}; the study has only {model} = {has}"),
            )),
            Some((_, bound)) if way == Way::AtMost && has > *bound => {
                refusals.push((rule, format!("is {bound}; the study has {model} = {has}")));
            }
            Some(_) => {}
        }
    }
    refusals
}

/// A model's key in `[require]` and its number there.
fn strength(model: &Model) -> Option<(&'static str, Ratio)> {
    Some(match model {
        Model::Alpha { alpha } => ("alpha", *alpha),
        Model::DistinctDiversity { l } | Model::RecursiveDiversity { l, .. } => {
            ("l", Ratio::whole(*l))
        }
        Model::FrequencyDiversity { l } | Model::EntropyDiversity { l } => ("l", *l),
        Model::Closeness { t, .. } => ("t", *t),
        Model::Likeness { beta, .. } => ("beta", *beta),
        Model::DeltaDisclosure { delta } => ("delta", Ratio::from_decimal(*delta)?),
        Model::SiteDiversity { l, .. } => ("site_diversity", Ratio::whole(*l)),
        // k has its own rule.
        _ => return None,
    })
}
