//! A PostgreSQL of the test's own, on a free port, that ends with the test.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::skip;

/// A server that ends with the test.
#[derive(Debug)]
pub struct PostgresServer {
    /// A folder of the test's own, with the server's `data` and `log` in it.
    pub folder: tempfile::TempDir,
    programs: PathBuf,
    /// The server's port at 127.0.0.1.
    pub port: u16,
}

impl PostgresServer {
    /// Starts a server whose user `reader` has the password `swordfish`, with these options too;
    /// its data folder is there before it starts. `None`, and the test counts as skipped, where
    /// PostgreSQL is not installed.
    ///
    /// # Panics
    /// Where PostgreSQL is installed and does not start.
    pub fn start(more: &str, before_start: impl FnOnce(&Self)) -> Option<Self> {
        let versions = std::fs::read_dir("/usr/lib/postgresql").ok();
        let programs = versions
            .into_iter()
            .flatten()
            .filter_map(|version| Some(version.ok()?.path().join("bin")))
            .find(|programs| programs.join("initdb").exists());
        let Some(programs) = programs else {
            let hint = "apt-get install postgresql puts it into /usr/lib/postgresql";
            skip("PostgreSQL", hint);
            return None;
        };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let server = Self {
            folder: tempfile::tempdir().unwrap(),
            programs,
            port,
        };
        let folder = server.folder.path();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(folder, open).unwrap();
        std::fs::write(folder.join("password"), "swordfish\n").unwrap();
        let data = folder.join("data");
        let password = folder.join("password");
        server.program(
            "initdb",
            &[
                "--auth=scram-sha-256",
                "--username=reader",
                "--no-sync",
                &format!("--pwfile={}", password.display()),
                data.to_str().unwrap(),
            ],
        );
        before_start(&server);
        let options = format!(
            "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off {more}"
        );
        let log = folder.join("log");
        server.program(
            "pg_ctl",
            &[
                "start",
                "--wait",
                &format!("--pgdata={}", data.display()),
                &format!("--log={}", log.display()),
                &format!("--options={options}"),
            ],
        );
        Some(server)
    }

    /// Runs a program of the server, which refuses to run as root.
    fn program(&self, name: &str, arguments: &[&str]) {
        let quoted: Vec<String> = arguments
            .iter()
            .map(|argument| format!("'{}'", argument.replace('\'', "'\\''")))
            .collect();
        let program = self.programs.join(name);
        self.shell(&format!("'{}' {}", program.display(), quoted.join(" ")));
    }

    /// Has the server's own client run a statement.
    ///
    /// # Panics
    /// Where the statement fails.
    pub fn query(&self, statement: &str) {
        let status = Command::new(self.programs.join("psql"))
            .args([
                "--no-psqlrc",
                "--quiet",
                "--set=ON_ERROR_STOP=1",
                "--host=127.0.0.1",
            ])
            .args(["--username=reader", "--dbname=postgres"])
            .arg(format!("--port={}", self.port))
            .args(["--command", statement])
            .env("PGPASSWORD", "swordfish")
            .status()
            .unwrap();
        assert!(status.success(), "{statement}");
    }

    /// Runs a shell script as the user that the server runs as.
    ///
    /// # Panics
    /// Where the script fails.
    pub fn shell(&self, script: &str) {
        let identity = Command::new("id").arg("-u").output().unwrap();
        let mut command = if identity.stdout == b"0\n" {
            let mut command = Command::new("setpriv");
            command.args([
                "--reuid=postgres",
                "--regid=postgres",
                "--clear-groups",
                "sh",
            ]);
            command
        } else {
            Command::new("sh")
        };
        let status = command
            .args(["-c", script])
            .current_dir(self.folder.path())
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "{script}");
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let data = self.folder.path().join("data");
        let pgdata = format!("--pgdata={}", data.display());
        self.program("pg_ctl", &["stop", "--mode=immediate", &pgdata]);
        self.shell(&format!("rm -rf '{}'", data.display()));
    }
}
