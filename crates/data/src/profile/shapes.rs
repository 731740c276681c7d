//! Texts that are told by their shape: codes, yes and no, ways to reach somebody.

use super::Value;

/// A way to reach somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contact {
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
    /// An account number of the form that banks share.
    Iban,
    /// A number that machines draw so that it is the only one in the world.
    Uuid,
}

/// A longer text is no code.
const LONGEST_CODE: usize = 12;

/// Pairs of words for yes and no, in lower case.
const BOOLEANS: [[&str; 2]; 9] = [
    ["true", "false"],
    ["yes", "no"],
    ["y", "n"],
    ["t", "f"],
    ["ja", "nein"],
    ["j", "n"],
    ["wahr", "falsch"],
    ["oui", "non"],
    ["sí", "no"],
];

impl Contact {
    /// What nine values of ten are.
    pub(super) fn of(values: &[Value]) -> Option<Self> {
        let all = [
            (Self::Email, is_email as fn(&str) -> bool),
            (Self::Uuid, is_uuid),
            (Self::Iban, is_iban),
            (Self::Phone, is_phone),
        ];
        let most = |is: fn(&str) -> bool| {
            let fitting = values.iter().filter(|value| is(&value.text)).count();
            fitting * 10 >= values.len() * 9
        };
        all.into_iter()
            .find(|(_, is)| most(*is))
            .map(|(contact, _)| contact)
    }

    /// The contact in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Email => "e-mail addresses",
            Self::Phone => "telephone numbers",
            Self::Iban => "account numbers",
            Self::Uuid => "numbers that identify",
        }
    }
}

fn is_email(text: &str) -> bool {
    let is_word = |part: &str| !part.is_empty() && !part.contains([' ', '@', ',', ';']);
    text.split_once('@')
        .is_some_and(|(who, host)| is_word(who) && is_word(host) && host.contains('.'))
}

fn is_phone(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_marked = text.starts_with(['+', '(', '0']);
    let is_plain = |byte: u8| byte.is_ascii_digit() || b" +-/().".contains(&byte);
    let is_parted = text.contains([' ', '/', '(']) || text.starts_with('+');
    is_marked && is_parted && (7..=16).contains(&digits) && text.bytes().all(is_plain)
}

fn is_iban(text: &str) -> bool {
    let text: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
    let is_code = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    matches!(text.as_slice(), [a, b, c, d, rest @ ..]
        if a.is_ascii_uppercase() && b.is_ascii_uppercase() && c.is_ascii_digit() && d.is_ascii_digit()
            && (11..=30).contains(&rest.len()) && rest.iter().all(is_code))
}

fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [8, 4, 4, 4, 12]
        && text
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// Whether the values are two words for yes and no, or one of them.
pub(super) fn are_booleans<'a>(texts: impl Iterator<Item = &'a str>) -> bool {
    let texts: Vec<String> = texts.take(3).map(str::to_lowercase).collect();
    texts.len() <= 2
        && BOOLEANS
            .iter()
            .any(|pair| texts.iter().all(|text| pair.contains(&text.as_str())))
}

/// Whether all texts are digits and nothing else.
pub(super) fn are_digits<'a>(mut texts: impl Iterator<Item = &'a str>) -> bool {
    texts.all(|text| {
        (1..=LONGEST_CODE).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Whether all texts are short and of letters and digits, with a digit in each.
pub(super) fn are_codes<'a>(mut texts: impl Iterator<Item = &'a str>) -> bool {
    texts.all(|text| {
        let bytes = text.as_bytes();
        let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || b" .-/".contains(byte);
        (2..=LONGEST_CODE).contains(&bytes.len())
            && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.iter().all(is_inside)
            && bytes.iter().any(u8::is_ascii_digit)
            // More than two parts are words, as in `1K to 2K`.
            && bytes.iter().filter(|byte| **byte == b' ').count() < 2
    })
}

/// Whether nine values of ten, of ten or more, are codes of the ICD-10: `A15`, `J45.9`.
pub fn are_icd_codes(values: &[Value]) -> bool {
    let is_icd = |text: &str| match text.as_bytes() {
        [a, b, c, rest @ ..] => {
            let is_start =
                a.is_ascii_uppercase() && b.is_ascii_digit() && c.is_ascii_alphanumeric();
            let rest = rest.strip_prefix(b".").unwrap_or(rest);
            is_start && rest.len() <= 4 && rest.iter().all(u8::is_ascii_alphanumeric)
        }
        _ => false,
    };
    let fitting = values.iter().filter(|value| is_icd(&value.text)).count();
    let letters: std::collections::BTreeSet<Option<char>> = values
        .iter()
        .map(|value| value.text.chars().next())
        .collect();
    // Codes of one letter might as well be of something else, such as wards.
    values.len() >= 10 && fitting * 10 >= values.len() * 9 && letters.len() >= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_by_their_shape() {
        for text in ["+49 30 1234567", "030/1234567", "(0)30 12 34 567"] {
            assert!(is_phone(text), "{text}");
        }
        for text in [
            "1234567",
            "0301234567",
            "2024-01-31",
            "+49",
            "+49 thirty 1234567",
        ] {
            assert!(!is_phone(text), "{text}");
        }
        assert!(is_iban("DE89 3704 0044 0532 0130 00") && !is_iban("DE89"));
        assert!(is_uuid("123e4567-e89b-12d3-a456-426614174000") && !is_uuid("1-2-3"));
        assert!(is_email("a.b@c.example") && !is_email("a@b") && !is_email("@c.example"));
    }

    #[test]
    fn codes_of_the_icd() {
        let values = |texts: &[String]| -> Vec<Value> {
            let value = |text: &String| Value {
                text: text.clone(),
                records: 1,
            };
            texts.iter().map(value).collect()
        };
        let codes: Vec<String> = (10..22)
            .map(|number| format!("{}{number}.1", ["A", "J", "K"][number % 3]))
            .collect();
        assert!(are_icd_codes(&values(&codes)));
        let wards: Vec<String> = (10..22).map(|number| format!("W{number}")).collect();
        assert!(!are_icd_codes(&values(&wards)));
        assert!(!are_icd_codes(&values(&codes[..3])));
    }
}
