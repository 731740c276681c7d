//! Suggestions: which of the valid words is nearest to the one a person typed.

/// The up to `most` candidates nearest to `word`, nearest first, without candidates that have nothing to
/// do with it.
pub fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Vec<String> {
    let folded = shorten(word).to_lowercase();
    let mut scored: Vec<(f64, &str)> = candidates
        .into_iter()
        .map(|candidate| {
            (
                strsim::jaro_winkler(&folded, &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(score, _)| *score >= 0.7)
        .collect();
    // Ties are broken by the word itself, so that a message never depends on iteration order.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored
        .into_iter()
        .take(most)
        .map(|(_, candidate)| candidate.to_owned())
        .collect()
}

/// Words as a person reads them in a sentence: `` `a`, `b`, `c` ``.
pub fn quoted_list<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    let quoted: Vec<String> = words
        .into_iter()
        .map(|word| format!("`{}`", word.as_ref()))
        .collect();
    quoted.join(", ")
}

/// A value short enough for a message, on one line.
pub(crate) fn shorten(value: &str) -> String {
    const MOST: usize = 60;
    let value = value.replace('\n', "\\n").replace('\r', "\\r");
    if value.chars().count() <= MOST {
        return value;
    }
    let mut short: String = value.chars().take(MOST).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_misspelled_word_and_ignores_strangers() {
        let keys = ["range", "role", "taxonomy", "values"];
        assert_eq!(nearest("taxonmy", keys, 1), ["taxonomy"]);
        assert!(nearest("zzz", keys, 3).is_empty());
    }

    #[test]
    fn case_does_not_matter() {
        assert_eq!(nearest("MALE", ["Male", "Female"], 1), ["Male"]);
    }
}
