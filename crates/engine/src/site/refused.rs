//! Why a site does not take its part in a run, or cannot answer a question about a run.

use std::path::PathBuf;

use hedgerow_node::Reason;
use hedgerow_node::accept::Refusal;
use hedgerow_node::agreement::StudyHash;
use hedgerow_node::questions::DeskError;
use hedgerow_protocols::query::ForeignRow;

/// Why a site does not take its part in a run, or cannot answer a question about a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteRefused {
    /// The site's key is not the key that the study has for it.
    #[error("{}: is not the key that the study has for `{site}`\nhint: the study has {expected}, this key is {found}", file.display())]
    OtherKey {
        /// The file of the key.
        file: PathBuf,
        /// The site.
        site: String,
        /// The key that the study has.
        expected: String,
        /// The key in the file.
        found: String,
    },
    /// The site's rules do not let the study in.
    #[error("{}: this site does not accept the study:{}\nhint: what is not written there is refused; hedgerow study show says what the study asks for", file.display(), lines(reasons))]
    NotAccepted {
        /// The site's file.
        file: PathBuf,
        /// Every rule that the study breaks.
        reasons: Vec<String>,
    },
    /// The study is another than the one that somebody has read and is about to sign.
    #[error("{}: the study has changed since it was read here, and nothing was signed\nhint: read it again: its hash was {read}, and is {found}", study.display())]
    OtherVersion {
        /// The study.
        study: PathBuf,
        /// The hash of the version that was read.
        read: String,
        /// The hash of the version that is there.
        found: String,
    },
    /// Nobody says for which site a file is drafted.
    #[error("{}: nothing says which site this is\nhint: --site names it: the study has {}", study.display(), hedgerow_data::quoted_list(names))]
    WhichSite {
        /// The study.
        study: PathBuf,
        /// The names of its sites.
        names: Vec<String>,
    },
    /// The key is of no site of the study.
    #[error("{}: is the key of no site of {}\nhint: this key is {found}; it belongs below this site's [[site]] before anybody signs", key.display(), study.display())]
    NobodysKey {
        /// The file of the key.
        key: PathBuf,
        /// The study.
        study: PathBuf,
        /// The public half.
        found: String,
    },
    /// A site's file that is there is kept.
    #[error("{}: is there already and is kept\nhint: name another file with --out, or write over it with --force", file.display())]
    Kept {
        /// The file.
        file: PathBuf,
    },
    /// More records than the site's rules take for possible.
    #[error(
        "accept.maximum_records: is {most}; this site alone has {records} records\nhint: maximum_records is the most records of all sites together"
    )]
    TooManyRecords {
        /// The most that are accepted.
        most: u64,
        /// The site's own.
        records: u64,
    },
    /// A peer has no address.
    #[error(
        "`{site}` has no address\nhint: add a [[peer]] with name and address to the site's file"
    )]
    NoAddress {
        /// The peer.
        site: String,
    },
    /// This site has no address.
    #[error(
        "`{site}` has no address\nhint: write listen = \"0.0.0.0:7401\" into the site's file, or an address into the study"
    )]
    NoOwnAddress {
        /// This site.
        site: String,
    },
    /// The address is taken, or is not this machine's.
    #[error(
        "this site cannot listen at {address}: {source}{}",
        how_to_listen(source)
    )]
    CannotListen {
        /// The address.
        address: String,
        /// Why the address cannot be used.
        source: std::io::Error,
    },
    /// Another node of this site is up.
    #[error(
        "{}: another node of this site is up\nhint: hedgerow status shows it; stop it first", data.display()
    )]
    NodeThere {
        /// The data folder.
        data: PathBuf,
    },
    /// This site's node is up, but there is no way to it.
    #[error(
        "this site's node is up, and is rung through the hub `{hub}`, which does not answer\nhint: have the hub's node started, or give the node of this site a port for this machine: listen = \"127.0.0.1:7401\" in the site's file"
    )]
    NodeUnheard {
        /// The hub.
        hub: String,
    },
    /// The address of health and numbers is taken.
    #[error(
        "health and numbers cannot be served at {address}: {source}\nhint: another program has the port; write another into metrics.listen of the site's file"
    )]
    NoMetrics {
        /// The address.
        address: std::net::SocketAddr,
        /// Why the address cannot be used.
        source: std::io::Error,
    },
    /// The node's connections cannot be made safe.
    #[error("the node cannot listen: {0}")]
    Door(#[source] hedgerow_node::TlsError),
    /// The node's listener broke.
    #[error("the node cannot listen: {0}")]
    Listener(#[source] std::io::Error),
    /// Another process of the site is at work.
    #[error(
        "{folder}: another hedgerow of this site is at work here, so run {run} is not given up\nhint: stop it, then type this again"
    )]
    Busy {
        /// The data folder.
        folder: String,
        /// The run.
        run: u32,
    },
    /// Another run of the site is under way.
    #[error(
        "this site is at work on run {other}, so run {run} does not begin\nhint: hedgerow status shows how far it is"
    )]
    OtherRun {
        /// The run that is under way.
        other: u32,
        /// The run that was asked for.
        run: u32,
    },
    /// The site's node does not take the run.
    #[error(
        "this site's node does not take run {run}: {reason}\nhint: hedgerow status shows the runs; the next number starts another"
    )]
    NodeRefuses {
        /// The run.
        run: u32,
        /// Why the node does not take the run.
        reason: Reason,
    },
    /// The site's node ended while a run was watched.
    #[error("this site's node is gone\nhint: start it again; it goes on where the run stands")]
    NodeGone,
    /// The watched run failed.
    #[error("failed: {reason}")]
    RunFailed {
        /// The reason, in the words of the site's node.
        reason: String,
    },
    /// The watched run is over, but its summary is missing.
    #[error("the node keeps no answer of the run")]
    NoSummary,
    /// The run of an earlier version of the study is under way.
    #[error("{}: run {run} of an earlier version of the study, {study}, is not over here\nhint: it cannot go on under this one; hedgerow run --abandon --number {run} gives it up", data.display())]
    EarlierVersion {
        /// The data folder.
        data: PathBuf,
        /// The run.
        run: u32,
        /// The earlier version.
        study: StudyHash,
    },
    /// A run of another study has the same number and is under way.
    #[error("{}: run {run} of another study, {study}, is not over here\n{OWN_FOLDER}", data.display())]
    OtherStudy {
        /// The data folder.
        data: PathBuf,
        /// The run.
        run: u32,
        /// The study of that run.
        study: StudyHash,
    },
    /// A release of this number exists already.
    #[error("{}: is there already, so run {run} does not begin\n{OWN_FOLDER}, or move the release away", folder.display())]
    ReleaseThere {
        /// The folder of the release.
        folder: PathBuf,
        /// The run.
        run: u32,
    },
    /// The journal does not know a run that the memory knows.
    #[error("{}: this site has begun run {run} before, but its journal does not know of it\nhint: if the data folder was lost, hedgerow run rejoin --site … finds the next run; otherwise bring the folder back", data.display())]
    JournalLost {
        /// The data folder.
        data: PathBuf,
        /// The run.
        run: u32,
    },
    /// The site's rules on runs with the same or other rows.
    #[error("{0}")]
    Rerun(Refusal),
    /// Another run of the same source sent rows first.
    #[error(
        "accept.runs: another run of the same source went first, so this one sends nothing\nhint: hedgerow ledger shows the runs of this site"
    )]
    OtherWentFirst,
    /// The run disclosed something that the site's rules do not allow.
    #[error(
        "accept.disclosures: the run disclosed `{what}`, which is not allowed here; nothing is published"
    )]
    Disclosed {
        /// What was disclosed.
        what: &'static str,
    },
    /// A run between sites needs another site.
    #[error("a run between sites needs another site")]
    Alone,
    /// A site brings more than a site accepts.
    #[error(
        "accept.maximum_share: {} brings more than {most} of all records, which a site does not accept; nothing is published\nhint: a site that brings most of a table can surround others' patients with its own records",
        hedgerow_data::quoted_list(sites)
    )]
    TooLargeShare {
        /// The sites that bring too much.
        sites: Vec<String>,
        /// The share that is accepted.
        most: f64,
    },
    /// The officer's word makes no difference.
    #[error(
        "accept.rerun: is not \"ask\", so no word lets a run through\nhint: write rerun = \"ask\", and send the node SIGHUP, or start it again"
    )]
    NoWordCounts,
    /// A refusal stays.
    #[error(
        "run {run} was refused by the officer, and its number is not used again\nhint: hedgerow run --site … asks for the next run"
    )]
    TurnedDown {
        /// The run.
        run: u32,
    },
    /// A run that has begun is given up, not refused.
    #[error(
        "run {run} has begun at this site\nhint: hedgerow run --abandon --number {run} gives it up"
    )]
    HasBegun {
        /// The run.
        run: u32,
    },
    /// Nothing was lost.
    #[error("{}: the journal is there, and run {last} was the last of this study here\nhint: hedgerow status --site … shows the runs", data.display())]
    JournalThere {
        /// The data folder.
        data: PathBuf,
        /// The last run.
        last: u32,
    },
    /// Peers do not agree on how many runs there were.
    #[error("the other sites do not agree how many runs there were: {}\nhint: have their stewards compare hedgerow status", said.join(", "))]
    Disagreement {
        /// What each peer says.
        said: Vec<String>,
    },
    /// A peer does not say which run is due.
    #[error("not every site says which run is due: {}\nhint: have their stewards start hedgerow node, then type this again", silent.join("; "))]
    Silent {
        /// The peers that did not answer, each with the reason.
        silent: Vec<String>,
    },
    /// The key is not the auditor's.
    #[error("{}: is not the key of the study's auditor\nhint: the study names {named}, this key is {found}", file.display())]
    OtherAuditor {
        /// The file of the key.
        file: PathBuf,
        /// The key that the study names.
        named: String,
        /// The key in the file.
        found: String,
    },
    /// The study allows no questions.
    #[error(
        "the study allows no questions\nhint: write [query] with answers = [\"totals\"] into the study, and have all sites sign it"
    )]
    NoQuery,
    /// No run of the study is over here.
    #[error(
        "no run of this study is over here, so there is no table to ask\nhint: hedgerow status --site … shows the runs"
    )]
    NoTable,
    /// The log of questions cannot be read.
    #[error("{}: the log of questions cannot be read: {reason}", folder.display())]
    NoQuestionLog {
        /// The data folder.
        folder: PathBuf,
        /// What the operating system said.
        reason: String,
    },
    /// The site's node gives no answer.
    #[error(transparent)]
    Desk(#[from] DeskError),
    /// Rows that are not of the joint table.
    #[error("{}: {source}\nhint: the file was changed since its run; bring it back", file.display())]
    ForeignRow {
        /// The file of the rows.
        file: PathBuf,
        /// The row.
        source: ForeignRow,
    },
    /// A file of a run with which questions are answered is not as it was.
    #[error("{}: is not as it was when run {run} ended\nhint: bring it back from a copy; without it this site answers no questions about the run", file.display())]
    ChangedRows {
        /// The file.
        file: PathBuf,
        /// The run.
        run: u32,
    },
    /// The study names no auditor.
    #[error(
        "{study}: the study names no auditor\nhint: write auditor = \"{key}\" below [study], and have all sites sign it"
    )]
    NoAuditor {
        /// The study's name.
        study: String,
        /// The key that was given.
        key: String,
    },
}

const OWN_FOLDER: &str = "hint: a study that was changed is another one: give it a folder of its own, with another `data` in the site's file, or name the other's hash as its `parent`";

fn lines(reasons: &[String]) -> String {
    let line = |reason: &String| format!("\n  {reason}");
    reasons.iter().map(line).collect()
}

fn how_to_listen(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            "\nhint: another program has it, perhaps another hedgerow of this site; stop it, or write another listen = \"host:port\" into the site's file"
        }
        _ => {
            "\nhint: this machine does not have that address, or may not use it; write listen = \"0.0.0.0:port\" into the site's file"
        }
    }
}
