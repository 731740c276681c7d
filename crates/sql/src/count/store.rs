//! Tables in object stores: S3 and what speaks as it does, Google Cloud Storage, Azure.
//!
//! An address is an object, or what stands before the names of several, which then are as the files of a folder.
//! Heads of objects are read here, and values where they are counted. Credentials and endpoints come from the
//! environment of the program, under the names that the stores' own tools have; no file of ours holds them, and
//! nothing is sent in clear text unless the environment allows it (`AWS_ALLOW_HTTP`).

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use datafusion::execution::context::SessionContext;
use futures_util::future::{BoxFuture, try_join_all};
use hedgerow_data::files::{
    CSV_START, FileError, Format, Head, Part, Parts, format_of, is_address, is_passed_over,
    see_not_kept, see_one_kind,
};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path as Key;
use object_store::{ClientConfigKey, ObjectMeta, ObjectStore, ObjectStoreExt as _, RetryConfig};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::async_reader::MetadataFetch;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataReader;
use url::{Position, Url};

use super::CountError;

/// How often a request is made again, and for how long: a store that is away is told, not waited for.
const RETRIES: usize = 4;
const PATIENCE: Duration = Duration::from_secs(30);
/// A large object of CSV is one answer, which may take so long; Parquet is read in parts.
const ONE_ANSWER: &str = "6 hours";
/// Heads that are read at a time, and how long each may take.
const AT_ONCE: usize = 16;
const A_HEAD: Duration = Duration::from_secs(60);

/// A bucket.
pub(super) struct Store {
    /// Its address, without a path.
    root: Url,
    client: Arc<dyn ObjectStore>,
}

impl Store {
    /// The one bucket in which a table lies.
    pub(super) fn of(paths: &[PathBuf]) -> Result<Self, CountError> {
        let place = |path: &Path| -> Result<Option<String>, CountError> {
            let url = is_address(path).then(|| url(path)).transpose()?;
            Ok(url.map(|url| url[..Position::BeforePath].to_owned()))
        };
        let first = &paths[0];
        let known = place(first)?;
        for path in paths {
            if place(path)? != known {
                return Err(CountError::Places {
                    first: first.display().to_string(),
                    other: path.display().to_string(),
                });
            }
        }
        let mut root = url(first)?;
        root.set_path("");
        let client = client(&root).map_err(|error| CountError::Store {
            address: root.to_string(),
            reason: words(&error),
        })?;
        Ok(Self { root, client })
    }

    /// Makes the bucket known to an engine in this process.
    pub(super) fn register(&self, context: &SessionContext) {
        context.register_object_store(&self.root, Arc::clone(&self.client));
    }

    /// Sees that executors of a stock cluster read such a bucket, with credentials of their own.
    pub(super) fn see_stock(&self) -> Result<(), CountError> {
        match self.root.scheme() {
            "s3" => Ok(()),
            _ => Err(CountError::NotStock {
                address: self.root.to_string(),
            }),
        }
    }

    /// The objects of a table, as their heads say.
    pub(super) async fn parts(
        &self,
        paths: &[PathBuf],
        expected: &[String],
    ) -> Result<Parts, CountError> {
        let mut objects = Vec::new();
        for path in paths {
            objects.extend(within(path, self.objects(path)).await?);
        }
        let mut heads = Vec::with_capacity(objects.len());
        for some in objects.chunks(AT_ONCE) {
            let some: Vec<_> = some
                .iter()
                .map(|object| self.seen(object, expected))
                .collect();
            heads.extend(try_join_all(some).await?);
        }
        Ok(Parts::of_seen(heads.into_iter().map(Ok))?)
    }

    /// An object, or those whose names an address begins, in the order of their names.
    async fn objects(&self, path: &Path) -> Result<Vec<ObjectMeta>, CountError> {
        let url = url(path)?;
        let key = Key::from_url_path(url.path()).map_err(|error| CountError::NoAddress {
            address: path.display().to_string(),
            reason: error.to_string(),
        })?;
        if !url.path().ends_with('/') && !key.as_ref().is_empty() {
            match self.client.head(&key).await {
                Ok(object) => return Ok(vec![object]),
                Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => return Err(failed(path, &error)),
            }
        }
        let listed = self.client.list_with_delimiter(Some(&key)).await;
        let listed = listed.map_err(|error| failed(path, &error))?;
        let inner = listed.common_prefixes.iter().filter_map(Key::filename);
        for name in inner.clone() {
            see_not_kept(name, path)?;
        }
        if let Some(inner) = inner.clone().find(|name| !is_passed_over(name)) {
            return Err(CountError::File(FileError::FolderInFolder {
                folder: path.display().to_string(),
                inner: inner.to_owned(),
            }));
        }
        // An object that has the very name of the folder says no more than that the folder is there.
        let is_file = |object: &ObjectMeta| {
            let name = object.location.filename().unwrap_or_default();
            object.location != key && !is_passed_over(name)
        };
        let mut objects: Vec<ObjectMeta> = listed.objects.into_iter().filter(is_file).collect();
        objects.sort_by(|one, other| one.location.cmp(&other.location));
        let files: Vec<PathBuf> = objects.iter().map(|object| self.file(object)).collect();
        see_one_kind(&files, path)?;
        Ok(objects)
    }

    /// An object as its head says, if the store answers in time.
    async fn seen(&self, object: &ObjectMeta, expected: &[String]) -> Result<Part, CountError> {
        let file = self.file(object);
        within(&file, self.part(object, &file, expected)).await
    }

    /// An object as its head says.
    async fn part(
        &self,
        object: &ObjectMeta,
        file: &Path,
        expected: &[String],
    ) -> Result<Part, CountError> {
        let unreadable = |reason: String| FileError::Unreadable {
            file: file.display().to_string(),
            reason,
        };
        let (head, records) = match format_of(file)? {
            Format::Excel => (Head::Excel, None),
            Format::Csv(compression) => {
                let start = match object.size.min(CSV_START) {
                    0 => Default::default(),
                    end => {
                        let start = self.client.get_range(&object.location, 0..end).await;
                        start.map_err(|error| failed(file, &error))?
                    }
                };
                let head = Head::of_csv(file, &start, compression, expected)?;
                (head, None)
            }
            Format::Parquet => {
                let footer = ParquetMetaDataReader::new()
                    .load_and_finish(Ranges(&self.client, &object.location), object.size)
                    .await;
                let footer = footer.map_err(|error| unreadable(error.to_string()))?;
                let options = ArrowReaderOptions::default();
                let metadata = ArrowReaderMetadata::try_new(Arc::new(footer), options);
                let metadata = metadata.map_err(|error| unreadable(error.to_string()))?;
                let records = metadata.metadata().file_metadata().num_rows();
                let records =
                    u64::try_from(records).map_err(|error| unreadable(error.to_string()))?;
                (Head::Parquet(metadata.schema().clone()), Some(records))
            }
        };
        Ok(Part {
            file: file.to_owned(),
            head,
            bytes: object.size,
            records,
        })
    }

    /// The address of an object, its name as it stands.
    fn file(&self, object: &ObjectMeta) -> PathBuf {
        let root = &self.root[..Position::BeforePath];
        PathBuf::from(format!("{root}/{}", encoded(object.location.as_ref())))
    }
}

/// Parts of an object, for whoever reads its footer.
struct Ranges<'a>(&'a Arc<dyn ObjectStore>, &'a Key);

impl MetadataFetch for Ranges<'_> {
    fn fetch(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes, ParquetError>> {
        Box::pin(async move {
            let bytes = self.0.get_range(self.1, range).await;
            bytes.map_err(|error| ParquetError::External(Box::new(error)))
        })
    }
}

/// A name as it stands in an address.
fn encoded(name: &str) -> String {
    name.replace('%', "%25")
        .replace('?', "%3F")
        .replace('#', "%23")
}

/// The address of an object.
pub(super) fn url(path: &Path) -> Result<Url, CountError> {
    let wrong = |reason: String| CountError::NoAddress {
        address: path.display().to_string(),
        reason,
    };
    let url = path.to_str().unwrap_or_default();
    let url = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
    if url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        // What stands there could be a secret.
        return Err(CountError::NoAddress {
            address: url[..Position::BeforeUsername].to_owned(),
            reason: String::from("an address has no password, `?` or `#`"),
        });
    }
    match url.host_str() {
        Some(_) => Ok(url),
        None => Err(wrong(String::from("it names no bucket"))),
    }
}

/// A bucket's client, with what the environment says of its store.
fn client(root: &Url) -> object_store::Result<Arc<dyn ObjectStore>> {
    let retry = RetryConfig {
        max_retries: RETRIES,
        retry_timeout: PATIENCE,
        ..RetryConfig::default()
    };
    let timeout = ClientConfigKey::Timeout;
    Ok(match root.scheme() {
        "s3" => {
            let builder = AmazonS3Builder::from_env().with_url(root.as_str());
            let builder = builder.with_config(AmazonS3ConfigKey::Client(timeout), ONE_ANSWER);
            Arc::new(builder.with_retry(retry).build()?)
        }
        "gs" => {
            let builder = GoogleCloudStorageBuilder::from_env().with_url(root.as_str());
            let builder = builder.with_config(GoogleConfigKey::Client(timeout), ONE_ANSWER);
            Arc::new(builder.with_retry(retry).build()?)
        }
        _ => {
            let builder = MicrosoftAzureBuilder::from_env().with_url(root.as_str());
            let builder = builder.with_config(AzureConfigKey::Client(timeout), ONE_ANSWER);
            Arc::new(builder.with_retry(retry).build()?)
        }
    })
}

/// What a store answers in time.
async fn within<T>(
    path: &Path,
    answer: impl Future<Output = Result<T, CountError>>,
) -> Result<T, CountError> {
    let answer = tokio::time::timeout(A_HEAD, answer).await;
    answer.unwrap_or_else(|_| {
        Err(CountError::Store {
            address: path.display().to_string(),
            reason: format!("it says nothing for {} s", A_HEAD.as_secs()),
        })
    })
}

fn failed(path: &Path, error: &object_store::Error) -> CountError {
    CountError::Store {
        address: path.display().to_string(),
        reason: words(error),
    }
}

/// What a store says, in one line.
pub(super) fn words(error: &object_store::Error) -> String {
    let text = error.to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}
