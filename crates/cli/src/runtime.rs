//! Work between machines runs until it ends, or until somebody stops the process.

use tokio::signal::unix::{SignalKind, signal};

use crate::error::CliError;

/// Runs a future on threads of its own until it ends or somebody stops the process.
pub(crate) fn block_on<T, E: Into<CliError>>(
    work: impl Future<Output = Result<T, E>>,
    stopped: impl FnOnce() -> Result<T, CliError>,
) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(CliError::NoThreads)?;
    let answer = runtime.block_on(async {
        // The signals are asked for before any work, so that no moment is left in which a signal is not
        // heard.
        let mut terminated = signal(SignalKind::terminate()).map_err(CliError::NoSignals)?;
        let mut interrupted = signal(SignalKind::interrupt()).map_err(CliError::NoSignals)?;
        tokio::select! {
            answer = work => answer.map_err(Into::into),
            _ = interrupted.recv() => stopped(),
            _ = terminated.recv() => stopped(),
        }
    });
    // The protocol's thread ends by itself once its lines are gone.
    runtime.shutdown_background();
    answer
}
