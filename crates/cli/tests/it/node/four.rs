//! Four processes over TLS, one of them with its rows in PostgreSQL.

use super::{Shape, Site, USUAL, make_private, prepared, simulate, start_all};
use hedgerow_testing::PostgresServer;

const FOUR: [&str; 4] = ["north", "south", "east", "west"];

#[test]
fn four_sites_one_of_them_with_a_database_publish_what_a_simulation_does() {
    let Some(server) = PostgresServer::start("", |_| {}) else {
        return;
    };
    let folder = prepared(&Shape {
        sites: &FOUR,
        ..USUAL
    });
    let path = folder.path();
    let rows = path.join("c/west.csv");
    let header = std::fs::read_to_string(&rows).unwrap();
    let columns = header.lines().next().unwrap().split(',').map(|name| {
        let kind = if name == "age" { "integer" } else { "text" };
        format!("\"{name}\" {kind}")
    });
    let columns = columns.collect::<Vec<_>>().join(", ");
    server.query(&format!("create table persons ({columns})"));
    server.query(&format!(
        "\\copy persons from '{}' with (format csv, header)",
        rows.display()
    ));
    let password = path.join("password");
    std::fs::write(&password, "swordfish\n").unwrap();
    make_private(&password);
    let file = path.join("west.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let source = format!(
        "[source.postgres]\nhost = \"127.0.0.1\"\nport = {}\ndatabase = \"postgres\"\nuser = \"reader\"\npassword_file = \"password\"\ntable = \"persons\"\n",
        server.port
    );
    let changed = text.replace("[source]\nfile = \"c/west.csv\"\n", &source);
    assert_ne!(changed, text);
    std::fs::write(&file, changed).unwrap();

    let mut running = start_all(path, &FOUR, 0);
    running.iter_mut().for_each(Site::end);
    let summary = simulate(path, &FOUR);
    let expected = std::fs::read(path.join("simulated/release.csv")).unwrap();
    // A site counts the rounds of its own lines; the longest count is the run's.
    let mut cost = [0, 0, 0];
    for name in FOUR {
        let release = path.join(format!("{name}-data/release-1/release.csv"));
        assert_eq!(std::fs::read(release).unwrap(), expected, "{name}");
        let said = std::fs::read_to_string(path.join(format!("{name}-0.out"))).unwrap();
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        let number = |key: &str| said["cost"][key].as_u64().unwrap();
        cost[0] = number("rounds").max(cost[0]);
        cost[1] += number("messages");
        cost[2] += number("bytes");
    }
    let expected = &summary["cost"];
    assert_eq!(expected["rounds"], cost[0]);
    assert_eq!(expected["messages"], cost[1]);
    assert_eq!(expected["bytes"], cost[2]);
}
