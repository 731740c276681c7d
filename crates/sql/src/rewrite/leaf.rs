//! The part of a plan that reads the table row by row: its columns, and the conditions on them.

use datafusion::catalog::default_table_source::{provider_as_source, source_as_provider};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, TableReference};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use hedgerow::query::AskError;
use hedgerow_data::Role;
use hedgerow_protocols::query::Condition;
use std::sync::Arc;

use super::cells::is_made_of;
use super::condition::{condition, folded};
use super::functions::{Marked, marked};
use super::refuse::refuse_uncertain;
use super::words::words;
use super::{Carried, Rewritten};
use crate::error::SqlError;
use crate::mode::Mode;
use crate::table::{Judged, Kind, Part, RowsTable, StudyTable, Wanted};

/// Projections, conditions and names over the table, put together into one step.
pub(super) struct Leaf {
    pub(super) table: StudyTable,
    /// The columns that the step has, as expressions over the table's columns.
    outputs: Vec<Output>,
    /// Conditions over the table's columns, all of which hold.
    filters: Vec<Expr>,
}

struct Output {
    relation: Option<TableReference>,
    name: String,
    expression: Expr,
}

/// Conditions of a leaf, parted by who decides them.
pub(super) struct Parted {
    /// Conditions on values, as one.
    pub(super) condition: Condition,
    /// Conditions on cells: every row knows whether it satisfies them.
    pub(super) of_cells: Vec<Expr>,
    /// All of them as text.
    pub(super) text: String,
}

impl Leaf {
    /// The leaf that a plan is, if it is one.
    pub(super) fn of(plan: &LogicalPlan) -> Result<Option<Self>, SqlError> {
        match plan {
            LogicalPlan::TableScan(scan) => {
                let Ok(provider) = source_as_provider(&scan.source) else {
                    return Ok(None);
                };
                let Some(table) = provider.downcast_ref::<StudyTable>() else {
                    return Ok(None);
                };
                let outputs = plan.schema().iter().map(|(relation, field)| Output {
                    relation: relation.cloned(),
                    name: field.name().clone(),
                    expression: Expr::Column(Column::new_unqualified(field.name())),
                });
                Ok(Some(Self {
                    table: table.clone(),
                    outputs: outputs.collect(),
                    filters: scan.filters.clone(),
                }))
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let Some(mut leaf) = Self::of(&alias.input)? else {
                    return Ok(None);
                };
                for output in &mut leaf.outputs {
                    output.relation = Some(alias.alias.clone());
                }
                Ok(Some(leaf))
            }
            LogicalPlan::Projection(projection) => {
                if projection.expr.iter().any(has_subquery) {
                    return Ok(None);
                }
                let Some(mut leaf) = Self::of(&projection.input)? else {
                    return Ok(None);
                };
                let named = projection.schema.iter().zip(&projection.expr);
                let outputs = named.map(|((relation, field), expression)| {
                    Ok::<_, SqlError>(Output {
                        relation: relation.cloned(),
                        name: field.name().clone(),
                        expression: leaf.over_table(expression)?,
                    })
                });
                leaf.outputs = outputs.collect::<Result<_, _>>()?;
                Ok(Some(leaf))
            }
            LogicalPlan::Filter(filter) if !has_subquery(&filter.predicate) => {
                let Some(mut leaf) = Self::of(&filter.input)? else {
                    return Ok(None);
                };
                let predicate = leaf.over_table(&filter.predicate)?;
                leaf.filters
                    .extend(split_conjunction(&predicate).into_iter().cloned());
                Ok(Some(leaf))
            }
            _ => Ok(None),
        }
    }

    /// An expression over the leaf's columns as one over the table's.
    pub(super) fn over_table(&self, expression: &Expr) -> Result<Expr, SqlError> {
        let outer = expression.exists(|part| Ok(matches!(part, Expr::OuterReferenceColumn(..))));
        if outer.map_err(SqlError::planning)? {
            return Err(SqlError::not_answered(
                "a subquery that speaks of the query around it",
                "write it as a WITH query of its own, and join by a column",
            ));
        }
        let replaced = expression.clone().transform(|part| {
            let Expr::Column(column) = &part else {
                return Ok(Transformed::no(part));
            };
            let is_meant = |output: &&Output| {
                let is_same = column.relation.is_none() || column.relation == output.relation;
                output.name == column.name && is_same
            };
            Ok(match self.outputs.iter().find(is_meant) {
                Some(output) => Transformed::new(
                    output.expression.clone().unalias(),
                    true,
                    TreeNodeRecursion::Jump,
                ),
                None => Transformed::no(part),
            })
        });
        Ok(replaced.map_err(SqlError::planning)?.data)
    }

    /// An expression over the leaf's columns in which `certain(p)`, `possible(p)`, `share(p)` and `under(…)`
    /// have become columns of the leaf.
    pub(super) fn with_judged(&mut self, expression: &Expr) -> Result<Expr, SqlError> {
        let mut judged = Vec::new();
        let first = self.outputs.len();
        let replaced = expression.clone().transform_down(|part| {
            if marked(&part).is_none() {
                return Ok(Transformed::no(part));
            }
            let name = format!("judged_{}", first + judged.len());
            judged.push((name.clone(), part));
            let column = Expr::Column(Column::new_unqualified(name));
            Ok(Transformed::new(column, true, TreeNodeRecursion::Jump))
        });
        let replaced = replaced.map_err(SqlError::planning)?.data;
        if judged.is_empty() {
            return Ok(replaced);
        }
        for (name, part) in judged {
            let expression = self.over_table(&part)?;
            self.outputs.push(Output {
                relation: None,
                name,
                expression,
            });
        }
        Ok(match expression {
            Expr::Alias(_) => replaced,
            other => replaced.alias(other.schema_name().to_string()),
        })
    }

    /// Leaves out the columns that none of some expressions speaks of.
    pub(super) fn keep(&mut self, expressions: &[Expr]) {
        let spoken = |output: &Output| {
            let mut columns = expressions.iter().flat_map(Expr::column_refs);
            columns.any(|column| column.name == output.name)
        };
        self.outputs.retain(spoken);
    }

    /// Whether an expression over the table is a column of cells.
    pub(super) fn is_cells(&self, expression: &Expr) -> bool {
        matches!(expression, Expr::Column(column) if self.table.is_uncertain(&column.name))
    }

    /// Refuses an expression that needs a value where a cell stands for several.
    pub(super) fn refuse(&self, expression: &Expr) -> Result<(), SqlError> {
        refuse_uncertain(expression, &|part| self.is_cells(part), true)
    }

    /// Parts the leaf's conditions.
    pub(super) fn parted(&self) -> Result<Parted, SqlError> {
        self.part(&self.filters)
    }

    /// Parts some conditions.
    pub(super) fn part(&self, filters: &[Expr]) -> Result<Parted, SqlError> {
        let (mut conditions, mut of_cells) = (Vec::new(), Vec::new());
        for filter in filters {
            match self.of_values(filter)? {
                Some(condition) => conditions.push(condition),
                None => of_cells.push(filter.clone()),
            }
        }
        let texts: Vec<String> = filters.iter().map(words).collect();
        let text = match texts.is_empty() {
            true => String::from("true"),
            false => texts.join(" AND "),
        };
        let condition = match <[Condition; 1]>::try_from(conditions) {
            Ok([condition]) => condition,
            Err(conditions) => Condition::All(conditions),
        };
        Ok(Parted {
            condition,
            of_cells,
            text,
        })
    }

    /// A condition on values; nothing for a condition on cells.
    fn of_values(&self, filter: &Expr) -> Result<Option<Condition>, SqlError> {
        let mut of_ends = false;
        let speaks = filter.apply(|part| {
            if let Some((Marked::Judged(_), _)) = marked(part) {
                of_ends = true;
            }
            if let Expr::Column(column) = part {
                let part = self.table.column(&column.name).map(|column| column.part);
                of_ends |= matches!(part, Some(Part::Low | Part::High));
            }
            Ok(TreeNodeRecursion::Continue)
        });
        speaks.map_err(SqlError::planning)?;
        if of_ends {
            self.refuse(filter)?;
            return Ok(None);
        }
        match condition(filter, &self.table) {
            Ok(condition) => Ok(Some(condition)),
            // What is no comparison with constants can still be said of values that rows have as they are.
            Err(SqlError::Refused(AskError::NotAnswered { what, instead })) => {
                match is_made_of(filter, &|part| self.is_cells(part)) {
                    true => Err(SqlError::not_answered(what, instead)),
                    false => Ok(None),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Whether rows know for sure whether they satisfy a condition, and which values of these columns they
    /// have.
    pub(super) fn is_exact(&self, condition: &Condition, attributes: &[usize]) -> bool {
        let schema = self.table.source().schema();
        let mut all = condition.columns();
        let is_value = |column: &usize| schema.attributes()[*column].role != Role::Quasi;
        all.iter().all(is_value) && {
            all.extend(attributes);
            self.table.source().is_joined(&all)
        }
    }

    /// The expressions with names in the place of `certain(p)`, `possible(p)` and `share(p)`, and what they
    /// need: columns of the table, and what rows say about conditions.
    pub(super) fn wanted(
        &self,
        expressions: &[Expr],
    ) -> Result<(Vec<Expr>, Vec<Wanted>), SqlError> {
        let mut wanted: Vec<Wanted> = Vec::new();
        let mut resolved = Vec::with_capacity(expressions.len());
        for expression in expressions {
            let replaced = folded(expression.clone())?.transform_down(|part| {
                let asked = match marked(&part) {
                    Some((Marked::Judged(kind), [of])) => Some((kind, of.clone())),
                    // Of values that rows have as they are.
                    Some((Marked::Under, _)) => Some((Kind::Certain, part.clone())),
                    _ => None,
                };
                if let Some((kind, of)) = asked {
                    let condition = condition(&of, &self.table)?;
                    let name = judged_name(&mut wanted, Judged { condition, kind });
                    let column = Expr::Column(Column::new_unqualified(name));
                    return Ok(Transformed::new(column, true, TreeNodeRecursion::Jump));
                }
                if let Expr::Column(column) = &part
                    && let Some(column) = self.table.column(&column.name)
                {
                    let column = Wanted::Column(column.clone());
                    if !wanted.contains(&column) {
                        wanted.push(column);
                    }
                }
                Ok(Transformed::no(part))
            });
            let replaced = replaced.map_err(SqlError::planning)?.data;
            resolved.push(replaced);
        }
        Ok((resolved, wanted))
    }

    /// The plan that shows the leaf's rows.
    pub(super) fn rows(&self, mode: Mode) -> Result<Rewritten, SqlError> {
        let outputs = self.outputs.iter().map(|output| output.expression.clone());
        let outputs: Vec<Expr> = outputs.collect();
        for output in &outputs {
            self.refuse(output)?;
        }
        let parted = self.parted()?;
        let expressions = [outputs.clone(), parted.of_cells.clone()].concat();
        let (expressions, wanted) = self.wanted(&expressions)?;
        let (outputs, of_cells) = expressions.split_at(outputs.len());
        let mut attributes: Vec<usize> = wanted.iter().flat_map(Wanted::attributes).collect();
        attributes.sort_unstable();
        attributes.dedup();
        self.see_joined(&parted.condition, &attributes)?;
        let is_exact = self.is_exact(&parted.condition, &attributes);
        let taken = |name: &str| self.outputs.iter().any(|output| output.name == name);
        let share = (mode.is_model() && !is_exact).then(|| {
            let names = ["share", "share_of_row"];
            let free = names.into_iter().find(|name| !taken(name));
            String::from(free.unwrap_or("share_of_the_row"))
        });
        let table = RowsTable::new(
            Arc::clone(self.table.source()),
            parted.condition,
            (mode, parted.text),
            wanted,
            share.clone(),
        );
        let planned = || {
            let source = provider_as_source(Arc::new(table));
            let mut builder = LogicalPlanBuilder::scan("hedgerow_rows", source, None)?;
            if let Some(condition) = conjunction(of_cells.to_vec()) {
                builder = builder.filter(condition)?;
            }
            let named = self.outputs.iter().zip(outputs);
            let mut shown: Vec<Expr> = named
                .map(|(output, expression)| {
                    let relation = output.relation.clone();
                    let expression = expression.clone().unalias();
                    expression.alias_qualified(relation, &output.name)
                })
                .collect();
            shown.extend(share.as_ref().map(|name| {
                let column = Expr::Column(Column::new_unqualified(name));
                column.alias_qualified(None::<TableReference>, name)
            }));
            builder.project(shown)?.build()
        };
        Ok(Rewritten {
            plan: planned().map_err(SqlError::planning)?,
            carried: Carried {
                share: share.map(Column::new_unqualified),
                bounds: Vec::new(),
            },
            has_rows: true,
            is_uncertain: !is_exact,
            is_bounded: false,
        })
    }

    /// Refuses rows whose columns the release keeps apart.
    fn see_joined(&self, condition: &Condition, attributes: &[usize]) -> Result<(), SqlError> {
        let mut all = condition.columns();
        all.extend(attributes);
        all.sort_unstable();
        all.dedup();
        if self.table.source().is_joined(&all) {
            return Ok(());
        }
        let attributes = self.table.source().schema().attributes();
        let names = all.iter().map(|column| attributes[*column].name.as_str());
        Err(SqlError::not_answered(
            format!(
                "rows with {}, which stand in different tables of a fragmented release,",
                hedgerow_data::quoted_list(names)
            ),
            "ask for rows of one table, or for totals: count(*), sum(x), avg(x)",
        ))
    }
}

/// The name of what rows say about a condition among what is wanted.
fn judged_name(wanted: &mut Vec<Wanted>, judged: Judged) -> String {
    let known = wanted.iter().find_map(|wanted| match wanted {
        Wanted::Judged(name, known) if *known == judged => Some(name.clone()),
        _ => None,
    });
    known.unwrap_or_else(|| {
        let name = format!("judged_{}", wanted.len());
        wanted.push(Wanted::Judged(name.clone(), judged));
        name
    })
}

/// Whether an expression has a query inside.
pub(super) fn has_subquery(expression: &Expr) -> bool {
    let is_query = |part: &Expr| {
        Ok(matches!(
            part,
            Expr::ScalarSubquery(_)
                | Expr::InSubquery(_)
                | Expr::Exists(_)
                | Expr::SetComparison(_)
        ))
    };
    expression.exists(is_query).unwrap_or(true)
}
