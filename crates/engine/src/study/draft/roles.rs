//! Which role a column seems to have, and why: from its name, then from its values. What is not clearly
//! something else is a quasi-identifier, because that is the role in which nothing is published as it is.

use hedgerow_data::Role;
use hedgerow_data::profile::{Kind, Profile, are_icd_codes};
use hedgerow_privacy::{Suspect, name_words};

/// A role, and the words for it.
pub(super) struct Guess {
    pub(super) role: Role,
    pub(super) reason: String,
    /// Why the guess may well be wrong.
    pub(super) doubt: Option<String>,
    /// Whether an identifier is only told by how many values it has, so that it may be a quasi-identifier
    /// where no other column is.
    pub(super) is_of_values: bool,
}

impl Guess {
    /// A quasi-identifier for want of another.
    pub(super) fn spare() -> Self {
        Self {
            role: Role::Quasi,
            reason: String::from(
                "a study needs a quasi-identifier, and no column looks more like one",
            ),
            doubt: Some(String::from(
                "nearly every record has a value of its own, as an identifier has",
            )),
            is_of_values: false,
        }
    }

    /// A column with a value that no list of values can have.
    pub(super) fn unsayable() -> Self {
        Self {
            role: Role::Identifier,
            // The value itself is told to nobody.
            reason: String::from("has a value that means something else in a release, such as `*`"),
            doubt: Some(String::from(
                "with another word for it the column may have another role",
            )),
            is_of_values: false,
        }
    }
}

/// Words of what nobody may learn about a person, wherever they stand in a column's name.
const SENSITIVE: [(&str, &[&str]); 5] = [
    (
        "health",
        &[
            "allergie",
            "allergy",
            "befund",
            "complication",
            "condition",
            "diagnose",
            "diagnoses",
            "diagnosis",
            "disability",
            "disease",
            "disorder",
            "drug",
            "drugs",
            "hiv",
            "icd",
            "icd10",
            "illness",
            "injury",
            "krankheit",
            "medication",
            "medikament",
            "operation",
            "pregnancy",
            "pregnant",
            "procedure",
            "stage",
            "symptom",
            "symptoms",
            "therapie",
            "therapy",
            "treatment",
            "behandlung",
            "tumor",
            "smoker",
            "smoking",
        ],
    ),
    (
        "money",
        &[
            "cost",
            "costs",
            "debt",
            "einkommen",
            "gehalt",
            "income",
            "kosten",
            "loan",
            "salary",
            "schulden",
            "wage",
            "wages",
            "wealth",
        ],
    ),
    (
        "belief",
        &[
            "belief",
            "faith",
            "konfession",
            "party",
            "political",
            "religion",
            "union",
            "vote",
        ],
    ),
    (
        "crime",
        &[
            "conviction",
            "crime",
            "offence",
            "offense",
            "sentence",
            "straftat",
        ],
    ),
    ("sexuality", &["orientation", "sexuality"]),
];

/// Words of where somebody lives: never an identifier, however many values there are.
const PLACES: [&str; 11] = [
    "city",
    "code",
    "county",
    "municipality",
    "ort",
    "plz",
    "postal",
    "postcode",
    "postleitzahl",
    "zip",
    "zipcode",
];

/// Words of what neighbours and colleagues know of a person.
const KNOWN: [&str; 32] = [
    "admission",
    "age",
    "alter",
    "beruf",
    "birth",
    "birthdate",
    "birthday",
    "born",
    "children",
    "citizenship",
    "country",
    "discharge",
    "dob",
    "education",
    "employer",
    "ethnicity",
    "geburtsdatum",
    "gender",
    "geschlecht",
    "height",
    "job",
    "language",
    "marital",
    "nationality",
    "occupation",
    "profession",
    "race",
    "relationship",
    "school",
    "sex",
    "workclass",
    "year",
];

/// Words that stand in days with a time.
const CLOCK: [&str; 5] = ["am", "pm", "t", "uhr", "z"];

/// In fewer records than this every text may well stand alone.
const FEW_TEXTS: u64 = 5;

/// And every number.
const FEW_NUMBERS: u64 = 20;

/// More different texts than these nobody puts in order.
const MOST_TEXTS: usize = 50_000;

/// A text this long is a sentence.
const SENTENCE: usize = 80;

/// Guesses the role of a column.
pub(super) fn guess(name: &str, profile: &Profile) -> Guess {
    let sure = |role, reason: String| Guess {
        role,
        reason,
        doubt: None,
        is_of_values: false,
    };
    let doubtful = |role, reason: String, doubt: &str| Guess {
        role,
        reason,
        doubt: Some(doubt.to_owned()),
        is_of_values: false,
    };
    let of_values = |guess: Guess| Guess {
        is_of_values: true,
        ..guess
    };
    if profile.kind == Kind::Empty {
        return sure(
            Role::Identifier,
            "has no values, so no release has the column".into(),
        );
    }
    if let Kind::Contacts(contact) = profile.kind {
        return sure(Role::Identifier, format!("holds {}", contact.name()));
    }
    let is_unique = is_unique(profile);
    let words = name_words(name);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let is_one = profile.values.len() == 1;
    let sensitive = SENSITIVE
        .iter()
        .find(|(_, words)| has(words))
        .map(|(of, _)| of);
    let is_sentence = is_text(profile) && {
        let long = |text: &&str| text.chars().count() > SENTENCE;
        let few = profile.texts().take(1000);
        few.filter(long).count() * 4 > profile.values.len().min(1000)
    };
    if is_sentence {
        return doubtful(
            Role::Identifier,
            "holds sentences, which may say anything about anybody".into(),
            "where they are a list of answers, the column has another role",
        );
    }
    if Suspect::by_name(name).is_some() && sensitive.is_none() {
        let reason = String::from("is called like what names people");
        let is_shared = profile.alone() < profile.present();
        return match is_unique || is_one || !is_shared {
            true => sure(Role::Identifier, reason),
            false => doubtful(
                Role::Identifier,
                reason,
                "several records share values, so it may be something else",
            ),
        };
    }
    if is_one && profile.missing.is_empty() {
        return sure(
            Role::Quasi,
            "has one value in all records, which tells nobody apart".into(),
        );
    }
    if is_text(profile) && is_unique && !has(&PLACES) {
        let reason = String::from("nearly every record has a text of its own");
        return match sensitive {
            None if are_counted(profile) => of_values(doubtful(
                Role::Identifier,
                reason,
                "its texts may be days or numbers in a form that is not known; in another form they are written in ranges",
            )),
            None => of_values(sure(Role::Identifier, reason)),
            Some(_) => doubtful(
                Role::Identifier,
                reason,
                "it is called like something sensitive, which needs values that records share",
            ),
        };
    }
    if let Some(of) = sensitive {
        let reason = format!("is called like what nobody may learn of a person ({of})");
        return match is_unique {
            false => sure(Role::Sensitive, reason),
            true => doubtful(
                Role::Sensitive,
                reason,
                "it is published as it is, and nearly every record has a value of its own: make it coarser",
            ),
        };
    }
    if are_icd_codes(&profile.values) {
        return doubtful(
            Role::Sensitive,
            "its values look like diagnoses of the ICD-10".into(),
            "they may be codes of something else",
        );
    }
    if is_unique && are_whole(profile) && profile.present() >= FEW_NUMBERS {
        return of_values(doubtful(
            Role::Identifier,
            "nearly every record has a number of its own".into(),
            "a measurement may be as fine; as a quasi-identifier it is written in ranges",
        ));
    }
    if is_text(profile) && profile.values.len() > MOST_TEXTS {
        return of_values(doubtful(
            Role::Identifier,
            "has more different texts than anybody can put in order".into(),
            "with values put together it may be a quasi-identifier",
        ));
    }
    sure(
        Role::Quasi,
        match has(&KNOWN) || has(&PLACES) {
            true => "is called like what others know of a person".into(),
            false => {
                "nothing says that it is something else, and in this role it is not published as it is"
                    .into()
            }
        },
    )
}

/// Whether values are words or codes, which lie side by side, rather than numbers or days.
fn is_text(profile: &Profile) -> bool {
    matches!(profile.kind, Kind::Codes | Kind::Texts | Kind::Booleans)
}

/// Whether the values are whole numbers, with or without marks between thousands.
fn are_whole(profile: &Profile) -> bool {
    let is_whole = |text: &str| match profile.kind {
        Kind::Integers { .. } => true,
        Kind::Numbers { format, .. } => {
            format.read(text).is_some_and(|number| number.digits() == 0)
        }
        _ => false,
    };
    let mut values = profile.values.iter();
    values.all(|value| is_whole(&value.text))
}

/// Whether most texts are made of digits and the marks between them, as days and numbers are.
fn are_counted(profile: &Profile) -> bool {
    let is_word = |word: &str| CLOCK.contains(&word.to_lowercase().as_str());
    let is_counted = |text: &str| {
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let mut words = text.split(|letter: char| !letter.is_alphabetic());
        digits >= 4 && words.all(|word| word.is_empty() || is_word(word))
    };
    let values = profile.values.iter();
    values.filter(|value| is_counted(&value.text)).count() * 2 > profile.values.len()
}

/// Whether nine records of ten have a value of their own.
fn is_unique(profile: &Profile) -> bool {
    let present = profile.present();
    present >= FEW_TEXTS && profile.alone() * 10 >= present * 9
}

#[cfg(test)]
mod tests {
    use hedgerow_data::profile::Value;

    use super::*;

    fn of(name: &str, values: &[(&str, u64)]) -> (Role, bool) {
        let value = |(text, records): &(&str, u64)| Value {
            text: (*text).to_owned(),
            records: *records,
        };
        let found = guess(
            name,
            &Profile::of_values(values.iter().map(value).collect()),
        );
        assert!(!found.reason.is_empty());
        (found.role, found.doubt.is_some())
    }

    fn numbered(count: u32, text: impl Fn(u32) -> String) -> Vec<(&'static str, u64)> {
        (0..count)
            .map(|number| (&*text(number).leak(), 1))
            .collect()
    }

    #[test]
    fn roles_from_names_and_values() {
        let few = [("a", 50), ("b", 50)];
        assert_eq!(of("ward", &few), (Role::Quasi, false));
        assert_eq!(of("diagnosis", &few), (Role::Sensitive, false));
        assert_eq!(of("Jahreseinkommen", &few), (Role::Quasi, false));
        assert_eq!(of("yearly_income", &few), (Role::Sensitive, false));
        assert_eq!(of("patient_id", &few), (Role::Identifier, true));
        assert_eq!(of("drug name", &few), (Role::Sensitive, false));
        assert_eq!(of("city", &[("Berlin", 3)]), (Role::Quasi, false));
        assert_eq!(of("x", &[("", 9)]), (Role::Identifier, false));
        assert_eq!(
            of("x", &[("a@b.example", 9), ("c@d.example", 1)]),
            (Role::Identifier, false)
        );
        let names = numbered(20, |number| format!("name {number}"));
        assert_eq!(of("who", &names), (Role::Identifier, false));
        assert_eq!(of("city", &names), (Role::Quasi, false));
        assert_eq!(of("diagnosis", &names), (Role::Identifier, true));
        assert_eq!(
            of("number", &numbered(20, |number| number.to_string())),
            (Role::Identifier, true)
        );
        assert_eq!(
            of("age", &numbered(19, |number| number.to_string())),
            (Role::Quasi, false)
        );
        assert_eq!(
            of("weight", &numbered(30, |number| format!("{number}.5"))),
            (Role::Quasi, false)
        );
        assert_eq!(
            of("cost", &numbered(30, |number| number.to_string())),
            (Role::Sensitive, true)
        );
        let codes = numbered(12, |number| {
            format!("{}{}.1", ["A", "J", "K"][number as usize % 3], 10 + number)
        });
        let codes: Vec<(&str, u64)> = codes.into_iter().map(|(code, _)| (code, 4)).collect();
        assert_eq!(of("main", &codes), (Role::Sensitive, true));
        let long = "this is a sentence ".repeat(6);
        assert_eq!(
            of("note", &[(&long, 4), ("short", 4)]),
            (Role::Identifier, true)
        );
    }
}
