//! A Ballista cluster, as its stock client reaches it.
//!
//! Ballista asks nobody who he is: whoever reaches a scheduler reads what its executors read. A cluster is part of
//! one site, on its machine or in its private network; a scheduler elsewhere is refused unless the site says so.
//!
//! A job may take as long as it takes, but never in silence: how far it is, is asked again and again, each time with
//! a time to answer; and once it is done, the counts that lie ready at the executors come one batch after the other.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use ballista::prelude::{SessionConfigExt as _, SessionContextExt as _};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SessionContext;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use futures_util::StreamExt as _;
use tokio::net::TcpStream;

use super::CountError;

/// Where a scheduler listens if nothing else is said.
const PORT: u16 = 50050;
/// How long a scheduler may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// What an address begins with.
const SCHEME: &str = "df://";
/// What the client measures once a job is done.
const DONE: &str = "job_execution_time_ms";

/// How long a cluster may say nothing while somebody waits for its next word.
pub(super) const SILENCE: Duration = Duration::from_secs(60);

/// A session whose statements the cluster answers.
pub(super) async fn context(
    address: &str,
    anywhere: bool,
    silence: Duration,
) -> Result<SessionContext, CountError> {
    let found = reached(address, anywhere).await?;
    let config = SessionConfig::new_with_ballista()
        .with_ballista_job_name("hedgerow count")
        // A scheduler that is asked answers or is missed; one that is waited for may be silent for ever.
        .set_bool("ballista.client.pull", true)
        .set_u64("ballista.client.grpc_timeout_seconds", silence.as_secs());
    let state = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features()
        .build();
    let context = SessionContext::remote_with_state(&format!("{SCHEME}{found}"), state).await;
    Ok(context?)
}

/// The next counts, unless the cluster is silent for too long.
pub(super) async fn next(
    rows: &mut SendableRecordBatchStream,
    plan: &Arc<dyn ExecutionPlan>,
    (address, silence): (&str, Duration),
) -> Result<Option<RecordBatch>, CountError> {
    loop {
        match tokio::time::timeout(silence, rows.next()).await {
            Ok(batch) => return Ok(batch.transpose()?),
            Err(_) if is_done(plan) => {
                return Err(CountError::Silent {
                    address: address.to_owned(),
                    seconds: silence.as_secs(),
                });
            }
            // The job goes on: whoever asks how far it is has a time of its own.
            Err(_) => {}
        }
    }
}

/// Whether a cluster has said that the job of a plan is done.
fn is_done(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let metrics = plan.metrics().unwrap_or_default();
    metrics.iter().any(|metric| metric.value().name() == DONE)
        || plan.children().into_iter().any(is_done)
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
    use super::super::{Engine, Request, Watch, count_within};
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

    /// Somebody listens at the port, takes what is sent, and never says a word.
    #[tokio::test]
    async fn a_scheduler_that_never_answers_is_given_up() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("df://{}", listener.local_addr().unwrap());
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.csv"), "a,b\n1,2\n").unwrap();
        let request = Request {
            engine: Engine::Scheduler {
                address: address.clone(),
                anywhere: false,
            },
            columns: vec![String::from("a")],
            paths: vec![folder.path().to_owned()],
        };
        let counting = count_within(&request, Vec::new(), Arc::new(Nobody), ONE_SECOND);
        let counted = tokio::time::timeout(Duration::from_secs(60), counting).await;
        assert_eq!(
            counted.unwrap().unwrap_err().to_string(),
            format!(
                "{address}: the cluster said nothing for 1 s\nhint: see that its scheduler and its executors run, and are not overloaded; then begin again, since nothing was used"
            )
        );
    }

    const ONE_SECOND: Duration = Duration::from_secs(1);

    struct Nobody;

    impl Watch for Nobody {
        fn read(&self, _: u64, _: Option<u64>) {}
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
