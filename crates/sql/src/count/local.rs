//! DataFusion in this process: on all cores, within a limit of memory, and on disk beyond that.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::execution::context::SessionContext;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionConfig;

use super::CountError;

/// What a count in this process may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// Bytes of memory, of which groups get the larger part and the rest is for what the engine does not count.
    pub memory: u64,
    /// The folder for what does not fit; it is there, and nobody else may read it.
    pub spill: PathBuf,
}

/// Of the memory, the groups that are counted take this share; decoded files and what is written are the rest.
const SHARE: f64 = 0.6;
/// The least memory.
pub(super) const LEAST: u64 = 4 << 20;
/// Consumers that are named where memory is short.
const NAMED: NonZeroUsize = NonZeroUsize::MIN;
/// Of each core's share, a batch has one row for so many bytes, so that many batches fit.
const BYTES_OF_A_ROW: usize = 4096;
/// Rows of a batch.
const BATCH: std::ops::RangeInclusive<usize> = 256..=8192;
/// What a merge of spilled groups keeps for itself, of each core's share.
const MERGING: usize = 8;

/// A session within a limit.
pub(super) fn context(limit: &Limit) -> Result<SessionContext, CountError> {
    if limit.memory < LEAST {
        return Err(CountError::LittleMemory {
            memory: limit.memory,
        });
    }
    // Exact for every memory that a machine has.
    let pool = (limit.memory as f64 * SHARE) as usize;
    let disk = DiskManagerBuilder::default()
        .with_mode(DiskManagerMode::Directories(vec![limit.spill.clone()]))
        // The disk itself says when it is full.
        .with_max_temp_directory_size(u64::MAX);
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(TrackConsumersPool::new(
            FairSpillPool::new(pool),
            NAMED,
        )))
        .with_disk_manager_builder(disk)
        .build_arc()?;
    let mut config = SessionConfig::new()
        .with_target_partitions(cores)
        .with_batch_size((pool / cores / BYTES_OF_A_ROW).clamp(*BATCH.start(), *BATCH.end()))
        // What columns hold is no help in counting all of it.
        .with_collect_statistics(false);
    config.options_mut().execution.sort_spill_reservation_bytes = pool / cores / MERGING;
    Ok(SessionContext::new_with_config_rt(config, runtime))
}
