//! Where a site's own front ends ask: a Unix socket in the data folder, which only its owner may use.
//!
//! A front end writes a run and a question, and reads the answer or the reason why there is none, in words. A
//! front end that hangs up ends its question at all sites.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::{LONGEST_QUESTION, Questions};
use crate::agreement::StudyHash;

/// The name of the socket in a data folder.
pub const SOCKET: &str = "questions.sock";
/// Front ends at a time.
const MOST: usize = 128;
/// A front end that has begun to write a question must have written it within this time.
const WRITING: Duration = Duration::from_secs(10);
/// How long a front end that is turned away may take to hear it.
const SHORT: Duration = Duration::from_millis(100);
/// The longest answer.
const LONGEST_ANSWER: u64 = 1 << 32;

/// Why this site's node gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeskError {
    /// No node of this site waits, or none that answers questions.
    #[error(
        "{}: this site's node cannot be asked: {reason}\nhint: start it with hedgerow node --site …; it answers questions where the study has [query]",
        socket.display()
    )]
    NoNode {
        /// The socket.
        socket: PathBuf,
        /// What the operating system said.
        reason: std::io::Error,
    },
    /// The node serves another study.
    #[error(
        "this site's node serves another version of the study\nhint: send the node SIGHUP, or start it again"
    )]
    OtherStudy,
    /// The node says why there is no answer.
    #[error("{words}")]
    Unanswered {
        /// The reason.
        words: String,
        /// Whether another site, or the line to it, is the reason.
        is_of_peer: bool,
    },
}

/// What the node answers with.
const ANSWER: u8 = 0;
const OWN: u8 = 1;
const PEER: u8 = 2;
const OTHER_STUDY: u8 = 3;

/// Makes the socket; a socket that an earlier node left behind gives way.
pub(super) fn listen(data: &Path) -> std::io::Result<UnixListener> {
    let socket = data.join(SOCKET);
    match std::os::unix::net::UnixStream::connect(&socket) {
        Ok(_) => return Err(std::io::ErrorKind::AddrInUse.into()),
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(&socket)?;
        }
        Err(_) => {}
    }
    // Between these two steps others may connect, and are turned away by who they are: see `is_owner`.
    let listener = UnixListener::bind(&socket)?;
    let owner_only = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&socket, owner_only)?;
    Ok(listener)
}

impl Questions {
    /// Answers front ends, as long as the node lasts.
    pub(super) async fn attend_desk(self: Arc<Self>, listener: UnixListener) {
        let places = Arc::new(Semaphore::new(MOST));
        loop {
            let Ok((mut stream, _)) = listener.accept().await else {
                sleep(Duration::from_millis(10)).await;
                continue;
            };
            if !is_owner(&stream) {
                continue;
            }
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                let words = format!(
                    "this site's node has {MOST} front ends, and takes no more\nhint: end one of them"
                );
                let tell = async {
                    let length = stream.read_u32_le().await? as usize;
                    read_question(&mut stream, length).await?;
                    answer(&mut stream, OWN, words.as_bytes()).await
                };
                // Whoever does not ask at once is not told.
                let _ = timeout(SHORT, tell).await;
                continue;
            };
            let this = Arc::clone(&self);
            self.spawn(async move {
                let _place = place;
                // A front end that hangs up, or writes no question, is of no more interest.
                let _ = this.attend_front_end(stream).await;
            });
        }
    }

    async fn attend_front_end(self: &Arc<Self>, mut stream: UnixStream) -> std::io::Result<()> {
        loop {
            let length = stream.read_u32_le().await? as usize;
            let asked = timeout(WRITING, read_question(&mut stream, length));
            let (study, run, question) = asked.await??;
            let (kind, answer) = if study == self.study.0 {
                let mut beyond = [0];
                tokio::select! {
                    answer = self.ask(run, question) => match answer {
                        Ok(answer) => (ANSWER, answer),
                        Err(error) => {
                            let kind = if error.is_of_peer() { PEER } else { OWN };
                            (kind, error.to_string().into_bytes())
                        }
                    },
                    // One question at a time: whatever comes now is the end.
                    _ = stream.read(&mut beyond) => return Ok(()),
                }
            } else {
                (OTHER_STUDY, Vec::new())
            };
            self::answer(&mut stream, kind, &answer).await?;
        }
    }
}

async fn answer(stream: &mut UnixStream, kind: u8, bytes: &[u8]) -> std::io::Result<()> {
    stream.write_u8(kind).await?;
    stream.write_u64_le(bytes.len() as u64).await?;
    stream.write_all(bytes).await?;
    stream.flush().await
}

async fn read_question(
    stream: &mut UnixStream,
    length: usize,
) -> std::io::Result<([u8; 32], u32, Vec<u8>)> {
    // Longer questions are refused by name, so there is room for some more.
    if length > 2 * LONGEST_QUESTION {
        return Err(std::io::ErrorKind::InvalidData.into());
    }
    let mut study = [0; 32];
    stream.read_exact(&mut study).await?;
    let run = stream.read_u32_le().await?;
    let mut question = vec![0; length];
    stream.read_exact(&mut question).await?;
    Ok((study, run, question))
}

/// Whether the process at the other end is the owner's.
fn is_owner(stream: &UnixStream) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(own) = std::fs::metadata("/proc/self") else {
        // Where there is no such folder, the mode of the socket stands alone.
        return true;
    };
    stream
        .peer_cred()
        .is_ok_and(|other| other.uid() == own.uid() || other.uid() == 0)
}

/// A front end's line to its own node.
pub struct Desk {
    stream: UnixStream,
    study: StudyHash,
}

impl Desk {
    /// Finds the node whose data folder this is.
    pub async fn find(data: &Path, study: StudyHash) -> Result<Self, DeskError> {
        let socket = data.join(SOCKET);
        let stream = UnixStream::connect(&socket).await;
        let stream = stream.map_err(|reason| DeskError::NoNode { socket, reason })?;
        Ok(Self { stream, study })
    }

    /// Asks a question about the table of a run, and waits for the answer. If the future is dropped, drop the
    /// desk too: the question ends at all sites when the node hears that.
    pub async fn ask(&mut self, run: u32, question: &[u8]) -> Result<Vec<u8>, DeskError> {
        let (kind, answer) = self.exchange(run, question).await.map_err(|error| {
            let words = format!("this site's node hung up: {error}\nhint: hedgerow status shows whether it is at work");
            DeskError::Unanswered {
                words,
                is_of_peer: false,
            }
        })?;
        match kind {
            ANSWER => Ok(answer),
            OTHER_STUDY => Err(DeskError::OtherStudy),
            kind => Err(DeskError::Unanswered {
                words: String::from_utf8_lossy(&answer).into_owned(),
                is_of_peer: kind == PEER,
            }),
        }
    }

    async fn exchange(&mut self, run: u32, question: &[u8]) -> std::io::Result<(u8, Vec<u8>)> {
        let length = u32::try_from(question.len()).map_err(std::io::Error::other)?;
        let mut request = Vec::with_capacity(40 + question.len());
        request.extend_from_slice(&length.to_le_bytes());
        request.extend_from_slice(&self.study.0);
        request.extend_from_slice(&run.to_le_bytes());
        request.extend_from_slice(question);
        self.stream.write_all(&request).await?;
        self.stream.flush().await?;
        let kind = self.stream.read_u8().await?;
        let length = self.stream.read_u64_le().await?;
        if length > LONGEST_ANSWER {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        let mut answer = Vec::new();
        let stream = &mut self.stream;
        stream.take(length).read_to_end(&mut answer).await?;
        if answer.len() as u64 != length {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok((kind, answer))
    }
}
