//! Frames to peers that wait on disk, sealed, because peers have not confirmed so many before them that
//! there is no room in memory. They are of this process only: the next one makes them again. The file is
//! overwritten and emptied once no frame waits; where a process ends before, when the journal is next opened.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::frames::{failed, overwrite, private};
use super::sealing::{Of, Sealing};
use super::{JournalError, Way};

/// The file of a run in a data folder.
pub(super) fn path(folder: &Path, run: i64) -> PathBuf {
    folder.join(format!("run-{run}.waiting"))
}

/// The frames that wait.
pub(super) struct Waiting {
    path: PathBuf,
    file: File,
    sealing: Arc<Sealing>,
    length: u64,
    /// Where each frame lies, by peer and number, and its sealed length.
    places: BTreeMap<(u16, u64), (u64, usize)>,
}

impl Waiting {
    pub(super) fn open(path: PathBuf, sealing: Arc<Sealing>) -> Result<Self, JournalError> {
        let file = private(&path).map_err(|error| failed(&path, "cannot be opened", &error))?;
        Ok(Self {
            path,
            file,
            sealing,
            length: 0,
            places: BTreeMap::new(),
        })
    }

    pub(super) fn put(&mut self, peer: u16, number: u64, frame: &[u8]) -> Result<(), JournalError> {
        let step = "a frame cannot be kept";
        let sealed = self.sealing.seal(of(peer, number), frame);
        let sealed = sealed.ok_or_else(|| self.not_as_sealed(step))?;
        let written = self.file.seek(SeekFrom::Start(self.length));
        let written = written.and_then(|_| self.file.write_all(&sealed));
        written.map_err(|error| failed(&self.path, step, &error))?;
        self.places
            .insert((peer, number), (self.length, sealed.len()));
        self.length += sealed.len() as u64;
        Ok(())
    }

    /// A frame that waits; `None` if it does not, any more.
    pub(super) fn get(&mut self, peer: u16, number: u64) -> Result<Option<Vec<u8>>, JournalError> {
        let step = "a frame cannot be read";
        let Some((at, length)) = self.places.get(&(peer, number)).copied() else {
            return Ok(None);
        };
        let mut sealed = vec![0; length];
        let read = self.file.seek(SeekFrom::Start(at));
        let read = read.and_then(|_| self.file.read_exact(&mut sealed));
        read.map_err(|error| failed(&self.path, step, &error))?;
        let opened = self.sealing.open(of(peer, number), sealed);
        opened.map(Some).ok_or_else(|| self.not_as_sealed(step))
    }

    /// Forgets the frames to a peer below a number.
    pub(super) fn forget(&mut self, peer: u16, below: u64) -> Result<(), JournalError> {
        let (from, to) = ((peer, 0), (peer, below));
        while let Some((&place, _)) = self.places.range(from..to).next() {
            self.places.remove(&place);
        }
        if !self.places.is_empty() || self.length == 0 {
            return Ok(());
        }
        self.length = 0;
        let emptied = overwrite(&mut self.file);
        emptied.map_err(|error| failed(&self.path, "cannot be emptied", &error))
    }

    fn not_as_sealed(&self, step: &'static str) -> JournalError {
        JournalError::Failed {
            file: self.path.display().to_string(),
            step,
            reason: String::from("it is not as this site sealed it"),
        }
    }
}

fn of(peer: u16, number: u64) -> Of {
    let way = Way::Sent;
    Of::Frame { peer, way, number }
}
