//! `hedgerow node`: the site's daemon, until somebody stops it.

use std::convert::Infallible;
use std::io::Read as _;
use std::path::PathBuf;

use hedgerow::Site;
use hedgerow_console::Listening;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::error::CliError;
use crate::node_log::{Form, NodeLog, remark};
use crate::output::Answer;
use crate::runtime::block_on;

/// Wait for runs of the study and take part in them, until stopped.
#[derive(clap::Args)]
#[command(
    after_help = "A run begins when a site types hedgerow run. After a change of the study or the site's file, send the\nnode SIGHUP: it reads both anew, and a run under way ends as it began.\nExamples:\n  hedgerow node --site north.toml\n  hedgerow node --site north.toml --log json 2>> north.log"
)]
pub(crate) struct Arguments {
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
    /// How the log on stderr is written; json with --json, text without
    #[arg(long, value_name = "FORM")]
    log: Option<Form>,
    /// Stop when stdin ends, so that a node does not outlive who started it.
    #[arg(long, hide = true)]
    until_stdin_ends: bool,
}

pub(crate) fn run(arguments: &Arguments, is_json: bool) -> Result<Answer, CliError> {
    let usual = if is_json { Form::Json } else { Form::Text };
    let log = NodeLog::begin(arguments.log.unwrap_or(usual));
    let site = Site::open(&arguments.site)?.observer(log);
    let until_gone = arguments.until_stdin_ends.then(stdin_ends);
    let stopped = || {
        let text = String::from("the node has stopped; a run under way goes on when it is back\n");
        Ok(Answer::new(text, &json!({ "stopped": true }), true))
    };
    block_on(
        async {
            // Asked for before the node is up, so that no signal to a node that is up ends it.
            let mut hangups = signal(SignalKind::hangup()).map_err(CliError::NoSignals)?;
            let pages = match site.file().console.clone() {
                Some(settings) => Some(Listening::bind(arguments.site.clone(), settings).await?),
                None => None,
            };
            let reloads = async {
                while hangups.recv().await.is_some() {
                    site.reload();
                }
                std::future::pending().await
            };
            tokio::select! {
                ended = site.serve() => ended.map(|never| match never {}).map_err(CliError::from),
                stopped = reloads => stopped,
                never = serve_pages(pages) => match never? {},
                () = gone(until_gone) => stopped(),
            }
        },
        stopped,
    )
}

/// Serves the pages that `[console]` of the site's file asks for. A link for the first user is not written into
/// a log, which others may read.
async fn serve_pages(pages: Option<Listening>) -> Result<Infallible, CliError> {
    let Some(pages) = pages else {
        return std::future::pending().await;
    };
    let console = pages.console();
    remark(&format!(
        "pages for the steward and the officer are at {}",
        console.address()
    ));
    if console.has_nobody()? {
        remark(
            "nobody may use the pages yet\nhint: hedgerow console user add NAME --role officer --site … adds somebody",
        );
    }
    Ok(pages.serve().await)
}

/// Hears when stdin ends.
fn stdin_ends() -> oneshot::Receiver<()> {
    let (gone, is_gone) = oneshot::channel();
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        while matches!(stdin.read(&mut [0; 64]), Ok(read) if read > 0) {}
        let _ = gone.send(());
    });
    is_gone
}

async fn gone(until: Option<oneshot::Receiver<()>>) {
    match until {
        Some(until) => {
            let _ = until.await;
        }
        None => std::future::pending().await,
    }
}
