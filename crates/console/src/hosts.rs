//! What the console is called in a browser. A request under any other name is not answered: a page of another
//! origin may have its name lead here (DNS rebinding).

use std::net::{IpAddr, SocketAddr};

use hedgerow::node::console::ConsoleSettings;

/// The names, with the port where a browser writes one, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hosts {
    names: Vec<String>,
    scheme: &'static str,
}

impl Hosts {
    /// What a console with these settings is called at the address that it has.
    pub(crate) fn of(settings: &ConsoleSettings, at: SocketAddr) -> Self {
        let (scheme, usual) = match settings.tls {
            Some(_) => ("https", 443),
            None => ("http", 80),
        };
        let mut machines: Vec<String> = Vec::new();
        match at.ip() {
            ip if ip.is_unspecified() => {}
            IpAddr::V6(six) => machines.push(format!("[{six}]")),
            IpAddr::V4(four) => machines.push(four.to_string()),
        }
        if at.ip().is_loopback() {
            machines.push(String::from("localhost"));
        }
        machines.extend(settings.names.iter().map(|name| name.to_ascii_lowercase()));
        let mut names = Vec::new();
        for machine in machines {
            if at.port() == usual {
                names.push(machine.clone());
            }
            names.push(format!("{machine}:{}", at.port()));
        }
        Self { names, scheme }
    }

    /// Whether a browser may call the console so.
    pub(crate) fn has(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.names.contains(&host)
    }

    /// Whether a form was sent by a page of the console called `host`.
    pub(crate) fn is_own(&self, host: &str, origin: &str) -> bool {
        let own = format!("{}://{host}", self.scheme);
        self.has(host) && origin.eq_ignore_ascii_case(&own)
    }

    /// Where people find the console: under a name that was given, if one was.
    pub(crate) fn address(&self) -> String {
        let named = self.names.last().map_or("", String::as_str);
        let local = self
            .names
            .iter()
            .find(|name| name.starts_with("127.") || name.starts_with('['));
        let name = match local {
            Some(local) if named.starts_with("localhost") => local,
            _ => named,
        };
        format!("{}://{name}", self.scheme)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::PathBuf;

    use hedgerow::node::console::ConsoleCertificate;

    use super::*;

    #[test]
    fn a_console_has_its_names_and_no_other() {
        let at: SocketAddr = "127.0.0.1:7480".parse().unwrap();
        let hosts = Hosts::of(&ConsoleSettings::at(at), at);
        assert!(hosts.has("127.0.0.1:7480") && hosts.has("LocalHost:7480"));
        for other in [
            "127.0.0.1",
            "evil.example:7480",
            "127.0.0.1:7481",
            "",
            "127.0.0.1:7480.evil",
        ] {
            assert!(!hosts.has(other), "{other}");
        }
        assert!(hosts.is_own("localhost:7480", "http://localhost:7480"));
        for (host, origin) in [
            ("localhost:7480", "http://127.0.0.1:7480"),
            ("localhost:7480", "https://localhost:7480"),
            ("localhost:7480", "null"),
            ("evil.example", "http://evil.example"),
        ] {
            assert!(!hosts.is_own(host, origin), "{host} {origin}");
        }
        assert_eq!(hosts.address(), "http://127.0.0.1:7480");
    }

    #[test]
    fn a_console_for_other_machines_has_the_names_that_were_given() {
        let at: SocketAddr = "0.0.0.0:443".parse().unwrap();
        let settings = ConsoleSettings {
            listen: at,
            tls: Some(ConsoleCertificate {
                certificate: PathBuf::new(),
                key: PathBuf::new(),
            }),
            names: vec![String::from("Hedge.North.example")],
        };
        let hosts = Hosts::of(&settings, at);
        assert!(hosts.has("hedge.north.example") && hosts.has("hedge.north.example:443"));
        assert!(!hosts.has("0.0.0.0:443") && !hosts.has("localhost:443"));
        assert!(hosts.address().starts_with("https://hedge.north.example"));
        let six: SocketAddr = "[::1]:9".parse().unwrap();
        assert!(Hosts::of(&ConsoleSettings::at(six), six).has("[::1]:9"));
    }
}
