//! The frames of one run, in a file of their own beside the journal's tables, which only grows until it
//! is wiped: every frame received, sealed, and of every frame sent a mark, by which the frame is known
//! again when it is made again.
//!
//! One file for both, so that a power cut, which may take the end of the file, never leaves a mark
//! without the frames that the marked one followed from. An entry is one of
//!
//! | entry | bytes |
//! |---|---|
//! | received | 0, the peer (2), the frame's length (4), the frame sealed (28 more than its length) |
//! | sent | 1, the peer (2), the frame's mark (16), a check (4) |
//! | seen | 2, the peer (2), how many frames it has for good (8), a check (4) |
//!
//! in little-endian. The first entry that is cut off, or is not as this site wrote it, ends what counts:
//! a process that is killed, or a power cut, leaves such an end, and peers have what was in it.
//!
//! # Discloses
//! To whoever may read the file and not the site's key: how many frames of which lengths came from which
//! site, and how many went to which.

use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::sealing::{MARK, Of, SEALED, Sealing};
use super::{JournalError, Way};
use crate::message::LONGEST;

const RECEIVED: u8 = 0;
const SENT: u8 = 1;
const SEEN: u8 = 2;
const CHECK: usize = 4;
/// What all entries begin with: kind and peer.
const HEAD: usize = 3;

/// What a frame that was sent is known again by.
pub(crate) type Mark = [u8; MARK];

/// The frames of a run, for the thread that writes them.
pub(super) struct Frames {
    path: PathBuf,
    file: Arc<File>,
    sealing: Arc<Sealing>,
    length: u64,
    links: Vec<Link>,
    /// Whether an entry is on disk before anything follows.
    is_durable: bool,
}

/// What was written of a run's frames until now.
#[derive(Clone)]
pub(crate) struct Written {
    path: PathBuf,
    file: Arc<File>,
}

impl Written {
    /// Brings it to disk for good. Waits for the disk.
    pub(crate) fn sync(&self) -> Result<(), JournalError> {
        let synced = self.file.sync_data();
        synced.map_err(|error| failed(&self.path, "cannot be brought to disk", &error))
    }
}

/// What is here of the frames between this site and a peer.
#[derive(Default)]
struct Link {
    /// Where each frame from the peer lies, and its length.
    received: Vec<(u64, u32)>,
    sent: Vec<Mark>,
    seen: u64,
}

/// Which entries may be missing at the end of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Those of a process that did not end well.
    MayBeCut,
    /// None: the run came to its end.
    IsWhole,
}

/// The file of a run in a data folder.
pub(super) fn path(folder: &Path, run: i64) -> PathBuf {
    folder.join(format!("run-{run}.frames"))
}

impl Frames {
    /// The frames of a run in which so many sites take part; makes the file where it is missing. `None`
    /// where a file that should be whole is not.
    pub(super) fn open(
        path: PathBuf,
        sites: u16,
        sealing: Arc<Sealing>,
        end: End,
    ) -> Result<Option<Self>, JournalError> {
        let failed = |error: &std::io::Error| failed(&path, "cannot be opened", error);
        let file = private(&path).map_err(|error| failed(&error))?;
        let mut frames = Self {
            file: Arc::new(file),
            sealing,
            length: 0,
            links: (0..sites).map(|_| Link::default()).collect(),
            is_durable: false,
            path: path.clone(),
        };
        let is_whole = frames.read_all().map_err(|error| failed(&error))?;
        if end == End::IsWhole {
            return Ok(is_whole.then_some(frames));
        }
        // What a killed process wrote may not be on disk yet; from here on it is.
        let cut = frames.file.set_len(frames.length);
        let synced = cut.and_then(|()| frames.file.sync_data());
        synced.map_err(|error| failed(&error))?;
        Ok(Some(frames))
    }

    /// Finds the entries that count; whether there is nothing after them.
    fn read_all(&mut self) -> std::io::Result<bool> {
        let file = Arc::clone(&self.file);
        let mut reader = BufReader::with_capacity(1 << 16, &*file);
        loop {
            let mut head = [0; HEAD];
            match fill(&mut reader, &mut head)? {
                0 => return Ok(true),
                HEAD => {}
                _ => return Ok(false),
            }
            let Some(length) = self.read_entry(head, &mut reader)? else {
                return Ok(false);
            };
            self.length += length;
        }
    }

    /// Reads an entry behind its head; its length, or `None` if the entry is not as this site wrote it.
    fn read_entry(
        &mut self,
        head: [u8; HEAD],
        reader: &mut impl std::io::Read,
    ) -> std::io::Result<Option<u64>> {
        let (at, [kind, low, high]) = (self.length, head);
        let peer = u16::from_le_bytes([low, high]);
        let Some(link) = self.links.get_mut(usize::from(peer)) else {
            return Ok(None);
        };
        if kind == RECEIVED {
            let mut bytes = [0; 4];
            let is_there = fill(reader, &mut bytes)? == bytes.len();
            let length = u32::from_le_bytes(bytes);
            if !is_there || length as usize > LONGEST {
                return Ok(None);
            }
            let mut sealed = vec![0; SEALED + length as usize];
            let is_there = fill(reader, &mut sealed)? == sealed.len();
            let (way, number) = (Way::Received, link.received.len() as u64);
            let of = Of::Frame { peer, way, number };
            let whole = (HEAD + 4 + sealed.len()) as u64;
            if !is_there || self.sealing.open(of, sealed).is_none() {
                return Ok(None);
            }
            link.received.push((at + (HEAD + 4) as u64, length));
            return Ok(Some(whole));
        }
        let mut body = [0; MARK];
        let body = match kind {
            SENT => &mut body[..],
            SEEN => &mut body[..8],
            _ => return Ok(None),
        };
        let mut check = [0; CHECK];
        let is_there = fill(reader, body)? == body.len() && fill(reader, &mut check)? == CHECK;
        if !is_there || check != check_of(&self.sealing, at, head, body) {
            return Ok(None);
        }
        let whole = (HEAD + body.len() + CHECK) as u64;
        if let Some(number) = body.first_chunk::<8>().filter(|_| kind == SEEN) {
            link.seen = u64::from_le_bytes(*number);
        } else if let Some(mark) = body.first_chunk::<MARK>() {
            link.sent.push(*mark);
        }
        Ok(Some(whole))
    }

    /// From here on the file refuses every change, as one on a full disk does.
    #[cfg(test)]
    pub(super) fn refuse_writes(&mut self) {
        if let Ok(file) = File::open(&self.path) {
            self.file = Arc::new(file);
        }
    }

    /// Brings all entries to disk, and has every further entry there before anything follows.
    pub(super) fn make_durable(&mut self) -> Result<(), JournalError> {
        self.written().sync()?;
        self.is_durable = true;
        Ok(())
    }

    /// Brings the file to disk as it is when a run is over, without what a write that failed may have left.
    pub(super) fn close(&self) -> Result<(), JournalError> {
        let cut = self.file.set_len(self.length);
        cut.map_err(|error| failed(&self.path, "cannot be closed", &error))?;
        self.written().sync()
    }

    pub(super) fn is_durable(&self) -> bool {
        self.is_durable
    }

    /// The file, for whoever sees that what was written is on disk.
    pub(super) fn written(&self) -> Written {
        Written {
            path: self.path.clone(),
            file: Arc::clone(&self.file),
        }
    }

    pub(super) fn received(&self, peer: u16) -> u64 {
        self.link(peer).map_or(0, |link| link.received.len() as u64)
    }

    /// The marks of the frames that were sent to a peer, in order.
    pub(super) fn marks(&self, peer: u16) -> &[Mark] {
        self.link(peer).map_or(&[], |link| &link.sent)
    }

    /// How many frames a peer has for good, as far as it was noted.
    pub(super) fn seen(&self, peer: u16) -> u64 {
        self.link(peer).map_or(0, |link| link.seen)
    }

    fn link(&self, peer: u16) -> Option<&Link> {
        self.links.get(usize::from(peer))
    }

    /// Keeps the next frame from a peer.
    pub(super) fn put(&mut self, peer: u16, frame: &[u8]) -> Result<(), JournalError> {
        let (way, number) = (Way::Received, self.received(peer));
        let of = Of::Frame { peer, way, number };
        let sealed = self.sealing.seal(of, frame);
        let sealed = sealed.ok_or_else(|| self.not_as_sealed("a frame cannot be sealed"))?;
        // A frame has at most `LONGEST` bytes.
        let length = frame.len() as u32;
        let mut head = Vec::with_capacity(HEAD + 4);
        head.extend(header(RECEIVED, peer));
        head.extend(length.to_le_bytes());
        let at = self.length + head.len() as u64;
        self.append(&[&head, &sealed], "a frame cannot be kept")?;
        if let Some(link) = self.links.get_mut(usize::from(peer)) {
            link.received.push((at, length));
        }
        Ok(())
    }

    /// Keeps the mark of the next frame to a peer.
    pub(super) fn mark(&mut self, peer: u16, frame: &[u8]) -> Result<(), JournalError> {
        let number = self.marks(peer).len() as u64;
        let mark = self.sealing.mark(peer, number, frame);
        self.append_checked(SENT, peer, &mark, "a frame cannot be kept")?;
        if let Some(link) = self.links.get_mut(usize::from(peer)) {
            link.sent.push(mark);
        }
        Ok(())
    }

    /// Notes that a peer has so many frames for good.
    pub(super) fn note_seen(&mut self, peer: u16, number: u64) -> Result<(), JournalError> {
        let step = "what a peer has cannot be noted";
        self.append_checked(SEEN, peer, &number.to_le_bytes(), step)?;
        if let Some(link) = self.links.get_mut(usize::from(peer)) {
            link.seen = number;
        }
        Ok(())
    }

    fn append_checked(
        &mut self,
        kind: u8,
        peer: u16,
        body: &[u8],
        step: &'static str,
    ) -> Result<(), JournalError> {
        let head = header(kind, peer);
        let check = check_of(&self.sealing, self.length, head, body);
        let entry = [&head[..], body, &check].concat();
        self.append(&[&entry], step)
    }

    fn append(&mut self, parts: &[&[u8]], step: &'static str) -> Result<(), JournalError> {
        let append = || -> std::io::Result<()> {
            let mut file = &*self.file;
            // Over what a write that failed may have left.
            file.seek(SeekFrom::Start(self.length))?;
            parts.iter().try_for_each(|part| file.write_all(part))?;
            if self.is_durable {
                file.sync_data()
            } else {
                Ok(())
            }
        };
        append().map_err(|error| failed(&self.path, step, &error))?;
        self.length += parts.iter().map(|part| part.len() as u64).sum::<u64>();
        Ok(())
    }

    /// A frame from a peer that is here.
    pub(super) fn get(&self, peer: u16, number: u64) -> Result<Vec<u8>, JournalError> {
        let step = "a frame cannot be read";
        let place = usize::try_from(number).ok();
        let place = place.and_then(|place| self.link(peer)?.received.get(place));
        let (at, length) = *place.ok_or_else(|| self.not_as_sealed(step))?;
        let mut sealed = vec![0; SEALED + length as usize];
        let mut file = &*self.file;
        let read = file.seek(SeekFrom::Start(at));
        let read = read.and_then(|_| file.read_exact(&mut sealed));
        read.map_err(|error| failed(&self.path, step, &error))?;
        let way = Way::Received;
        let opened = self.sealing.open(Of::Frame { peer, way, number }, sealed);
        opened.ok_or_else(|| self.not_as_sealed("a frame cannot be opened"))
    }

    fn not_as_sealed(&self, step: &'static str) -> JournalError {
        JournalError::Failed {
            file: self.path.display().to_string(),
            step,
            reason: String::from("it is not as this site sealed it"),
        }
    }
}

/// For each site of a run: how many frames went to it and came from it. Reads no frame, so that anybody
/// may ask at any time.
pub(super) fn counts(path: &Path, sites: u16) -> std::io::Result<Vec<(u64, u64)>> {
    let mut counts = vec![(0, 0); usize::from(sites)];
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(counts),
        file => file?,
    };
    let size = file.metadata()?.len();
    let mut reader = BufReader::new(file);
    let mut at = 0;
    loop {
        let mut head = [0; HEAD + 4];
        let there = fill(&mut reader, &mut head)?;
        let [kind, low, high, length @ ..] = head;
        let peer = usize::from(u16::from_le_bytes([low, high]));
        let whole = match kind {
            RECEIVED => HEAD + 4 + SEALED + u32::from_le_bytes(length) as usize,
            SENT => HEAD + MARK + CHECK,
            _ => HEAD + 8 + CHECK,
        };
        at += whole as u64;
        let Some((sent, received)) = counts.get_mut(peer).filter(|_| at <= size) else {
            return Ok(counts);
        };
        match kind {
            RECEIVED => *received += 1,
            SENT => *sent += 1,
            SEEN => {}
            _ => return Ok(counts),
        }
        reader.seek_relative(whole as i64 - there as i64)?;
    }
}

/// Overwrites a file and removes it; one that is not there is no mistake.
pub(super) fn wipe(path: &Path) -> std::io::Result<()> {
    let mut file = match std::fs::OpenOptions::new().write(true).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    overwrite(&mut file)?;
    std::fs::remove_file(path)
}

/// Overwrites what is in a file, and empties it.
pub(super) fn overwrite(file: &mut File) -> std::io::Result<()> {
    let size = file.metadata()?.len();
    file.rewind()?;
    std::io::copy(&mut std::io::repeat(0).take(size), file)?;
    file.sync_data()?;
    file.set_len(0)
}

/// Opens a file that only its owner may read, and sees that a new one is in its folder for good.
pub(super) fn private(path: &Path) -> std::io::Result<File> {
    let is_new = !path.exists();
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    if let Some(folder) = path.parent().filter(|_| is_new) {
        File::open(folder)?.sync_all()?;
    }
    Ok(file)
}

pub(super) fn failed(path: &Path, step: &'static str, error: &std::io::Error) -> JournalError {
    JournalError::Failed {
        file: path.display().to_string(),
        step,
        reason: error.to_string(),
    }
}

fn header(kind: u8, peer: u16) -> [u8; HEAD] {
    let [low, high] = peer.to_le_bytes();
    [kind, low, high]
}

/// The check of an entry at this place: what a power cut leaves in its stead has another.
fn check_of(sealing: &Sealing, at: u64, head: [u8; HEAD], body: &[u8]) -> [u8; CHECK] {
    let [a, b, c, d, ..] = sealing.check(&[b"entry", &at.to_le_bytes(), &head, body]);
    [a, b, c, d]
}

/// Reads until a buffer is full or the file is at its end; how many bytes came.
fn fill(reader: &mut impl std::io::Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut there = 0;
    while there < buffer.len() {
        match reader.read(&mut buffer[there..]) {
            Ok(0) => break,
            Ok(more) => there += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(there)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
