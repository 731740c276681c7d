//! `hedgerow sql serve`: a table for PostgreSQL's clients, as `[sql]` of a site's file says.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use hedgerow_node::site::SiteFile;
use hedgerow_sql::{Limits, Log, ReleaseSource, Server, SiteSource, Source, SqlError};

use super::say;

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The site's file, whose [sql] says where to listen and for whom
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
    /// The folder of a release; without one, the table that the site holds together with others is served,
    /// through its node
    release: Option<PathBuf>,
    /// The run whose table is served; the last, where none is named
    #[arg(long, value_name = "N", conflicts_with = "release")]
    run: Option<u32>,
}

impl Serve {
    /// Serves until a signal ends the program.
    pub(crate) async fn run(&self) -> Result<(), String> {
        let mut site = SiteFile::open(&self.site).map_err(|error| error.to_string())?;
        for warning in &site.warnings {
            say(&format!("warning: {warning}"));
        }
        let settings = site.sql.take().ok_or_else(|| {
            let file = self.site.display();
            format!("{file}: there is no [sql]\nhint: [sql] says where the server listens, with which certificate, and for whom")
        })?;
        let source = self.source().map_err(|error| error.to_string())?;
        let name = source.name().to_owned();
        let log = Log::open(&site.data).map_err(|error| {
            let data = site.data.display();
            format!("{data}: the log of what is asked cannot be kept there: {error}\nhint: `data` of the site's file names a folder that this program may write")
        })?;
        let log_path = log.path().display().to_string();
        let server = Server::bind(&settings, source, Limits::default(), Some(log)).await;
        let server = server.map_err(|error| error.to_string())?;
        let address = server.address();
        say(&format!(
            "`{name}` is served at {address}, and what is asked is written to {log_path}"
        ));
        tokio::select! {
            ended = server.run() => ended.map_err(|error| error.to_string()),
            () = signal() => {
                say("stopped");
                Ok(())
            }
        }
    }

    /// What is served: a release, or the table that sites hold together.
    fn source(&self) -> Result<Arc<dyn Source>, SqlError> {
        match &self.release {
            Some(folder) => ReleaseSource::open(folder),
            None => SiteSource::open(&self.site, self.run),
        }
    }
}

/// Waits until somebody wants the program to end.
async fn signal() {
    #[cfg(unix)]
    {
        let kind = tokio::signal::unix::SignalKind::terminate();
        if let Ok(mut terminate) = tokio::signal::unix::signal(kind) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    // Where there are no signals the program is ended in another way.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
