//! How a `[require]` table is read, model by model: every key checked, in its short form and its long
//! one, and a demand that cannot be met refused with a hint about what could be met.

use hedgerow_data::document::{DocumentError, Section};
use hedgerow_data::{nearest, quoted_list};

use super::{Requirement, RequirementError, Scope, Sensitive};
use crate::closeness::Distance;
use crate::model::{Model, SiteSupport, Spread};
use crate::ratio::Ratio;

pub(super) fn read(section: &Section<'_>, scope: &Scope) -> Result<Requirement, RequirementError> {
    let sensitive = section
        .word("sensitive", &Sensitive::NAMES)?
        .unwrap_or(Sensitive::Each);
    if scope.is_vertical {
        refuse_of_sites(section, scope, sensitive)?;
    }
    let mut models = Vec::new();
    if let Some(k) = section.integer("k")? {
        models.push(Model::KAnonymity {
            k: at_least_one(section, "k", k)?,
        });
    }
    if let Some(alpha) = section.number("alpha")? {
        let alpha = Ratio::from_decimal(alpha)
            .filter(|value| *value > Ratio::ZERO && *value <= Ratio::whole(1))
            .ok_or_else(|| outside(section, "alpha", alpha, "above 0 and at most 1"))?;
        models.push(Model::Alpha { alpha });
    }
    if section.has("l") {
        models.push(diversity(section, scope, sensitive)?);
    }
    if section.has("t") {
        models.push(closeness(section, scope, sensitive)?);
    }
    if section.has("beta") {
        models.push(likeness(section)?);
    }
    if let Some(delta) = section.number("delta")? {
        if !(delta > 0.0 && delta.is_finite()) {
            return Err(outside(section, "delta", delta, "above 0").into());
        }
        models.push(Model::DeltaDisclosure { delta });
    }
    if section.has("site_diversity") {
        models.push(site_diversity(section, scope)?);
    }
    let m = match section.integer("m")? {
        None => None,
        Some(m) => Some(colluders(section, m, scope)?),
    };
    let k_printed = match section.integer("k_printed")? {
        None => None,
        Some(k) => Some(at_least_one(section, "k_printed", k)?),
    };
    section.finish()?;

    if models.is_empty() && k_printed.is_none() {
        let message = "the requirement demands nothing\nhint: state at least k, e.g. k = 10";
        return Err(section.wrong_section(message).into());
    }
    let needs_sensitive =
        |model: &Model| !matches!(model, Model::KAnonymity { .. }) && !model.speaks_of_sites();
    if scope.sensitive.is_empty() && models.iter().any(needs_sensitive) {
        let message =
            "the requirement speaks of sensitive values, but no attribute has role = \"sensitive\"";
        return Err(section.wrong_section(message).into());
    }
    Ok(Requirement {
        models,
        m,
        k_printed,
        sensitive,
    })
}

/// Where every site holds everybody, no person is of one site; and no site sees two sites' sensitive
/// values together.
fn refuse_of_sites(
    section: &Section<'_>,
    scope: &Scope,
    sensitive: Sensitive,
) -> Result<(), DocumentError> {
    let has_product = sensitive.has_product() && scope.sensitive.len() > 1;
    for (key, is_there) in [
        ("site_diversity", section.has("site_diversity")),
        ("m", section.has("m")),
        ("sensitive", has_product),
    ] {
        if is_there {
            let message = format!(
                "`{}` cannot be asked of sites that hold different columns of the same people\nhint: state k, and l or t of each sensitive attribute on its own",
                section.path(key)
            );
            return Err(section.wrong(key, message));
        }
    }
    Ok(())
}

fn diversity(
    section: &Section<'_>,
    scope: &Scope,
    sensitive: Sensitive,
) -> Result<Model, DocumentError> {
    let wanted = match section.section_if_table("l")? {
        None => Diversity {
            l: section.number("l")?.unwrap_or(0.0),
            kind: Kind::Distinct,
            c: None,
        },
        Some(table) => long_diversity(&table)?,
    };
    let l = wanted.l;
    let exact = Ratio::from_decimal(l)
        .filter(|value| *value >= Ratio::whole(1))
        .ok_or_else(|| outside(section, "l", l, "1 or more"))?;
    let most = |name: String, values: u64| {
        if values == 0 || exact <= Ratio::whole(values) {
            return Ok(());
        }
        let noun = if values == 1 { "value" } else { "values" };
        let message = format!(
            "`require.l` is {l}, but `{name}` has only {values} {noun}\nhint: the largest l that can be met is {values}"
        );
        Err(section.wrong("l", message))
    };
    // A product has at least as many values as each of its attributes.
    if sensitive.has_each() {
        let mut attributes = scope.sensitive.iter();
        attributes.try_for_each(|attribute| most(attribute.name.clone(), attribute.values))?;
    } else {
        let names: Vec<&str> = scope
            .sensitive
            .iter()
            .map(|attribute| attribute.name.as_str())
            .collect();
        let values = scope.sensitive.iter().map(|attribute| attribute.values);
        most(names.join(" × "), values.fold(1, u64::saturating_mul))?;
    }
    let whole = || {
        let is_whole = l.fract() == 0.0;
        is_whole
            .then_some(l as u64)
            .ok_or_else(|| outside(section, "l", l, "a whole number for this kind"))
    };
    Ok(match (wanted.kind, wanted.c) {
        (Kind::Distinct, _) => Model::DistinctDiversity { l: whole()? },
        (Kind::Entropy, _) => Model::EntropyDiversity { l: exact },
        (Kind::Frequency, _) => Model::FrequencyDiversity { l: exact },
        (Kind::Recursive, c) => Model::RecursiveDiversity {
            c: c.unwrap_or(Ratio::ZERO),
            l: whole()?,
        },
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Distinct,
    Entropy,
    Recursive,
    Frequency,
}

struct Diversity {
    l: f64,
    kind: Kind,
    /// Given for the recursive kind, and only for it.
    c: Option<Ratio>,
}

fn long_diversity(table: &Section<'_>) -> Result<Diversity, DocumentError> {
    let kinds = [
        ("distinct", Kind::Distinct),
        ("entropy", Kind::Entropy),
        ("recursive", Kind::Recursive),
        ("frequency", Kind::Frequency),
    ];
    let l = table
        .number("at_least")?
        .ok_or_else(|| table.missing("at_least"))?;
    let kind = table.word("kind", &kinds)?.unwrap_or(Kind::Distinct);
    let c = ratio_c(table, kind == Kind::Recursive)?;
    table.finish()?;
    Ok(Diversity { l, kind, c })
}

/// c, which the recursive kind has and no other kind has.
fn ratio_c(table: &Section<'_>, is_recursive: bool) -> Result<Option<Ratio>, DocumentError> {
    match (is_recursive, table.number("c")?) {
        (true, None) => Err(table.missing("c")),
        (true, Some(c)) => Ratio::from_decimal(c)
            .filter(|value| *value > Ratio::ZERO)
            .map(Some)
            .ok_or_else(|| outside(table, "c", c, "above 0")),
        (false, None) => Ok(None),
        (false, Some(_)) => {
            let message = format!("`{}` is for kind = \"recursive\" only", table.path("c"));
            Err(table.wrong("c", message))
        }
    }
}

fn closeness(
    section: &Section<'_>,
    scope: &Scope,
    sensitive: Sensitive,
) -> Result<Model, DocumentError> {
    let (t, distance) = match section.section_if_table("t")? {
        None => (section.number("t")?, None),
        Some(table) => {
            let words = [
                ("equal", Distance::Equal),
                ("ordered", Distance::Ordered),
                ("hierarchical", Distance::Hierarchical),
            ];
            let distance = table.word("distance", &words)?;
            let t = table
                .number("at_most")?
                .ok_or_else(|| table.missing("at_most"))?;
            table.finish()?;
            (Some(t), distance)
        }
    };
    let t = t.unwrap_or(-1.0);
    let exact = Ratio::from_decimal(t)
        .filter(|value| *value <= Ratio::whole(1))
        .ok_or_else(|| outside(section, "t", t, "from 0 to 1"))?;
    let has_product = sensitive.has_product() && scope.sensitive.len() > 1;
    for attribute in &scope.sensitive {
        let lacks = match distance {
            Some(Distance::Ordered) if has_product || !attribute.is_ordered => "no order",
            Some(Distance::Hierarchical) if has_product || !attribute.has_taxonomy => "no taxonomy",
            _ => continue,
        };
        let whose = match has_product {
            true => String::from("a product of sensitive attributes"),
            false => format!("`{}`", attribute.name),
        };
        let message = format!(
            "`require.t.distance` does not fit: {whose} has {lacks}\nhint: leave the distance out to have each attribute's own, or use \"equal\""
        );
        return Err(section.wrong("t", message));
    }
    Ok(Model::Closeness { t: exact, distance })
}

fn likeness(section: &Section<'_>) -> Result<Model, DocumentError> {
    let (beta, enhanced) = match section.section_if_table("beta")? {
        None => (section.number("beta")?, false),
        Some(table) => {
            let kind = table.word("kind", &[("basic", false), ("enhanced", true)])?;
            let beta = table
                .number("at_most")?
                .ok_or_else(|| table.missing("at_most"))?;
            table.finish()?;
            (Some(beta), kind.unwrap_or(false))
        }
    };
    let beta = beta.unwrap_or(-1.0);
    let exact = Ratio::from_decimal(beta)
        .filter(|value| *value > Ratio::ZERO)
        .ok_or_else(|| outside(section, "beta", beta, "above 0"))?;
    Ok(Model::Likeness {
        beta: exact,
        enhanced,
    })
}

/// The kinds of site diversity, by their names in studies.
#[derive(Clone, Copy, PartialEq)]
enum SiteKind {
    Counted(SiteSupport),
    Entropy,
    Recursive,
}

const SITE_KINDS: [(&str, SiteKind); 4] = [
    ("class", SiteKind::Counted(SiteSupport::Class)),
    ("taxonomy", SiteKind::Counted(SiteSupport::Taxonomy)),
    ("entropy", SiteKind::Entropy),
    ("recursive", SiteKind::Recursive),
];

fn site_diversity(section: &Section<'_>, scope: &Scope) -> Result<Model, DocumentError> {
    const KEY: &str = "site_diversity";
    let mut kind = SiteKind::Counted(SiteSupport::Class);
    let mut attributes = None;
    let mut c = None;
    let l = match section.section_if_table(KEY)? {
        None => section.number(KEY)?.unwrap_or(0.0),
        Some(table) => {
            let l = table
                .number("at_least")?
                .ok_or_else(|| table.missing("at_least"))?;
            kind = table.word("kind", &SITE_KINDS)?.unwrap_or(kind);
            c = ratio_c(&table, kind == SiteKind::Recursive)?;
            attributes = table.strings("attributes")?;
            if attributes.as_ref().is_some_and(Vec::is_empty) {
                let message = "`require.site_diversity.attributes` is empty\nhint: name the attributes that may betray a site, or leave it out for all";
                return Err(table.wrong("attributes", message));
            }
            let named: Vec<&String> = attributes.iter().flatten().collect();
            for (place, name) in named.iter().enumerate() {
                if named[..place].contains(name) {
                    let message = format!(
                        "`require.site_diversity.attributes` names `{name}` twice\nhint: name it once"
                    );
                    return Err(table.wrong("attributes", message));
                }
                if !scope.quasi.contains(name) {
                    let quasi = scope.quasi.iter().map(String::as_str);
                    let near = nearest(name, quasi.clone(), 3);
                    let hint = match near.is_empty() {
                        true => format!("the quasi-identifiers are {}", quoted_list(quasi)),
                        false => format!("did you mean {}?", quoted_list(near)),
                    };
                    let message = format!(
                        "`require.site_diversity.attributes` names `{name}`, which is no quasi-identifier and tells nothing about sites\nhint: {hint}"
                    );
                    return Err(table.wrong("attributes", message));
                }
            }
            table.finish()?;
            l
        }
    };
    let exact = Ratio::from_decimal(l)
        .filter(|value| *value >= Ratio::whole(1))
        .ok_or_else(|| outside(section, KEY, l, "1 or more"))?;
    if let Some(sites) = scope.sites
        && exact > Ratio::whole(sites)
    {
        let message = format!(
            "`require.site_diversity` is {l}, but there are only {sites} sites\nhint: the largest value that can be met is {sites}"
        );
        return Err(section.wrong(KEY, message));
    }
    let whole = || {
        let is_whole = l.fract() == 0.0;
        is_whole
            .then_some(l as u64)
            .ok_or_else(|| outside(section, KEY, l, "a whole number for this kind"))
    };
    Ok(match kind {
        SiteKind::Counted(support) => Model::SiteDiversity {
            l: whole()?,
            support,
            attributes,
        },
        SiteKind::Entropy => Model::SiteSpread {
            spread: Spread::Entropy { l: exact },
            attributes,
        },
        SiteKind::Recursive => Model::SiteSpread {
            spread: Spread::Recursive {
                c: c.unwrap_or(Ratio::ZERO),
                l: whole()?,
            },
            attributes,
        },
    })
}

fn colluders(section: &Section<'_>, m: i64, scope: &Scope) -> Result<u64, DocumentError> {
    let found = u64::try_from(m)
        .map_err(|_| section.wrong("m", format!("`require.m` is {m}, expected 0 or more")))?;
    match scope.sites {
        Some(sites) if found >= sites => {
            let message = format!(
                "`require.m` is {m}, but there are only {sites} sites: all of them colluding have nobody to hide from\nhint: the largest m is {}",
                sites - 1
            );
            Err(section.wrong("m", message))
        }
        _ => Ok(found),
    }
}

fn at_least_one(
    section: &Section<'_>,
    key: &'static str,
    number: i64,
) -> Result<u64, DocumentError> {
    u64::try_from(number)
        .ok()
        .filter(|number| *number >= 1)
        .ok_or_else(|| {
            let message = format!("`{}` is {number}, expected 1 or more", section.path(key));
            section.wrong(key, message)
        })
}

fn outside(section: &Section<'_>, key: &'static str, found: f64, expected: &str) -> DocumentError {
    let message = format!("`{}` is {found}, expected {expected}", section.path(key));
    section.wrong(key, message)
}
