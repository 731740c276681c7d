//! What a study says of audits: for how long sites keep the evidence of their part, and who may look at
//! it.

use crate::document::{DocumentError, Section};

/// What a study demands for audits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// For how many days sites keep their journals after a run.
    pub days: u32,
    /// The public key of the auditor whose word counts, `ed25519:…`.
    pub auditor: Option<String>,
}

/// The longest time that a journal is kept: ten years.
const MOST_DAYS: u32 = 3_660;

/// Reads `audit` and `auditor` of `[study]`.
pub(super) fn read(head: &Section<'_>) -> Result<Option<Audit>, DocumentError> {
    let auditor = head.string("auditor")?;
    let Some(text) = head.string("audit")? else {
        return match auditor {
            Some(_) => Err(head.wrong(
                "auditor",
                "`study.auditor` needs `study.audit`: without it sites keep nothing to look at\nhint: write audit = \"90 days\"",
            )),
            None => Ok(None),
        };
    };
    let days = text
        .strip_suffix(" days")
        .or_else(|| text.strip_suffix(" day"))
        .and_then(|number| number.trim().parse().ok())
        .filter(|days| (1..=MOST_DAYS).contains(days));
    let days = days.ok_or_else(|| {
        head.wrong(
            "audit",
            format!("`study.audit` is \"{text}\", expected a number of days up to {MOST_DAYS}, such as \"90 days\""),
        )
    })?;
    Ok(Some(Audit { days, auditor }))
}
