//! How the manifest of a release is made: the statement that all sites sign, and the account of the site
//! that writes it.

use hedgerow_data::study::DescribedColumn;
use hedgerow_node::agreement::StudyHash;
use hedgerow_node::identity::{PublicKey, hex};
use hedgerow_node::run::Seals;
use hedgerow_smc::exposure::LossOfPrivacy;
use hedgerow_smc::ledger::Line;

use super::achieved::{Achieved, OfSites};
use super::cost::Cost;
use super::date::written;
use super::files::hash;
use super::manifest::{
    AccountOf, Demanded, Disclosed, Manifest, Shared, SignatureOf, Statement, VERSION,
};
use super::ordered::Ordered;
use super::published::Published;
use crate::error::Error;
use crate::joint::convergence::Convergence;
use crate::study::ready::Ready;

/// A site's own account of a release, which the others have not signed.
pub(crate) struct Account<'a> {
    pub(crate) published: &'a Published,
    pub(crate) sites: usize,
    pub(crate) of_sites: OfSites,
    pub(crate) ledger: &'a [Disclosed],
    pub(crate) cost: &'a Cost,
    /// How the loss of a clustering fell.
    pub(crate) convergence: Option<&'a Convergence>,
    /// The loss of privacy of a simulated run.
    pub(crate) loss_of_privacy: Option<&'a LossOfPrivacy>,
    /// Of a study whose sites hold the same people: which site held which columns, and how groups were
    /// found.
    pub(crate) shared: Option<Shared>,
}

/// The run that a release is of.
pub(crate) struct RunOf<'a> {
    pub(crate) study: StudyHash,
    pub(crate) number: u32,
    /// The day that all sites agree on, in days since 1970.
    pub(crate) day: u32,
    /// What each site committed itself to before the run, in the study's order.
    pub(crate) commitments: Vec<(&'a str, [u8; 32])>,
    /// The hash of every answer that all sites saw opened.
    pub(crate) transcript: [u8; 32],
}

impl Statement {
    /// What all sites of a run sign.
    pub(crate) fn of_run(
        ready: &Ready,
        run: &RunOf<'_>,
        published: &Published,
    ) -> Result<Self, Error> {
        let commitments = run.commitments.iter();
        Ok(Self {
            study_hash: Some(run.study.to_string()),
            run: Some(run.number),
            commitments: commitments
                .map(|(site, commitment)| ((*site).to_owned(), hex(commitment)))
                .collect(),
            transcript: Some(hex(&run.transcript)),
            ..Self::of_release(ready, run.day, published)?
        })
    }

    /// The statement about a release that nobody signs, made of a study that perhaps cannot be signed.
    pub(super) fn of_one_place(
        ready: &Ready,
        day: u32,
        published: &Published,
    ) -> Result<Self, Error> {
        let agreement = ready.opened.signable();
        Ok(Self {
            study_hash: agreement.map(|agreement| agreement.hash.to_string()),
            ..Self::of_release(ready, day, published)?
        })
    }

    fn of_release(ready: &Ready, day: u32, published: &Published) -> Result<Self, Error> {
        let study = &ready.study;
        let files = study.release_files().into_iter();
        let files = files.map(|name| {
            let hash = hash(&published.folder.join(&name))?;
            Ok((name, hash))
        });
        Ok(Self {
            study: study.name.clone(),
            study_hash: None,
            run: None,
            commitments: Ordered::default(),
            transcript: None,
            security: ready.run.security.name().to_owned(),
            algorithm: study.algorithm.name().to_owned(),
            records: published.verdict.records,
            classes: published.verdict.classes,
            csv: study.csv.name().to_owned(),
            files: files.collect::<Result<_, Error>>()?,
            hedgerow: String::from(env!("CARGO_PKG_VERSION")),
            date: written(day),
            partition: study.partition,
            release: study.release,
            rows: study.rows,
            recode: study.recode,
            fragments: study.asks_for_fragments(),
            requirement: Demanded::from(&ready.requirement),
            gate: published.gate.clone(),
            columns: DescribedColumn::of_study(study),
        })
    }

    /// The bytes that are signed: the object on one line, keys in the order of the fields.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        // Names, numbers and lists: nothing here fails to become JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl Account<'_> {
    /// The manifest with a statement that sites signed, to be sealed.
    pub(crate) fn signed<'a>(
        &self,
        statement: Statement,
        names: impl Iterator<Item = &'a str>,
        keys: &[PublicKey],
        seals: &Seals,
    ) -> Manifest {
        let signatures = names.zip(keys).zip(&seals.signatures);
        let signatures = signatures.map(|((site, key), signature)| SignatureOf {
            site: site.to_owned(),
            key: key.to_string(),
            signature: hex(signature),
        });
        Manifest {
            signed: Some(statement),
            signatures: signatures.collect(),
            ..self.manifest()
        }
    }

    /// The manifest with a statement that nobody signs, to be sealed.
    pub(super) fn unsigned(&self, statement: Statement) -> Manifest {
        Manifest {
            unsigned: Some(statement),
            ..self.manifest()
        }
    }

    fn manifest(&self) -> Manifest {
        Manifest {
            version: VERSION,
            signed: None,
            unsigned: None,
            signatures: Vec::new(),
            sites: self.sites as u64,
            achieved: Achieved::of(&self.published.verdict, self.of_sites),
            utility: self.published.utility.clone(),
            ledger: self.ledger.to_vec(),
            cost: self.cost.clone(),
            convergence: self.convergence.and_then(Convergence::public).cloned(),
            loss_of_privacy: self.loss_of_privacy.cloned(),
            shared: self.shared.clone(),
            account: AccountOf::default(),
            seal: None,
        }
    }
}

/// The summary of a ledger.
pub(crate) fn ledger(lines: &[Line]) -> Vec<Disclosed> {
    let entry = |line: &Line| Disclosed {
        what: line.what.to_owned(),
        to: line.to.to_string(),
        values: line.values as u64,
        allowed_by: line.allowed_by.to_owned(),
        caveat: line.caveat.map(str::to_owned),
    };
    lines.iter().map(entry).collect()
}

/// The most that any site learned: every line of the sites' ledgers, with the greatest number of values. At
/// the published level what passes a site follows from its place on the ring.
pub(crate) fn most_learned(ledgers: &[Vec<Disclosed>]) -> Vec<Disclosed> {
    let mut most: Vec<Disclosed> = Vec::new();
    for line in ledgers.iter().flatten() {
        let same = |known: &&mut Disclosed| {
            (&known.what, &known.to, &known.caveat) == (&line.what, &line.to, &line.caveat)
        };
        match most.iter_mut().find(same) {
            Some(known) => known.values = known.values.max(line.values),
            None => most.push(line.clone()),
        }
    }
    most
}
