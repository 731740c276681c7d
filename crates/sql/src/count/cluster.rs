//! A Ballista cluster, as its stock client reaches it.
//!
//! Ballista asks nobody who he is: whoever reaches a scheduler reads what its executors read. A cluster is part of
//! one site, on its machine or in its private network; a scheduler elsewhere is refused unless the site says so.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use ballista::prelude::{SessionConfigExt as _, SessionContextExt as _};
use datafusion::execution::context::SessionContext;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::SessionConfig;
use tokio::net::TcpStream;

use super::CountError;

/// Where a scheduler listens if nothing else is said.
const PORT: u16 = 50050;
/// How long a scheduler may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// What an address begins with.
const SCHEME: &str = "df://";

/// A session whose statements the cluster answers.
pub(super) async fn context(address: &str, anywhere: bool) -> Result<SessionContext, CountError> {
    let found = reached(address, anywhere).await?;
    let config = SessionConfig::new_with_ballista().with_ballista_job_name("hedgerow count");
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features()
        .build();
    let context = SessionContext::remote_with_state(&format!("{SCHEME}{found}"), state).await;
    Ok(context?)
}

/// The socket at which a scheduler answers. Every address of its name is looked at, and the one that was looked at
/// is the one that is used.
async fn reached(address: &str, anywhere: bool) -> Result<SocketAddr, CountError> {
    let (host, port) = parts(address)?;
    let away = |reason: String| CountError::Away {
        address: address.to_owned(),
        reason,
    };
    let found = tokio::net::lookup_host((host, port)).await;
    let found: Vec<SocketAddr> = found.map_err(|error| away(error.to_string()))?.collect();
    if let Some(public) = found.iter().find(|found| !is_own(found.ip()))
        && !anywhere
    {
        return Err(CountError::Public {
            address: address.to_owned(),
            found: public.ip(),
        });
    }
    let mut why = String::from("its name has no address");
    for socket in found {
        match tokio::time::timeout(PATIENCE, TcpStream::connect(socket)).await {
            Ok(Ok(_)) => return Ok(socket),
            Ok(Err(error)) => why = error.to_string(),
            Err(_) => why = format!("it says nothing for {} s", PATIENCE.as_secs()),
        }
    }
    Err(away(why))
}

/// Host and port of `df://host:port`.
fn parts(address: &str) -> Result<(&str, u16), CountError> {
    let wrong = || CountError::Address {
        address: address.to_owned(),
    };
    let rest = address.strip_prefix(SCHEME).ok_or_else(wrong)?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (host, port) = match rest.rsplit_once(':') {
        // An address of version 6 has colons of its own, in brackets.
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().map_err(|_| wrong())?),
        _ => (rest, PORT),
    };
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    match bare.unwrap_or(host) {
        "" => Err(wrong()),
        host if host.contains(['/', '@', '?', '#']) => Err(wrong()),
        host => Ok((host, port)),
    }
}

/// Whether an address is of this machine or of a private network.
fn is_own(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            address.is_loopback() || address.is_private() || address.is_link_local()
        }
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => is_own(IpAddr::V4(address)),
            None => {
                address.is_loopback()
                    || address.is_unique_local()
                    || address.is_unicast_link_local()
            }
        },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_schedulers() {
        let read = |text| parts(text).map(|(host, port)| format!("{host} {port}"));
        assert_eq!(read("df://localhost:7").unwrap(), "localhost 7");
        assert_eq!(read("df://engine").unwrap(), "engine 50050");
        assert_eq!(read("df://[::1]:7/").unwrap(), "::1 7");
        assert_eq!(read("df://[fd00::2]").unwrap(), "fd00::2 50050");
        for wrong in [
            "",
            "df://",
            "df://:7",
            "http://engine:7",
            "df://e:70000",
            "df://a@e:7",
        ] {
            let error = read(wrong).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("`{wrong}` is no address of a scheduler\nhint: expected df://host:port")
            );
        }
    }

    #[test]
    fn public_addresses_are_not_a_sites_own() {
        let own = [
            "127.0.0.1",
            "10.1.2.3",
            "192.168.0.7",
            "172.16.3.4",
            "::1",
            "fd12::1",
        ];
        let public = [
            "8.8.8.8",
            "172.32.0.1",
            "2001:4860::8",
            "::ffff:8.8.8.8",
            "0.0.0.0",
        ];
        assert!(own.iter().all(|text| is_own(text.parse().unwrap())));
        assert!(!public.iter().any(|text| is_own(text.parse().unwrap())));
    }

    #[tokio::test]
    async fn a_public_scheduler_is_refused_before_anything_is_sent() {
        let error = reached("df://203.0.113.9:50050", false).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "df://203.0.113.9:50050: 203.0.113.9 is neither this machine nor in a private network, and a cluster asks nobody who he is\nhint: reach it through a private network; or say anywhere = true in [source.engine] of site.toml, --engine-anywhere on the command line"
        );
    }
}
