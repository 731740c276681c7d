//! What a site's rules do not list is refused before anything of the call is sent.

use hedgerow_smc::memory::{Outcome, Simulation};
use hedgerow_smc::order::{CANDIDATES, RUNNING};
use hedgerow_smc::union::ON_THE_WAY;
use hedgerow_smc::{Allowed, Error, Items, Party, Rank, Settings, Site, Tree, What, align};

use crate::harness::TEST;

const RULE: &str = "the rule";

/// Every question that a party can ask.
#[derive(Debug, Clone, Copy)]
enum Question {
    Sum,
    SumTo,
    All,
    Any,
    AtLeast,
    AnyAtLeast,
    Greatest,
    Tell,
    TellEach,
    Lca,
    Minimum,
    Maximum,
    Ranges,
    Kth,
    Union,
    Align,
    Overlaps,
    Rows,
    Note,
    NoteOwn,
}

const QUESTIONS: [Question; 20] = [
    Question::Sum,
    Question::SumTo,
    Question::All,
    Question::Any,
    Question::AtLeast,
    Question::AnyAtLeast,
    Question::Greatest,
    Question::Tell,
    Question::TellEach,
    Question::Lca,
    Question::Minimum,
    Question::Maximum,
    Question::Ranges,
    Question::Kth,
    Question::Union,
    Question::Align,
    Question::Overlaps,
    Question::Rows,
    Question::Note,
    Question::NoteOwn,
];

impl Question {
    async fn ask(self, party: &mut Party) -> Result<(), Error> {
        let domain = |_: usize| 0..=9;
        match self {
            Self::Sum => party.sum(TEST, &mut [1, 2]).await,
            Self::SumTo => party.sum_to(TEST, Site::new(1), &mut [1, 2]).await,
            Self::All => party.all(TEST, &mut [true]).await,
            Self::Any => party.any(TEST, &mut [true]).await,
            Self::AtLeast => party.at_least(TEST, 9, &[1], &[2], &mut [false]).await,
            Self::AnyAtLeast => {
                party
                    .any_at_least(TEST, 9, &[1, 1], &[2, 3], &[2], &mut [false])
                    .await
            }
            Self::Greatest => {
                let contend: Vec<Site> = Site::all(party.sites()).collect();
                party.greatest(TEST, 9, &contend, &[1], &mut [0]).await
            }
            Self::Tell => party.tell(TEST, Site::new(1), &mut [1, 2]).await,
            Self::TellEach => {
                let bits = vec![vec![3]; party.sites()];
                party.tell_each(TEST, &bits, &[5]).await.map(|_| ())
            }
            Self::Lca => {
                let trees = [Tree::new(vec![0, 0, 0]).unwrap()];
                party.lca(TEST, &trees, |_| 0, &mut [Some(1)]).await
            }
            Self::Minimum => party.minimum(TEST, domain, &mut [Some(3)]).await,
            Self::Maximum => party.maximum(TEST, domain, &mut [Some(3)]).await,
            Self::Ranges => party.ranges(TEST, domain, &mut [Some((3, 4))]).await,
            Self::Kth => {
                let questions = [Rank {
                    rank: 2,
                    domain: 0..=9,
                }];
                party.kth(TEST, 9, &questions, |_, _| 1, &mut [None]).await
            }
            Self::Union => {
                let shape = Items {
                    width: 1,
                    capacity: 1,
                    domain: 256.0,
                    decoy: &|_| vec![9],
                };
                party.union(TEST, &shape, &mut vec![vec![1]]).await
            }
            Self::Align => party.align(TEST, 2, &[b"one"], &mut Vec::new()).await,
            Self::Overlaps => party.overlaps(TEST, 2, &[0, 1]).await.map(|_| ()),
            Self::Rows => {
                let widths = vec![1; party.sites()];
                let own = vec![vec![1], vec![2]];
                party.rows(TEST, &widths, &[2], own).await.map(|_| ())
            }
            Self::Note => party.note(TEST, &[1]),
            Self::NoteOwn => party.note_own(TEST, &[1]),
        }
    }

    /// Everything that it discloses at a level.
    fn discloses(self, is_published: bool) -> Vec<What> {
        let on_the_way: &[What] = match self {
            Self::Align => &[align::SIZES, align::OVERLAPS],
            Self::Minimum | Self::Maximum | Self::Ranges if is_published => &[RUNNING],
            Self::Kth if is_published => &[CANDIDATES],
            Self::Union if is_published => &[RUNNING, ON_THE_WAY],
            _ => &[],
        };
        [&[TEST], on_the_way].concat()
    }
}

/// Three sites ask; site 0 allows these names only. What each learns is the names in its ledger.
fn ask(
    settings: Settings,
    question: Option<Question>,
    names: &[What],
) -> Outcome<(Result<(), Error>, Vec<What>), Error> {
    let simulation = Simulation::new(3, 5).settings(settings).recording();
    simulation.run(|mut party| async move {
        if party.me() == Site::new(0) {
            party.allow_only(Allowed {
                rule: RULE,
                names: names.iter().map(|what| what.name().to_owned()).collect(),
            });
        }
        let result = match question {
            Some(question) => question.ask(&mut party).await,
            None => Ok(()),
        };
        let entries = party.ledger().entries().iter();
        let learned = entries.map(|entry| entry.disclosure.what).collect();
        Ok((result, learned))
    })
}

/// The frames that site 0 sent.
fn sent(outcome: &Outcome<(Result<(), Error>, Vec<What>), Error>) -> usize {
    let peers = [1, 2].map(Site::new);
    let views = peers.into_iter().flat_map(|peer| outcome.view(peer));
    views.filter(|frame| frame.from == Site::new(0)).count()
}

#[test]
fn every_call_is_refused_before_anything_of_it_is_sent() {
    for (settings, is_published) in [(Settings::hardened(), false), (Settings::published(), true)] {
        let joining = sent(&ask(settings, None, &[]));
        assert!(joining > 0);
        for question in QUESTIONS {
            let all = question.discloses(is_published);
            for refused in &all {
                let others: Vec<What> = all.iter().copied().filter(|one| one != refused).collect();
                let outcome = ask(settings, Some(question), &others);
                assert_eq!(sent(&outcome), joining, "{question:?} without {refused:?}");
                let (result, learned) = &outcome.into_values().unwrap()[0];
                let error = Error::NotAllowed {
                    rule: RULE,
                    what: refused.name(),
                };
                assert_eq!(result, &Err(error.clone()), "{question:?}");
                assert_eq!(learned, &[]);
                let words = error.to_string();
                assert!(
                    words.contains(RULE) && words.contains(refused.name()),
                    "{words}"
                );
            }
        }
    }
}

#[test]
fn every_call_discloses_what_it_is_allowed_to_and_nothing_else() {
    for (settings, is_published) in [(Settings::hardened(), false), (Settings::published(), true)] {
        for question in QUESTIONS {
            let all = question.discloses(is_published);
            let values = ask(settings, Some(question), &all).into_values().unwrap();
            for (result, learned) in &values {
                assert_eq!(result, &Ok(()), "{question:?}");
                assert!(learned.contains(&TEST), "{question:?}");
                let stranger = learned.iter().find(|what| !all.contains(what));
                assert_eq!(stranger, None, "{question:?}");
            }
        }
    }
}

#[test]
fn a_party_of_one_needs_no_leave() {
    let seed = hedgerow_smc::Seed::new([1; 32]);
    let mut party = Party::alone(Settings::hardened(), &seed);
    party.allow_only(Allowed {
        rule: RULE,
        names: Vec::new(),
    });
    let mut values = [1, 2];
    let done = std::pin::pin!(party.sum(TEST, &mut values));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert_eq!(
        Future::poll(done, &mut context),
        std::task::Poll::Ready(Ok(()))
    );
}
