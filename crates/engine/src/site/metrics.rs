//! What a node tells programs of its machine: whether it is well, and numbers for Prometheus.
//!
//! # Discloses
//! The site's and its peers' names, the study's hash, how many runs there were and how they ended, when peers
//! were heard of. No value, and no number, of records.

use std::net::SocketAddr;
use std::sync::Arc;

use hedgerow_node::health::{self, Page, Pages, Served};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::refused::SiteRefused;
use super::vitals::{Pulse, Vitals};
use crate::error::Error;

/// The content type of what [`encode`] writes.
const NUMBERS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// Names and values of a number's labels.
type Labels = Vec<(&'static str, String)>;

/// Serves `/healthz` and `/metrics` until the returned value is dropped.
pub(super) async fn serve(
    address: SocketAddr,
    site: &str,
    pulse: &Arc<Pulse>,
) -> Result<Served, Error> {
    let (site, pulse) = (site.to_owned(), Arc::clone(pulse));
    let pages: Pages = Arc::new(move |path| match path {
        "/healthz" => Some(healthz(&pulse.now())),
        "/metrics" => Some(metrics(&site, &pulse.now())),
        _ => None,
    });
    let served = health::serve(address, pages).await;
    served.map_err(|source| SiteRefused::NoMetrics { address, source }.into())
}

/// Whether the node is up and its rows can be read. Why they cannot is said at the site itself.
fn healthz(vitals: &Vitals) -> Page {
    let is_well = vitals.unfit_source.is_none();
    Page {
        is_well,
        kind: PLAIN,
        text: String::from(match is_well {
            true => "ok\n",
            false => "the rows cannot be read; hedgerow status says why\n",
        }),
    }
}

fn metrics(site: &str, vitals: &Vitals) -> Page {
    let registry = registry(site, vitals);
    let mut text = String::new();
    // A string takes whatever is written.
    let _ = encode(&mut text, &registry);
    Page {
        is_well: true,
        kind: NUMBERS,
        text,
    }
}

fn registry(site: &str, vitals: &Vitals) -> Registry {
    let mut registry = Registry::with_prefix("hedgerow");
    let about: Labels = vec![
        ("version", String::from(env!("CARGO_PKG_VERSION"))),
        ("site", escaped(site)),
        ("study_hash", vitals.study_hash.clone()),
    ];
    registry.register("node", "The node that is up", Info::new(about));
    let mut gauge = |name: &str, help: &str, value: i64| {
        registry.register(name, help, ConstGauge::new(value));
    };
    gauge(
        "start_time_seconds",
        "When the node was started, in seconds since 1970",
        vitals.since,
    );
    gauge(
        "source_readable",
        "Whether the site's rows could be read when they were last looked at",
        i64::from(vitals.unfit_source.is_none()),
    );
    gauge(
        "run_under_way",
        "The number of the run that is under way, 0 if none is",
        i64::from(vitals.run.unwrap_or(0)),
    );
    let mut counter = |name: &str, help: &str, value: u64| {
        registry.register(name, help, ConstCounter::new(value));
    };
    counter(
        "runs_released",
        "Runs that ended with a release since the start",
        vitals.released,
    );
    counter(
        "runs_failed",
        "Runs that failed since the start",
        vitals.failed,
    );
    counter(
        "callers_turned_away",
        "Callers that were no site of the study, or spoke out of turn",
        vitals.turned_away,
    );
    counter(
        "reloads",
        "How often the site's file and the study were read anew",
        vitals.reloads,
    );
    counter(
        "failed_reloads",
        "How often they could not be, and what was read before went on to count",
        vitals.failed_reloads,
    );
    let connected = Family::<Labels, Gauge>::default();
    let heard = Family::<Labels, Gauge>::default();
    for (peer, contact) in &vitals.peers {
        let peer = vec![("peer", escaped(peer))];
        connected
            .get_or_create(&peer)
            .set(i64::from(contact.is_connected()));
        if let Some(last) = contact.last {
            heard.get_or_create(&peer).set(last);
        }
    }
    registry.register("peer_connected", "Whether a peer is connected", connected);
    registry.register(
        "peer_last_contact_seconds",
        "When a connection with a peer last began or ended, in seconds since 1970",
        heard,
    );
    registry
}

/// A label's value as the format has it; the encoder writes values as they are.
fn escaped(value: &str) -> String {
    let value = value.replace('\\', r"\\").replace('"', "\\\"");
    value.replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::super::vitals::Contact;
    use super::*;

    #[test]
    fn numbers_are_as_prometheus_reads_them() {
        let contact = |is_in_run, last| Contact {
            is_in_run,
            is_for_questions: false,
            last,
        };
        let mut vitals = Vitals {
            since: 7,
            study_hash: String::from("ab"),
            released: 3,
            turned_away: 1,
            ..Vitals::default()
        };
        let peers = [
            (String::from("so\"u\\th\n"), contact(true, Some(9))),
            (String::from("east"), contact(false, None)),
        ];
        vitals.peers.extend(peers);
        let page = metrics("north", &vitals);
        let lines: Vec<&str> = page.text.lines().collect();
        for line in [
            "# TYPE hedgerow_runs_released counter",
            "hedgerow_runs_released_total 3",
            "hedgerow_callers_turned_away_total 1",
            "hedgerow_start_time_seconds 7",
            "hedgerow_source_readable 1",
            "hedgerow_run_under_way 0",
            r#"hedgerow_peer_connected{peer="so\"u\\th\n"} 1"#,
            r#"hedgerow_peer_connected{peer="east"} 0"#,
            r#"hedgerow_peer_last_contact_seconds{peer="so\"u\\th\n"} 9"#,
        ] {
            assert!(lines.contains(&line), "{line}\n{}", page.text);
        }
        assert_eq!(page.text.matches("last_contact_seconds{").count(), 1);
        assert_eq!(lines.last(), Some(&"# EOF"));
        assert_eq!(healthz(&vitals).text, "ok\n");
        // The reason is not for everybody on the machine.
        vitals.unfit_source = Some(String::from("secret.csv"));
        let ill = healthz(&vitals);
        assert!(!ill.is_well && !ill.text.contains("secret"));
        assert!(
            metrics("north", &vitals)
                .text
                .contains("hedgerow_source_readable 0\n")
        );
    }
}
