//! Statements that are prepared, get values, and are fetched in parts.

use std::sync::{Arc, OnceLock};

use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::ScalarValue;
use pgwire::api::Type;
use pgwire::api::portal::Format;
use pgwire::messages::PgWireBackendMessage as Reply;
use pgwire::messages::data::{NoData, ParameterDescription};
use pgwire::messages::extendedquery::{BindComplete, ParseComplete};
use pgwire::messages::response::CommandComplete;

use super::super::answer::{description, fields, shown};
use super::super::control::Control;
use super::super::kind::{Kind, statements};
use super::super::message::Bind;
use super::super::parameters::{format, pg_type, values};
use super::super::refusal::{code, error};
use super::{Client, Portal, Prepared, Refused};

/// The most statements, and the most portals, that a client may keep.
const MOST_KEPT: usize = 256;
/// The most portals with rows that are not fetched yet.
const MOST_OPEN: usize = 4;

impl Client {
    pub(super) async fn parse(
        &mut self,
        name: String,
        sql: &str,
        types: &[u32],
    ) -> Result<(), Refused> {
        if statements(sql).len() > 1 {
            let what =
                "several statements cannot be prepared as one\nhint: prepare one after the other";
            return Err(error(code::SYNTAX, what).into());
        }
        // 0 and `unknown` leave the type to the statement.
        let types = types.iter().map(|oid| match Type::from_oid(*oid) {
            Some(Type::UNKNOWN) => None,
            other => other,
        });
        self.prepare(name, sql, types.collect()).await?;
        Ok(self.line.put(&Reply::ParseComplete(ParseComplete::new()))?)
    }

    pub(super) async fn prepare(
        &mut self,
        name: String,
        sql: &str,
        types: Vec<Option<Type>>,
    ) -> Result<(), Refused> {
        if self.statements.len() >= MOST_KEPT && !self.statements.contains_key(&name) {
            let what = format!("more than {MOST_KEPT} statements are kept\nhint: DEALLOCATE some");
            return Err(error(code::LIMIT, &what).into());
        }
        let kind = Kind::read(sql)?;
        let parameters = match kind {
            Kind::Query | Kind::Catalog => {
                let is_catalog = kind == Kind::Catalog;
                let (desk, line) = (&self.desk, &mut self.line);
                desk.parameters(line, sql, is_catalog).await?
            }
            _ => Vec::new(),
        };
        let statement = Prepared {
            sql: sql.to_owned(),
            kind,
            parameters,
            types,
            told: OnceLock::new(),
        };
        self.statements.insert(name, Arc::new(statement));
        Ok(())
    }

    pub(super) fn bind(&mut self, bind: Bind) -> Result<(), Refused> {
        if self.portals.len() >= MOST_KEPT && !self.portals.contains_key(&bind.portal) {
            let what = format!("more than {MOST_KEPT} portals are kept\nhint: close some");
            return Err(error(code::LIMIT, &what).into());
        }
        let statement = self.statement(&bind.statement)?;
        let formats = format(&bind.formats)?;
        let values = values(
            &bind.values,
            &formats,
            &statement.types,
            &statement.parameters,
        )?;
        let portal = Portal {
            statement,
            values,
            format: format(&bind.columns)?,
            rows: None,
            is_over: false,
        };
        self.portals.insert(bind.portal, portal);
        Ok(self.line.put(&Reply::BindComplete(BindComplete::new()))?)
    }

    pub(super) async fn describe(&mut self, name: &str) -> Result<(), Refused> {
        let statement = self.statement(name)?;
        let own = statement.parameters.iter().enumerate();
        let types = own.map(|(place, own)| {
            let given = statement.types.get(place).cloned().flatten();
            given.unwrap_or_else(|| pg_type(&own.of)).oid()
        });
        let types = ParameterDescription::new(types.collect());
        self.line.put(&Reply::ParameterDescription(types))?;
        let examples = statement.parameters.iter().map(|own| own.example.clone());
        let columns = self.columns(&statement, examples.collect()).await?;
        self.put_columns(&columns, &Format::UnifiedText)
    }

    pub(super) async fn describe_portal(&mut self, name: &str) -> Result<(), Refused> {
        let portal = self.portals.get(name).ok_or_else(|| no_portal(name))?;
        let (statement, values) = (Arc::clone(&portal.statement), portal.values.clone());
        let format = portal.format.clone();
        let columns = self.columns(&statement, values).await?;
        self.put_columns(&columns, &format)
    }

    /// The columns of a statement, which stay once a client was told.
    async fn columns(
        &mut self,
        statement: &Prepared,
        values: Vec<ScalarValue>,
    ) -> Result<SchemaRef, Refused> {
        if let Some(told) = statement.told.get() {
            return Ok(Arc::clone(told));
        }
        let (desk, line) = (&self.desk, &mut self.line);
        let columns = match &statement.kind {
            Kind::Query => desk.columns(line, &statement.sql, values, false).await?,
            Kind::Catalog => desk.columns(line, &statement.sql, values, true).await?,
            Kind::Control(Control::Show(name)) => shown(name),
            _ => Arc::new(Schema::empty()),
        };
        Ok(Arc::clone(statement.told.get_or_init(|| columns)))
    }

    fn put_columns(&mut self, columns: &Schema, format: &Format) -> Result<(), Refused> {
        let message = match columns.fields().is_empty() {
            true => Reply::NoData(NoData::new()),
            false => Reply::RowDescription(description(&fields(columns, format)?)),
        };
        Ok(self.line.put(&message)?)
    }

    pub(super) async fn execute(&mut self, name: &str, most: usize) -> Result<(), Refused> {
        let most = if most == 0 { usize::MAX } else { most };
        // Taken out while it runs; one that fails is gone.
        let mut portal = self.portals.remove(name).ok_or_else(|| no_portal(name))?;
        if portal.rows.is_none() && !portal.is_over {
            let open = self.portals.values().filter(|other| other.rows.is_some());
            if open.count() >= MOST_OPEN {
                let what = format!(
                    "more than {MOST_OPEN} portals have rows that are not fetched\nhint: fetch them, or close some"
                );
                return Err(error(code::LIMIT, &what).into());
            }
            let statement = Arc::clone(&portal.statement);
            let answer = self
                .run(&statement, std::mem::take(&mut portal.values))
                .await?;
            portal.rows = self.begin(answer, statement.told.get(), &portal.format)?;
            portal.is_over = portal.rows.is_none();
        } else if portal.is_over {
            let done = CommandComplete::new(String::from("SELECT 0"));
            self.line.put(&Reply::CommandComplete(done))?;
        }
        if let Some(mut rows) = portal.rows.take() {
            match self.send(&mut rows, most).await? {
                true => portal.is_over = true,
                false => portal.rows = Some(rows),
            }
        }
        self.portals.insert(name.to_owned(), portal);
        Ok(())
    }
}

fn no_portal(name: &str) -> Refused {
    let what = format!("there is no portal \"{name}\"");
    error(code::NO_PORTAL, &what).into()
}
