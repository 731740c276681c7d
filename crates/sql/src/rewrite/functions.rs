//! The functions that stand for something until a plan is rewritten: `certain(p)`, `possible(p)`, `share(p)`
//! and `under(column, 'node')`; and `sum` and `avg`, which the planner must accept of a column of cells.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::expr::{AggregateFunction, WindowFunction};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, Expr, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Volatility, WindowFunctionDefinition,
};

use crate::table::Kind;

/// What a function of ours asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marked {
    /// `certain(p)`, `possible(p)`, `share(p)`.
    Judged(Kind),
    /// `under(column, 'node')`.
    Under,
}

const NAMES: [(&str, Marked); 4] = [
    ("certain", Marked::Judged(Kind::Certain)),
    ("possible", Marked::Judged(Kind::Possible)),
    ("share", Marked::Judged(Kind::Share)),
    ("under", Marked::Under),
];

/// Which of our functions an expression calls, with its arguments.
pub(super) fn marked(expression: &Expr) -> Option<(Marked, &[Expr])> {
    let Expr::ScalarFunction(call) = expression else {
        return None;
    };
    let mut names = NAMES.iter();
    let (_, marked) = names.find(|(name, _)| *name == call.func.name())?;
    Some((*marked, &call.args))
}

/// Our functions, for a session to know.
pub(crate) fn scalars() -> Vec<Arc<ScalarUDF>> {
    let scalar = |(name, marked): (&'static str, Marked)| {
        let (arguments, returns) = match marked {
            Marked::Judged(kind) => (1, kind.data_type()),
            Marked::Under => (2, DataType::Boolean),
        };
        Arc::new(ScalarUDF::from(Scalar {
            name,
            returns,
            signature: Signature::any(arguments, Volatility::Immutable),
        }))
    };
    NAMES.into_iter().map(scalar).collect()
}

/// `sum` and `avg`, for a session to know.
pub(crate) fn aggregates() -> Vec<Arc<AggregateUDF>> {
    let aggregate = |own: Arc<AggregateUDF>| {
        Arc::new(AggregateUDF::from(Aggregate {
            own,
            signature: Signature::any(1, Volatility::Immutable),
        }))
    };
    vec![aggregate(sum_udaf()), aggregate(avg_udaf())]
}

/// The expression with DataFusion's own `sum` and `avg`.
pub(super) fn with_own(expression: Expr) -> Expr {
    let own = |func: &Arc<AggregateUDF>| {
        let placeholder = func.inner().downcast_ref::<Aggregate>();
        placeholder.map(|placeholder| Arc::clone(&placeholder.own))
    };
    match expression {
        Expr::AggregateFunction(call) => {
            let func = own(&call.func).unwrap_or(call.func);
            let params = call.params;
            Expr::AggregateFunction(AggregateFunction { func, params })
        }
        Expr::WindowFunction(call) => {
            let WindowFunction { fun, params } = *call;
            let fun = match fun {
                WindowFunctionDefinition::AggregateUDF(func) => {
                    WindowFunctionDefinition::AggregateUDF(own(&func).unwrap_or(func))
                }
                other => other,
            };
            Expr::WindowFunction(Box::new(WindowFunction { fun, params }))
        }
        other => other,
    }
}

fn never_run<T>(name: &str) -> Result<T> {
    Err(DataFusionError::Execution(format!(
        "{name} stands in a place where it cannot be answered"
    )))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Scalar {
    name: &'static str,
    returns: DataType,
    signature: Signature,
}

impl ScalarUDFImpl for Scalar {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.returns.clone())
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        never_run(self.name)
    }
}

/// `sum` or `avg` of any column, until the plan is rewritten.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Aggregate {
    own: Arc<AggregateUDF>,
    signature: Signature,
}

impl AggregateUDFImpl for Aggregate {
    fn name(&self) -> &str {
        self.own.name()
    }

    fn aliases(&self) -> &[String] {
        self.own.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(match arguments {
            [of] if of.is_signed_integer() && self.own.name() == "sum" => DataType::Int64,
            [of] if of.is_unsigned_integer() && self.own.name() == "sum" => DataType::UInt64,
            [of] if of.is_decimal() => self.own.return_type(arguments)?,
            _ => DataType::Float64,
        })
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        never_run(self.own.name())
    }
}
