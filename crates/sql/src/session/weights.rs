//! How many queries a statement means, counted where their names stand: a `WITH` query that names another one
//! twice doubles it, and the planner would follow.

use std::collections::{HashMap, VecDeque};

use datafusion::sql::sqlparser::ast::{Query, TableFactor};

use crate::error::SqlError;

/// The most queries and tables of a statement.
const MOST: u64 = 300;

/// The queries of a statement while they are counted.
#[derive(Debug, Default)]
pub(super) struct Weights {
    /// Queries that have begun, the outermost first.
    open: Vec<Open>,
    /// What the names of `WITH` queries stand for.
    named: HashMap<String, u64>,
}

#[derive(Debug, Default)]
struct Open {
    /// The names of its `WITH` queries that have not been seen yet.
    names: VecDeque<String>,
    weight: u64,
}

impl Weights {
    /// A query begins; its `WITH` queries come first.
    pub(super) fn begin(&mut self, query: &Query) {
        let with = query.with.iter().flat_map(|with| &with.cte_tables);
        let names = with.map(|cte| cte.alias.name.value.to_lowercase());
        self.open.push(Open {
            names: names.collect(),
            weight: 1,
        });
    }

    /// A table is named.
    pub(super) fn table(&mut self, factor: &TableFactor) {
        let TableFactor::Table { name, .. } = factor else {
            return;
        };
        let name = name.0.last().and_then(|part| part.as_ident());
        let weight = name.and_then(|name| self.named.get(&name.value.to_lowercase()));
        let weight = weight.copied().unwrap_or(1);
        self.add(weight);
    }

    fn add(&mut self, weight: u64) {
        if let Some(open) = self.open.last_mut() {
            open.weight = open.weight.saturating_add(weight);
        }
    }

    /// A query ends.
    pub(super) fn end(&mut self) -> Result<(), SqlError> {
        let weight = self.open.pop().map_or(0, |open| open.weight);
        if weight > MOST {
            return Err(SqlError::not_answered(
                format!(
                    "a statement of more than {MOST} queries and tables, counted where their names stand,"
                ),
                "use fewer queries inside each other, or ask for parts one after the other",
            ));
        }
        let name = self.open.last_mut().and_then(|open| open.names.pop_front());
        match name {
            Some(name) => {
                self.named.insert(name, weight);
            }
            None => self.add(weight),
        }
        Ok(())
    }
}
