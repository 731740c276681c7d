//! Why a site does not answer a question, as one of a few fixed words: no text of a peer is ever shown.

/// Why a site does not answer a question.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The study does not allow such answers (`[query] answers`).
    Study,
    /// The site does not let the asking site ask (`accept.query.from`).
    From,
    /// The site does not give such answers (`accept.query.answers`).
    Answers,
    /// The site does not answer about these columns, by their positions (`accept.query.columns`).
    Columns(Vec<u16>),
    /// The site has no table of the run.
    Run,
    /// The site's table has other classes or another number of records.
    Table,
    /// What was asked is no question about the table, or is too long.
    Question,
    /// The site has as many questions under way as it takes, or the asker asks too many.
    Busy,
    /// The number of the question does not come after the asker's last.
    Repeated,
    /// The question is not signed by the asker.
    Signature,
    /// The question was asked under keys that the site does not have.
    Keys,
    /// A fault at the site itself.
    Own,
}

/// The most columns that a refusal names.
const MOST_COLUMNS: usize = 1 << 12;

impl Refusal {
    /// The refusals without a list, by their numbers on the line.
    const PLAIN: [Self; 11] = [
        Self::Study,
        Self::From,
        Self::Answers,
        Self::Run,
        Self::Table,
        Self::Question,
        Self::Busy,
        Self::Repeated,
        Self::Signature,
        Self::Keys,
        Self::Own,
    ];
    const COLUMNS: u8 = Self::PLAIN.len() as u8;

    pub(super) fn encode(&self) -> Vec<u8> {
        if let Self::Columns(columns) = self {
            let columns = columns.iter().take(MOST_COLUMNS);
            let mut bytes = vec![Self::COLUMNS];
            bytes.extend(columns.flat_map(|column| column.to_le_bytes()));
            return bytes;
        }
        let place = Self::PLAIN.iter().position(|plain| plain == self);
        // Every refusal but that of columns is in the list.
        vec![place.unwrap_or(Self::PLAIN.len() - 1) as u8]
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        if *kind == Self::COLUMNS {
            let (columns, odd) = rest.as_chunks::<2>();
            let fits = odd.is_empty() && columns.len() <= MOST_COLUMNS;
            let columns = columns.iter().map(|column| u16::from_le_bytes(*column));
            return fits.then(|| Self::Columns(columns.collect()));
        }
        let plain = Self::PLAIN.get(usize::from(*kind)).cloned();
        plain.filter(|_| rest.is_empty())
    }

    /// The refusal in words: whose it is, who asked, and the names of columns by their positions.
    pub fn in_words(&self, site: &str, asker: &str, columns: &[String]) -> String {
        match self {
            Self::Study => String::from(
                "the study does not allow such answers\nhint: [query] answers of the study says which it allows",
            ),
            Self::From => format!(
                "`{site}` does not let `{asker}` ask\nhint: accept.query.from in the site's file lists who may"
            ),
            Self::Answers => format!(
                "`{site}` does not give such answers\nhint: accept.query.answers in the site's file lists which it gives"
            ),
            Self::Columns(refused) => {
                let name = |column: &u16| columns.get(usize::from(*column)).map(String::as_str);
                let names: Vec<&str> = refused.iter().filter_map(name).collect();
                format!(
                    "`{site}` does not answer about {}\nhint: accept.query.columns in the site's file lists what it answers about",
                    hedgerow_data::quoted_list(&names)
                )
            }
            Self::Run => format!(
                "`{site}` has no table of this run\nhint: hedgerow status --site … shows the runs of a site"
            ),
            Self::Table => format!("`{site}` has another table of this run than `{asker}`"),
            Self::Question => format!("`{site}` does not understand the question"),
            Self::Busy => format!(
                "`{site}` has as many questions under way as it takes\nhint: ask again in a moment"
            ),
            Self::Repeated => format!("`{site}` has heard this question, or a later one, before"),
            Self::Signature => {
                format!("`{site}` does not find the signature of `{asker}` in order")
            }
            Self::Keys => format!(
                "`{site}` does not have the keys that the question was asked under\nhint: ask again in a moment"
            ),
            Self::Own => format!(
                "`{site}` cannot answer, for a reason of its own\nhint: its steward finds the reason in its log of questions"
            ),
        }
    }

    /// The rule that refuses, in a word for the log of questions.
    pub(super) fn rule(&self) -> &'static str {
        match self {
            Self::Study => "query.answers of the study",
            Self::From => "accept.query.from",
            Self::Answers => "accept.query.answers",
            Self::Columns(_) => "accept.query.columns",
            Self::Run => "no table of the run",
            Self::Table => "another table",
            Self::Question => "no question about the table",
            Self::Busy => "too many questions",
            Self::Repeated => "a repeated number",
            Self::Signature => "a wrong signature",
            Self::Keys => "other keys",
            Self::Own => "a fault at this site",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_read_as_they_are_written() {
        let columns = [Vec::new(), vec![0], vec![3, u16::MAX]].map(Refusal::Columns);
        for refusal in Refusal::PLAIN.iter().chain(&columns) {
            assert_eq!(Refusal::decode(&refusal.encode()).as_ref(), Some(refusal));
        }
        for wrong in [&[][..], &[12], &[99], &[0, 0], &[11, 1]] {
            assert_eq!(Refusal::decode(wrong), None);
        }
    }
}
