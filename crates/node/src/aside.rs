//! Work that waits for a disk, called from asynchronous code.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Does work that waits for a disk, so that other tasks go on meanwhile: on a worker of a runtime with
/// several threads, the worker's other tasks go to another thread first. A runtime of one thread has no
/// other thread; there, as outside of any runtime, the work is done in place.
pub fn aside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// With one worker, a task that waits aside for another would otherwise wait for ever.
    #[test]
    fn other_tasks_go_on_meanwhile() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .unwrap();
        let (said, heard) = mpsc::channel();
        let waiting = runtime.spawn(async move {
            tokio::spawn(async move { said.send(7).unwrap() });
            aside(|| heard.recv().unwrap())
        });
        assert_eq!(runtime.block_on(waiting).unwrap(), 7);
        // On threads without tasks, and without a runtime, too.
        let blocking = runtime.spawn_blocking(|| Handle::current().block_on(async { aside(|| 8) }));
        assert_eq!(runtime.block_on(blocking).unwrap(), 8);
        assert_eq!(aside(|| 9), 9);
    }

    #[tokio::test]
    async fn a_runtime_of_one_thread_does_it_itself() {
        assert_eq!(aside(|| 7), 7);
    }
}
