//! Functions of PostgreSQL's catalog: most of them say the same of everything, since there is one table, one owner
//! and nothing else.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};

use super::super::control::VERSION;
use super::tables::{OWNER, RELATION, TYPES};

/// A function that says the same of everything.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Same {
    name: &'static str,
    value: ScalarValue,
    signature: Signature,
}

/// A function that names a number: of a type, or of a table.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Named {
    name: &'static str,
    /// The numbers that are known.
    names: Vec<(i64, String)>,
    signature: Signature,
}

fn anything() -> Signature {
    let any = vec![TypeSignature::Nullary, TypeSignature::VariadicAny];
    Signature::one_of(any, Volatility::Stable)
}

/// All functions.
pub(super) fn all(database: &str) -> Vec<ScalarUDF> {
    let text = |value: &str| ScalarValue::Utf8(Some(value.to_owned()));
    let (nothing, no_number) = (ScalarValue::Utf8(None), ScalarValue::Int32(None));
    let (yes, no) = (
        ScalarValue::Boolean(Some(true)),
        ScalarValue::Boolean(Some(false)),
    );
    let version = format!(
        "PostgreSQL {VERSION} (Hedgerow {}, read only)",
        env!("CARGO_PKG_VERSION")
    );
    let same = [
        ("version", text(&version)),
        ("current_database", text(database)),
        ("current_schema", text("public")),
        ("pg_get_userbyid", text(OWNER)),
        ("pg_encoding_to_char", text("UTF8")),
        ("pg_table_is_visible", yes.clone()),
        ("pg_type_is_visible", yes.clone()),
        ("pg_function_is_visible", yes.clone()),
        ("has_table_privilege", yes.clone()),
        ("has_any_column_privilege", yes.clone()),
        ("has_column_privilege", yes.clone()),
        ("has_schema_privilege", yes.clone()),
        ("has_database_privilege", yes.clone()),
        ("pg_is_in_recovery", no.clone()),
        ("pg_is_other_temp_schema", no.clone()),
        ("pg_relation_is_publishable", no.clone()),
        ("pg_has_role", no.clone()),
        ("row_security_active", no),
        ("pg_my_temp_schema", ScalarValue::Int32(Some(0))),
        ("pg_relation_size", ScalarValue::Int64(None)),
        ("pg_total_relation_size", ScalarValue::Int64(None)),
        ("pg_table_size", ScalarValue::Int64(None)),
        ("pg_database_size", ScalarValue::Int64(None)),
        ("pg_size_pretty", nothing.clone()),
        ("pg_get_expr", nothing.clone()),
        ("pg_get_viewdef", nothing.clone()),
        ("pg_get_indexdef", nothing.clone()),
        ("pg_get_constraintdef", nothing.clone()),
        ("pg_get_partkeydef", nothing.clone()),
        ("pg_get_partition_constraintdef", nothing.clone()),
        ("pg_get_function_result", nothing.clone()),
        ("pg_get_function_arguments", nothing.clone()),
        ("pg_get_statisticsobjdef_columns", nothing.clone()),
        ("pg_get_serial_sequence", nothing.clone()),
        ("obj_description", nothing.clone()),
        ("col_description", nothing.clone()),
        ("shobj_description", nothing.clone()),
        ("array_to_string", nothing.clone()),
        ("pg_tablespace_location", nothing),
        ("to_regtype", no_number.clone()),
        ("to_regclass", no_number.clone()),
        ("inet_server_port", no_number),
    ];
    let mut all: Vec<ScalarUDF> = same
        .into_iter()
        .map(|(name, value)| {
            let signature = anything();
            ScalarUDF::from(Same {
                name,
                value,
                signature,
            })
        })
        .collect();
    let types = TYPES.iter().map(|own| (i64::from(own.0), own.2.to_owned()));
    all.push(named("format_type", types.collect()));
    let tables = vec![(i64::from(RELATION), database.to_owned())];
    all.push(named("hedgerow_relation", tables));
    all
}

fn named(name: &'static str, names: Vec<(i64, String)>) -> ScalarUDF {
    ScalarUDF::from(Named {
        name,
        names,
        signature: anything(),
    })
}

impl ScalarUDFImpl for Same {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.value.data_type())
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Scalar(self.value.clone()))
    }
}

impl ScalarUDFImpl for Named {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, given: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(first) = given.args.first() else {
            return Ok(ColumnarValue::Scalar(ScalarValue::Utf8(None)));
        };
        let numbers = first.to_array(given.number_rows)?;
        let numbers = cast(&numbers, &DataType::Int64)?;
        let numbers = numbers.as_primitive::<Int64Type>();
        let name = |number: i64| {
            let known = self.names.iter().find(|(own, _)| *own == number);
            known.map_or_else(|| number.to_string(), |(_, name)| name.clone())
        };
        let names = (0..numbers.len()).map(|row| {
            let is_there = numbers.is_valid(row);
            is_there.then(|| name(numbers.value(row)))
        });
        let names: ArrayRef = Arc::new(names.collect::<StringArray>());
        Ok(ColumnarValue::Array(names))
    }
}
