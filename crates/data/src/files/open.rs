//! Opening and creating files: format and compression by extension, progress, atomic writes.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::FileError;

/// Told how many bytes of the file have been read, or rows written, since the last call.
pub trait Progress: Sync {
    /// Hears that this much more is done.
    fn advance(&self, amount: u64);
}

/// Nobody is watching.
impl Progress for () {
    fn advance(&self, _: u64) {}
}

/// The format that a file's extension names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Separated values.
    Csv(Compression),
    /// Apache Parquet.
    Parquet,
    /// Excel's `.xlsx`, which is read and never written.
    Excel,
}

/// How a CSV file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
}

/// What the addresses of objects begin with: S3, Google Cloud Storage, and Azure twice.
const STORES: [&str; 4] = ["s3://", "gs://", "az://", "abfss://"];

/// Whether a path is the address of an object store, which engines read and nothing else does.
pub fn is_address(path: &Path) -> bool {
    let text = path.to_str().unwrap_or_default();
    STORES.iter().any(|scheme| text.starts_with(scheme))
}

/// The format of a file by its name.
pub fn format_of(path: &Path) -> Result<Format, FileError> {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    let (stem, compression) = if let Some(stem) = name.strip_suffix(".gz") {
        (stem, Compression::Gzip)
    } else if let Some(stem) = name.strip_suffix(".zst") {
        (stem, Compression::Zstd)
    } else {
        (name.as_str(), Compression::None)
    };
    let is_csv = [".csv", ".tsv", ".txt"]
        .iter()
        .any(|end| stem.ends_with(end));
    if is_csv {
        Ok(Format::Csv(compression))
    } else if name.ends_with(".parquet") {
        Ok(Format::Parquet)
    } else if name.ends_with(".xlsx") {
        Ok(Format::Excel)
    } else {
        Err(FileError::UnknownFormat {
            file: path.display().to_string(),
        })
    }
}

/// Opens a file for reading, decompressed.
pub(super) fn open<'a>(
    path: &Path,
    compression: Compression,
    progress: &'a dyn Progress,
) -> Result<Box<dyn Read + 'a>, FileError> {
    let unreadable = |error: io::Error| FileError::Unreadable {
        file: path.display().to_string(),
        reason: error.to_string(),
    };
    let file = File::open(path).map_err(unreadable)?;
    decompressed(Counted { file, progress }, compression).map_err(unreadable)
}

/// What bytes are once decompressed.
pub(super) fn decompressed<'a>(
    bytes: impl Read + 'a,
    compression: Compression,
) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match compression {
        Compression::None => Box::new(bytes),
        Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(io::BufReader::new(bytes))),
        Compression::Zstd => Box::new(zstd::Decoder::new(bytes)?),
    })
}

struct Counted<'a> {
    file: File,
    progress: &'a dyn Progress,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}

/// A file that exists only when it is complete: written under a temporary name beside its target,
/// renamed by [`OutputFile::finish`], removed if dropped before.
pub struct OutputFile {
    path: PathBuf,
    writer: Writer,
}

enum Writer {
    Plain(BufWriter<tempfile::NamedTempFile>),
    Gzip(Box<flate2::write::GzEncoder<BufWriter<tempfile::NamedTempFile>>>),
    Zstd(Box<zstd::Encoder<'static, BufWriter<tempfile::NamedTempFile>>>),
}

impl OutputFile {
    /// Starts a file, compressed as its name says. Folders are not made.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        // As any program that creates a file: readable as the person's umask says.
        Self::try_create(path, 0o666).map_err(|error| unwritable(path, &error))
    }

    /// Starts a file that its owner alone may read.
    pub fn create_private(path: &Path) -> Result<Self, FileError> {
        Self::try_create(path, 0o600).map_err(|error| unwritable(path, &error))
    }

    #[cfg_attr(not(unix), allow(unused_variables))]
    fn try_create(path: &Path, mode: u32) -> io::Result<Self> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".hedgerow-").suffix(".tmp");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(mode));
        }
        let file = builder.tempfile_in(folder).map_err(without_path)?;
        let file = BufWriter::with_capacity(1 << 16, file);
        let writer = match format_of(path) {
            Ok(Format::Csv(Compression::Gzip)) => Writer::Gzip(Box::new(
                flate2::write::GzEncoder::new(file, flate2::Compression::default()),
            )),
            Ok(Format::Csv(Compression::Zstd)) => {
                Writer::Zstd(Box::new(zstd::Encoder::new(file, 0)?))
            }
            _ => Writer::Plain(file),
        };
        Ok(Self {
            path: path.to_owned(),
            writer,
        })
    }

    /// Completes the file under its own name.
    pub fn finish(self) -> Result<(), FileError> {
        let path = self.path;
        let finish = || -> io::Result<()> {
            let buffered = match self.writer {
                Writer::Plain(writer) => writer,
                Writer::Gzip(writer) => writer.finish()?,
                Writer::Zstd(writer) => writer.finish()?,
            };
            let file = buffered
                .into_inner()
                .map_err(io::IntoInnerError::into_error)?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(())
        };
        finish().map_err(|error| unwritable(&path, &without_path(error)))
    }

    /// The name that the file will have when complete.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.writer {
            Writer::Plain(writer) => writer.write(bytes),
            Writer::Gzip(writer) => writer.write(bytes),
            Writer::Zstd(writer) => writer.write(bytes),
        };
        written.map_err(without_path)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.writer {
            Writer::Plain(writer) => writer.flush(),
            Writer::Gzip(writer) => writer.flush(),
            Writer::Zstd(writer) => writer.flush(),
        };
        flushed.map_err(without_path)
    }
}

/// An error of a temporary file without that file's name, which says nothing to anyone.
fn without_path(error: io::Error) -> io::Error {
    // The library only adds the file's name to the error, and offers no other way to the error below.
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason.to_owned()),
        None => error,
    }
}

pub(super) fn unwritable(path: &Path, error: &dyn std::fmt::Display) -> FileError {
    FileError::Unwritable {
        file: path.display().to_string(),
        reason: error.to_string(),
    }
}
