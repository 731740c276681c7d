//! The fenced blocks of a page, and what is done with each. A block says so behind its language:
//!
//! | block | what is done |
//! |---|---|
//! | `sh` | typed in the page's own folder, after the blocks before it; must end with exit code 0 |
//! | `sh exits 1` | the same, with another exit code |
//! | `sh every`, `sh north`, `sh south east` | typed by the walk, in the folders of these sites |
//! | `sh lines of PAGE` | every line stands in a block of that page which is typed |
//! | `sh shown by CRATE::TEST` | not typed; that test exists and shows the same |
//! | `sh not run: WHY` | not typed, for a reason that is given |
//! | `text printed` | every line was printed by the last block that was typed |
//! | `python run by FILE` | that test of the Python package reads this page and runs its blocks |
//! | `rust of FILE` | stands word for word in that file of the repository, which tests run |
//! | `toml study` | a study that `hedgerow study check` finds sound |
//! | `toml study FOLDER` | the same, laid over `study.toml` of that folder of the repository |
//! | `toml site` | a site's file that is read without complaint |
//! | `toml site part` | the same, laid over a whole one |

use super::Page;

/// The sites of the walk.
pub(crate) const SITES: [&str; 3] = ["north", "south", "east"];

/// A block of code.
pub(crate) struct Block {
    /// Page and line, for messages.
    pub(crate) place: String,
    pub(crate) kind: Kind,
    pub(crate) body: String,
}

/// What is done with a block.
pub(crate) enum Kind {
    Typed { code: i32 },
    Walk { sites: Vec<&'static str> },
    LinesOf { page: String },
    ShownBy { test: String },
    NotRun,
    Excerpt { file: String },
    RunBy { file: String },
    Printed,
    Study { over: Option<String> },
    Site { is_part: bool },
}

impl Kind {
    fn of(head: &str) -> Option<Self> {
        let (language, rest) = head.split_once(' ').unwrap_or((head, ""));
        Some(match (language, rest) {
            ("sh", "") => Self::Typed { code: 0 },
            ("sh", "every") => Self::Walk {
                sites: SITES.to_vec(),
            },
            ("sh", rest) => {
                if let Some(code) = rest.strip_prefix("exits ") {
                    Self::Typed {
                        code: code.parse().ok()?,
                    }
                } else if let Some(page) = rest.strip_prefix("lines of ") {
                    Self::LinesOf {
                        page: format!("docs/src/{page}"),
                    }
                } else if let Some(test) = rest.strip_prefix("shown by ") {
                    Self::ShownBy {
                        test: test.to_owned(),
                    }
                } else if let Some(why) = rest.strip_prefix("not run: ") {
                    (why.split(' ').count() > 2).then_some(Self::NotRun)?
                } else {
                    let site = |word| SITES.into_iter().find(|site| *site == word);
                    Self::Walk {
                        sites: rest.split(' ').map(site).collect::<Option<_>>()?,
                    }
                }
            }
            // What analysts type in other languages; scripts/clients runs the same.
            ("python", rest) if rest.starts_with("run by ") => Self::RunBy {
                file: rest.strip_prefix("run by ")?.to_owned(),
            },
            ("python" | "r", rest) => {
                let why = rest.strip_prefix("not run: ")?;
                (why.split(' ').count() > 2).then_some(Self::NotRun)?
            }
            ("rust", rest) => Self::Excerpt {
                file: rest.strip_prefix("of ")?.to_owned(),
            },
            ("text", "printed") => Self::Printed,
            ("toml", "study") => Self::Study { over: None },
            ("toml", "site") => Self::Site { is_part: false },
            ("toml", "site part") => Self::Site { is_part: true },
            ("toml", rest) => Self::Study {
                over: Some(rest.strip_prefix("study ")?.to_owned()),
            },
            _ => return None,
        })
    }
}

/// The blocks of a page, from top to bottom.
pub(crate) fn blocks(page: &Page) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(head) = line.strip_prefix("```") else {
            assert!(!line.trim_start().starts_with("```"), "{line}: is indented");
            continue;
        };
        let place = format!("{}:{}", page.name(), at + 1);
        let kind = Kind::of(head).unwrap_or_else(|| {
            panic!(
                "{place}: what is to be done with a block `{head}`? documents/blocks.rs has a list"
            )
        });
        let body: Vec<&str> = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| *line != "```")
            .collect();
        let is_whole = body.iter().all(|line| !line.starts_with("```"));
        assert!(is_whole, "{place}: the block does not end where it should");
        blocks.push(Block {
            place,
            kind,
            body: body.join("\n"),
        });
    }
    blocks
}
