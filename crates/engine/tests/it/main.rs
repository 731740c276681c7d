//! The engine as a program that embeds it calls it.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod accepted;
mod asked;
mod both;
mod compared;
mod drafted;
mod held;
mod observed;
mod published;
mod query;
mod questions;
mod tables;
mod together;
mod types;
mod virtual_database;
mod ward;

#[path = "../../examples/embed.rs"]
mod embed;

use hedgerow::Study;

/// A study of two sensitive attributes with this requirement.
fn study(require: &str) -> Study {
    let text = format!(
        r#"[study]
name = "patients"
partition = "horizontal"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 99]
[[attribute]]
name = "sex"
role = "quasi"
values = ["f", "m"]
[[attribute]]
name = "disease"
role = "sensitive"
values = ["asthma", "flu", "ulcer"]
[require]
{require}
"#
    );
    Study::parse(text, ".").unwrap()
}

#[test]
fn the_example_runs() {
    embed::main().unwrap();
}
