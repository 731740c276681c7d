//! A private PostgreSQL for each hospital of a demo, where the programs are installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hedgerow::data::{Domain, Schema};

use super::hospitals::{Hospital, free_addresses, unwritable};
use super::processes::Child;
use crate::error::{CliError, DemoError};

/// A server must answer within this time.
const STARTED: Duration = Duration::from_secs(60);

/// Makes a cluster and serves it until stdin ends.
const SERVE: &str = r#"
"$1/initdb" -D "$2" --username=hedgerow --auth=trust --no-sync --no-locale --encoding=UTF8 || exit 1
"$1/postgres" -D "$2" -p "$3" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off </dev/null &
server=$!
trap '' INT TERM
read -r nothing
kill -INT "$server"
wait "$server"
"#;

/// Where PostgreSQL's programs are, and as whom they run.
pub(super) struct Programs {
    folder: PathBuf,
    /// The user that PostgreSQL runs as where this process is root, since PostgreSQL refuses to run as
    /// root.
    user: Option<u32>,
}

impl Programs {
    /// Looks for PostgreSQL's programs in PATH and where Debian puts them.
    pub(super) fn find() -> Result<Self, String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let debian = std::fs::read_dir("/usr/lib/postgresql")
            .into_iter()
            .flatten();
        let debian = debian.filter_map(|version| Some(version.ok()?.path().join("bin")));
        let has_all = |folder: &PathBuf| {
            let mut programs = ["initdb", "postgres", "psql"].iter();
            programs.all(|program| folder.join(program).exists())
        };
        let folder = std::env::split_paths(&path)
            .chain(debian)
            .find(has_all)
            .ok_or("initdb, postgres and psql are neither in PATH nor in /usr/lib/postgresql")?;
        let user = match user_id(&[]) {
            Some(0) => Some(user_id(&["postgres"]).ok_or(
                "it refuses to run as root, and there is no user `postgres` to run it as",
            )?),
            _ => None,
        };
        Ok(Self { folder, user })
    }

    /// Starts a hospital's server with its rows, and writes the server into the site's file as the
    /// source.
    pub(super) async fn serve(
        &self,
        hospital: &Hospital,
        schema: &Schema,
    ) -> Result<Child, CliError> {
        let port = free_addresses(1)?[0].port();
        let cluster = hospital.folder.join("postgres");
        std::fs::create_dir(&cluster).map_err(|error| unwritable(&cluster, &error))?;
        if let Some(user) = self.user {
            std::os::unix::fs::chown(&cluster, Some(user), None)
                .map_err(|error| unwritable(&cluster, &error))?;
            // PostgreSQL's user may pass through these folders, and read nothing in them.
            for folder in [Some(hospital.folder.as_path()), hospital.folder.parent()] {
                let passable = std::os::unix::fs::PermissionsExt::from_mode(0o711);
                if let Some(folder) = folder {
                    std::fs::set_permissions(folder, passable)
                        .map_err(|error| unwritable(folder, &error))?;
                }
            }
        }
        let mut command = match self.user {
            None => Command::new("sh"),
            Some(_) => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=postgres", "--regid=postgres"]);
                command.args(["--clear-groups", "sh"]);
                command
            }
        };
        command
            .args(["-c", SERVE, "sh"])
            .args([&self.folder, &cluster])
            .arg(port.to_string())
            .current_dir("/");
        let name = format!("the PostgreSQL of {}", hospital.name);
        let log = hospital.folder.join("postgres.log");
        let mut server = Child::start(&name, command, &log)?;
        let started = Instant::now();
        while !self.ask(port, &[String::from("select 1")])? {
            server.see_alive()?;
            if started.elapsed() > STARTED {
                return Err(DemoError::NoAnswer { name, log }.into());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        if !self.ask(port, &[table(schema), copy(&hospital.rows())])? {
            return Err(DemoError::NoRows { name }.into());
        }
        let source = format!(
            "[source.postgres]\nhost = \"127.0.0.1\"\nport = {port}\ndatabase = \"postgres\"\nuser = \"hedgerow\"\ntable = \"patients\"\n"
        );
        hospital.write_site_file(&source)?;
        Ok(server)
    }

    /// Whether the server does what it is asked.
    fn ask(&self, port: u16, commands: &[String]) -> Result<bool, CliError> {
        let mut psql = Command::new(self.folder.join("psql"));
        psql.args(["-X", "-q", "-h", "127.0.0.1", "-U", "hedgerow"])
            .args(["-d", "postgres", "-v", "ON_ERROR_STOP=1", "-p"])
            .arg(port.to_string());
        for command in commands {
            psql.args(["-c", command]);
        }
        let status = psql
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        Ok(status.map_err(DemoError::NoPsql)?.success())
    }
}

/// A table whose types are the schema's.
fn table(schema: &Schema) -> String {
    let columns: Vec<String> = schema
        .attributes()
        .iter()
        .map(|attribute| {
            let kind = match attribute.domain {
                Domain::Integer(_) => "integer",
                Domain::Date(_) => "date",
                _ => "text",
            };
            format!("\"{}\" {kind}", attribute.name)
        })
        .collect();
    format!("create table patients ({})", columns.join(", "))
}

fn copy(rows: &Path) -> String {
    let path = rows.display().to_string().replace('\'', "''");
    format!("\\copy patients from '{path}' csv header")
}

/// A user's number, or one's own.
fn user_id(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id").arg("-u").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().parse().ok())?
}
