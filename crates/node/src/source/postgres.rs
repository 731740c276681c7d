//! Rows from PostgreSQL: one consistent snapshot, streamed, with the columns' types checked first.
//!
//! Everything is read in one `REPEATABLE READ, READ ONLY` transaction. Names are quoted, never pasted;
//! only the study's columns are asked for, so undeclared columns stay in the database. Values come as
//! text in a fixed form and in a fixed order, so that reading again gives the same table. With `count = true` the
//! same values are grouped by in the same transaction, and each combination comes once with its number of records.

use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use hedgerow_data::document::{DocumentError, Section};
use hedgerow_data::files::{FileError, RECORDS, TableBuilder};
use hedgerow_data::{Domain, Role, Schema, Table};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tokio_postgres::types::{Kind, Type};
use tokio_postgres::{Client, IsolationLevel, NoTls, Transaction};
use tokio_postgres_rustls::MakeRustlsConnect;
use zeroize::Zeroizing;

use crate::identity::readable_by_others;

/// The value of `tls` for a connection to another machine without encryption.
const OFF: &str = "off";
/// The step of [`PostgresError::Refused`] at which nobody answers.
const UNREACHABLE: &str = "cannot be reached";
/// A look at a database takes at most this long.
const CHECKING: Duration = Duration::from_secs(30);

/// A database and what to read from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Postgres {
    /// A name, an address, or the folder of a socket.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The database.
    pub database: String,
    /// Whose rights are used.
    pub user: String,
    /// Where the password is.
    pub password: Option<Password>,
    /// The authorities that the server's certificate must come from; `None` is a connection without
    /// encryption, which a site that reads from another machine must ask for.
    pub tls: Option<PathBuf>,
    /// What is read.
    pub rows: Rows,
    /// Whether the database counts: each combination of values comes once, with its number of records.
    pub count: bool,
}

/// Where a password lies; a password never stands in `site.toml` itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Password {
    /// The password lies in a file.
    File(PathBuf),
    /// The password lies in an environment variable.
    Variable(String),
}

/// What is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// A table or view, by the parts of its name.
    Table(Vec<String>),
    /// The rows that a query returns.
    Query(String),
}

/// Why a database could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostgresError {
    /// The server cannot be reached, or refuses.
    #[error(
        "{at}: {step}: {reason}\nhint: see that the server runs, and that [source.postgres] says what psql would take"
    )]
    Refused {
        /// The database.
        at: String,
        /// The step that failed.
        step: &'static str,
        /// What the server or the line said.
        reason: String,
    },
    /// The password cannot be read from its file or variable.
    #[error(
        "{at}: the password cannot be had from {from}: {reason}\nhint: password_file or password_variable of [source.postgres] says where it is"
    )]
    Password {
        /// The database.
        at: String,
        /// The file or variable.
        from: String,
        /// What is wrong with the password.
        reason: String,
    },
    /// A column whose server type the study's attribute cannot have.
    #[error(
        "{at}: column `{column}` has type {found}, expected {expected}\nhint: cast it in a query: query = \"select …, {column}::text from …\""
    )]
    Type {
        /// The database.
        at: String,
        /// The column.
        column: String,
        /// The column's type at the server.
        found: String,
        /// The type that the study's domain needs.
        expected: &'static str,
    },
    /// A column is missing, or a value lies outside its domain.
    #[error(transparent)]
    Value(#[from] FileError),
}

impl PostgresError {
    /// The step of [`PostgresError::Refused`] at which a server may speak of values.
    pub const ROWS: &'static str = "the rows cannot be read";
}

impl Postgres {
    pub(super) fn read(section: &Section<'_>, folder: &Path) -> Result<Self, DocumentError> {
        let port = match section.integer("port")? {
            None => 5432,
            Some(port) => u16::try_from(port).map_err(|_| {
                section.wrong(
                    "port",
                    format!("`source.postgres.port` is {port}, expected 1 to 65535"),
                )
            })?,
        };
        let password = match (
            section.string("password_file")?,
            section.string("password_variable")?,
        ) {
            (None, None) => None,
            (Some(file), None) => Some(Password::File(folder.join(file))),
            (None, Some(variable)) => Some(Password::Variable(variable)),
            (Some(_), Some(_)) => {
                return Err(section.wrong(
                    "password_file",
                    "the password comes from a file or from a variable\nhint: keep one",
                ));
            }
        };
        let rows = match (section.string("table")?, section.string("query")?) {
            (Some(table), None) => Rows::Table(table.split('.').map(str::to_owned).collect()),
            (None, Some(query)) => Rows::Query(query),
            (Some(_), Some(_)) => {
                return Err(section.wrong(
                    "table",
                    "`source.postgres.table` and `source.postgres.query` both say what to read\nhint: keep one",
                ));
            }
            (None, None) => return Err(section.missing("table")),
        };
        let host = section.string("host")?;
        let host = host.unwrap_or_else(|| String::from("127.0.0.1"));
        let tls = match section.string("tls")?.as_deref() {
            Some(OFF) => None,
            Some(file) => Some(folder.join(file)),
            None if is_here(&host) => None,
            None => {
                let message = format!(
                    "`source.postgres.host` is `{host}`, another machine, and without `tls` rows would come from there in the clear\nhint: name the authorities that vouch for the server, tls = \"authorities.pem\"; or say tls = \"{OFF}\""
                );
                return Err(section.wrong("host", message));
            }
        };
        let database = Self {
            host,
            port,
            database: section.required_string("database")?,
            user: section.required_string("user")?,
            password,
            tls,
            rows,
            count: section.boolean("count")?.unwrap_or(false),
        };
        section.finish()?;
        Ok(database)
    }

    /// Sees that rows can be read: the server answers in time, lets this user read, and has the study's
    /// columns with types that they can have.
    pub async fn check(&self, schema: &Arc<Schema>) -> Result<(), PostgresError> {
        let look = async {
            let mut client = self.connect().await?;
            let transaction = self.snapshot(&mut client).await?;
            let wanted = self.columns(&transaction, schema).await?;
            let (names, _): (Vec<String>, Vec<Type>) = wanted.into_iter().unzip();
            self.builder(schema, names)?;
            // Rights are looked at when a statement is executed, though it is to give nothing.
            let nothing = format!("SELECT 1 FROM {} LIMIT 0", self.from());
            let tried = transaction.query(&nothing, &[]).await;
            tried.map_err(|error| self.refused(PostgresError::ROWS, &error))?;
            Ok(())
        };
        let silent = |_| {
            Err(PostgresError::Refused {
                at: self.to_string(),
                step: UNREACHABLE,
                reason: format!("it says nothing for {} s", CHECKING.as_secs()),
            })
        };
        let looked = tokio::time::timeout(CHECKING, look).await;
        looked.unwrap_or_else(silent)
    }

    /// Reads all rows under one snapshot.
    pub async fn table(&self, schema: &Arc<Schema>) -> Result<Table, PostgresError> {
        let mut client = self.connect().await?;
        let transaction = self.snapshot(&mut client).await?;
        let wanted = self.columns(&transaction, schema).await?;
        let from = self.from();
        let (wanted, kinds): (Vec<String>, Vec<Type>) = wanted.into_iter().unzip();
        let mut builder = self.builder(schema, wanted.clone())?;
        let columns = wanted.iter().zip(&kinds).map(|(name, kind)| match kind {
            &Type::TIMESTAMP => format!("{}::date::text COLLATE \"C\"", quoted(name)),
            _ => format!("{}::text COLLATE \"C\"", quoted(name)),
        });
        let mut columns: Vec<String> = columns.collect();
        let places: Vec<String> = (1..=wanted.len()).map(|place| place.to_string()).collect();
        // Counts come in any order: the table puts them in its own.
        let how = match self.count {
            true => "GROUP BY",
            false => "ORDER BY",
        };
        columns.extend(self.count.then(|| String::from("count(*)::text")));
        let select = format!(
            "SELECT {} FROM {from} {how} {}",
            columns.join(", "),
            places.join(", ")
        );
        let unreadable = |error: tokio_postgres::Error| self.refused(PostgresError::ROWS, &error);
        let none: [&str; 0] = [];
        let rows = transaction
            .query_raw(&select, none)
            .await
            .map_err(unreadable)?;
        let mut rows = pin!(rows);
        while let Some(row) = rows.try_next().await.map_err(unreadable)? {
            for column in 0..row.len() {
                let value: Option<&str> = row.try_get(column).map_err(unreadable)?;
                let value = value.map(str::as_bytes);
                match kinds.get(column) {
                    // Days come as days, whatever format the study says that text has.
                    Some(&(Type::DATE | Type::TIMESTAMP)) => builder.typed(column, value)?,
                    _ => builder.cell(column, value)?,
                }
            }
        }
        Ok(builder.finish()?)
    }

    /// The table that rows of these columns become.
    fn builder(
        &self,
        schema: &Arc<Schema>,
        mut names: Vec<String>,
    ) -> Result<TableBuilder, FileError> {
        match self.count {
            false => TableBuilder::new(&self.to_string(), schema, names),
            true => {
                names.push(RECORDS.to_owned());
                TableBuilder::counted(&self.to_string(), schema, names)
            }
        }
    }

    /// One consistent and read-only view of the database.
    async fn snapshot<'c>(&self, client: &'c mut Client) -> Result<Transaction<'c>, PostgresError> {
        let transaction = client
            .build_transaction()
            .isolation_level(IsolationLevel::RepeatableRead)
            .read_only(true)
            .start()
            .await
            .map_err(|error| self.refused("no snapshot", &error))?;
        // The form of a date must not hang on the server's settings.
        transaction
            .batch_execute("SET LOCAL datestyle = 'ISO, YMD'")
            .await
            .map_err(|error| self.refused("no snapshot", &error))?;
        Ok(transaction)
    }

    /// The study's columns that the database has, with their types, in the study's order, so that the order of
    /// rows depends on nothing else.
    async fn columns(
        &self,
        transaction: &Transaction<'_>,
        schema: &Schema,
    ) -> Result<Vec<(String, Type)>, PostgresError> {
        let whole = format!("SELECT * FROM {}", self.from());
        let shape = transaction
            .prepare(&whole)
            .await
            .map_err(|error| self.refused(PostgresError::ROWS, &error))?;
        let attributes = schema.attributes();
        let mut wanted = Vec::new();
        for column in shape.columns() {
            if let Some(position) = schema.position(column.name())
                && !(self.count && attributes[position].role == Role::Identifier)
            {
                self.check_type(column.name(), column.type_(), &attributes[position].domain)?;
                wanted.push((column.name().to_owned(), column.type_().clone()));
            }
        }
        wanted.sort_by_key(|(name, _)| schema.position(name));
        Ok(wanted)
    }

    /// The text after FROM.
    fn from(&self) -> String {
        match &self.rows {
            Rows::Table(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| quoted(part)).collect();
                parts.join(".")
            }
            // A prepared statement is one statement, so nothing can follow the query; the line
            // end closes a comment in its last line.
            Rows::Query(query) => {
                let query = query.trim_end().trim_end_matches(';');
                format!("(\n{query}\n) AS hedgerow_rows")
            }
        }
    }

    async fn connect(&self) -> Result<Client, PostgresError> {
        let mut config = tokio_postgres::Config::new();
        config
            .host(&self.host)
            .port(self.port)
            .dbname(&self.database)
            .user(&self.user)
            .application_name("hedgerow")
            .connect_timeout(Duration::from_secs(20));
        if let Some(password) = self.password()? {
            config.password(password.as_bytes());
        }
        if let Some(authorities) = &self.tls {
            config.ssl_mode(tokio_postgres::config::SslMode::Require);
            let tls = MakeRustlsConnect::new(self.trusting(authorities)?);
            let (client, connection) = config
                .connect(tls)
                .await
                .map_err(|error| self.refused(UNREACHABLE, &error))?;
            // The connection's task ends by itself when the client is dropped; the client reports its
            // errors.
            tokio::spawn(connection);
            return Ok(client);
        }
        config.ssl_mode(tokio_postgres::config::SslMode::Disable);
        let (client, connection) = config
            .connect(NoTls)
            .await
            .map_err(|error| self.refused(UNREACHABLE, &error))?;
        tokio::spawn(connection);
        Ok(client)
    }

    fn trusting(&self, authorities: &Path) -> Result<rustls::ClientConfig, PostgresError> {
        let refused = |reason: String| PostgresError::Refused {
            at: self.to_string(),
            step: "TLS",
            reason,
        };
        let wrong = |error: &dyn fmt::Display| {
            refused(format!(
                "{} holds no certificates of authorities: {error}",
                authorities.display()
            ))
        };
        let mut roots = rustls::RootCertStore::empty();
        let found = CertificateDer::pem_file_iter(authorities).map_err(|error| wrong(&error))?;
        for certificate in found {
            let certificate = certificate.map_err(|error| wrong(&error))?;
            roots.add(certificate).map_err(|error| wrong(&error))?;
        }
        if roots.is_empty() {
            return Err(wrong(&"it is empty"));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| refused(error.to_string()))?;
        Ok(builder.with_root_certificates(roots).with_no_client_auth())
    }

    fn password(&self) -> Result<Option<Zeroizing<String>>, PostgresError> {
        let failed = |from: String, reason: String| PostgresError::Password {
            at: self.to_string(),
            from,
            reason,
        };
        match &self.password {
            None => Ok(None),
            Some(Password::Variable(name)) => match std::env::var(name) {
                Ok(password) => Ok(Some(Zeroizing::new(password))),
                Err(error) => Err(failed(
                    format!("the environment variable `{name}`"),
                    error.to_string(),
                )),
            },
            Some(Password::File(path)) => {
                let from = || path.display().to_string();
                let metadata =
                    std::fs::metadata(path).map_err(|error| failed(from(), error.to_string()))?;
                if let Some(mode) = readable_by_others(&metadata) {
                    let reason = format!(
                        "others than its owner may read it (mode {mode:o})\nhint: chmod 600 {}",
                        from()
                    );
                    return Err(failed(from(), reason));
                }
                let text = std::fs::read_to_string(path)
                    .map_err(|error| failed(from(), error.to_string()))?;
                let text = Zeroizing::new(text);
                let line = text.trim_end_matches(['\n', '\r']);
                Ok(Some(Zeroizing::new(line.to_owned())))
            }
        }
    }

    /// Whether values of a server type can be values of a domain.
    fn check_type(&self, column: &str, found: &Type, domain: &Domain) -> Result<(), PostgresError> {
        let is_text = matches!(
            *found,
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::CHAR
        ) || matches!(found.kind(), Kind::Enum(_));
        let is_whole = matches!(*found, Type::INT2 | Type::INT4 | Type::INT8);
        let (fits, expected) = match domain {
            Domain::Integer(_) => (is_whole || is_text, "whole numbers or text"),
            Domain::Decimal(_) => (
                is_whole
                    || is_text
                    || matches!(*found, Type::NUMERIC | Type::FLOAT4 | Type::FLOAT8),
                "numbers or text",
            ),
            Domain::Date(_) => (
                matches!(*found, Type::DATE | Type::TIMESTAMP) || is_text,
                "dates, timestamps without time zone or text",
            ),
            _ => (
                is_text || is_whole || matches!(*found, Type::BOOL | Type::DATE | Type::UUID),
                "text, whole numbers, booleans, dates or identifiers",
            ),
        };
        if fits {
            return Ok(());
        }
        Err(PostgresError::Type {
            at: self.to_string(),
            column: column.to_owned(),
            found: found.name().to_owned(),
            expected,
        })
    }

    fn refused(&self, step: &'static str, error: &tokio_postgres::Error) -> PostgresError {
        let reason = match error.as_db_error() {
            Some(error) => error.message().to_owned(),
            None => {
                let source = std::error::Error::source(error);
                source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
            }
        };
        PostgresError::Refused {
            at: self.to_string(),
            step,
            reason,
        }
    }
}

/// The database and what is read from it, as messages name them.
impl fmt::Display for Postgres {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "postgres {}:{}/{}",
            self.host, self.port, self.database
        )?;
        match &self.rows {
            Rows::Table(parts) => write!(formatter, " {}", parts.join(".")),
            Rows::Query(_) => formatter.write_str(" query"),
        }
    }
}

/// Whether a host is this machine: a socket in a folder, or loopback.
fn is_here(host: &str) -> bool {
    let is_loopback = |address: std::net::IpAddr| address.is_loopback();
    host.starts_with('/') || host == "localhost" || host.parse().is_ok_and(is_loopback)
}

/// A name quoted for SQL, whatever characters it has.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
