//! A site with a long history: pages stay short, and every run and release can be reached.

use hedgerow_console::Role;

use crate::world::{World, browser_of};

const RUNS: u32 = 1_000;

#[tokio::test]
async fn a_thousand_runs_are_paged_and_all_can_be_reached() {
    let world = World::long(RUNS);
    let console = world.console("north");
    let mut browser = browser_of(&console, Role::Auditor).await;
    for (list, word) in [("/runs", "run"), ("/releases", "release")] {
        let mut seen = Vec::new();
        for page in 1..=40 {
            let answer = browser.get(&format!("{list}?page={page}")).await;
            assert_eq!(answer.status, 200);
            assert!(answer.bytes.len() < 50_000, "{}", answer.bytes.len());
            let text = answer.text();
            let begin = format!("href=\"/{word}s/");
            let links = text.match_indices(&begin).map(|(at, found)| {
                let rest = &text[at + found.len()..];
                rest.split('"').next().unwrap().parse::<u32>().unwrap()
            });
            let links: Vec<u32> = links.collect();
            assert_eq!(links.len(), 25, "{list} {page}");
            seen.extend(links);
        }
        assert_eq!(seen, (1..=RUNS).rev().collect::<Vec<_>>());
        // Beyond the end is the last page, and nonsense is none.
        let beyond = browser.get(&format!("{list}?page=999999999")).await;
        assert!(beyond.text().contains("Page 40 of 40"));
        assert_eq!(browser.get(&format!("{list}?page=-1")).await.status, 400);
    }
    for path in ["/", "/ledger", "/runs/1", "/runs/1000"] {
        let answer = browser.get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(answer.bytes.len() < 50_000, "{path} {}", answer.bytes.len());
    }
    assert!(browser.get("/").await.text().contains(">1000<"));
    // The next run is shown before it begins, and no run after it.
    assert_eq!(browser.get("/runs/1001").await.status, 200);
    assert_eq!(browser.get("/runs/1002").await.status, 404);
    assert_eq!(browser.get("/runs/x").await.status, 404);
}
