//! Why a question was not answered, in words for whoever asked.

/// Why a question was not answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// A file of the questions cannot be used.
    #[error("{file}: cannot be used: {reason}")]
    Unusable {
        /// The file.
        file: String,
        /// What the operating system said.
        reason: String,
    },
    /// Sites are not connected.
    #[error("{}\nhint: a question needs every site; have their stewards start hedgerow node", away.join("\n"))]
    Away {
        /// Each site, with since when and why.
        away: Vec<String>,
    },
    /// All sites are connected, but have not agreed on keys.
    #[error(
        "the sites have not agreed on keys for questions yet: {why}\nhint: ask again in a moment"
    )]
    NoKeys {
        /// Why.
        why: String,
    },
    /// Sites do not answer.
    #[error("{}", words.join("\n"))]
    Refused {
        /// Every site that refuses, or this site itself.
        sites: Vec<String>,
        /// Why, for each, in words that name the site.
        words: Vec<String>,
    },
    /// A peer was lost on the way.
    #[error("`{peer}` was lost while it was asked: {why}")]
    Lost {
        /// The peer.
        peer: String,
        /// Why the line ended.
        why: String,
    },
    /// A peer did not do its part.
    #[error("`{peer}` did not do its part in the question: {why}")]
    Peer {
        /// The peer.
        peer: String,
        /// What it did.
        why: String,
    },
    /// The question took too long.
    #[error(
        "the question was not answered within {seconds} s\nhint: ask about fewer columns, or for totals in place of rows"
    )]
    Late {
        /// How long it may take.
        seconds: u64,
    },
    /// A question that is longer than any.
    #[error(
        "the question has {length} bytes, expected at most {most}\nhint: ask for its parts one after the other"
    )]
    TooLong {
        /// Its length.
        length: usize,
        /// The longest that is asked.
        most: usize,
    },
    /// This site's own fault.
    #[error("{0}")]
    Own(String),
}

impl QuestionError {
    /// Whether another site, or the line to it, is the reason.
    pub const fn is_of_peer(&self) -> bool {
        matches!(
            self,
            Self::Away { .. } | Self::NoKeys { .. } | Self::Lost { .. } | Self::Peer { .. }
        )
    }
}
