//! The functions of the engine that a session knows, by their packages. What is refused of cells was written for
//! these; whatever else is linked with the engine, such as nested values, digests and encodings for a cluster's
//! client, a session does not know. No function stands in place of a table.

use std::sync::Arc;

use datafusion::execution::SessionStateDefaults;
use datafusion::functions::{core, datetime, math, regex, string, unicode};
use datafusion::logical_expr::planner::ExprPlanner;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF, WindowUDF};
use datafusion::{functions_aggregate, functions_window};

/// What makes functions of the syntax of SQL, such as `EXTRACT` and `POSITION`.
pub(super) fn planners() -> Vec<Arc<dyn ExprPlanner>> {
    vec![
        Arc::<core::planner::CoreFunctionPlanner>::default(),
        Arc::new(datetime::planner::DatetimeFunctionPlanner),
        Arc::new(unicode::planner::UnicodeFunctionPlanner),
        Arc::new(functions_aggregate::planner::AggregateFunctionPlanner),
        Arc::new(functions_window::planner::WindowFunctionPlanner),
    ]
}

/// Functions of the values of a row.
pub(super) fn scalars() -> Vec<Arc<ScalarUDF>> {
    let packages = [
        core::functions(),
        datetime::functions(),
        math::functions(),
        regex::functions(),
        string::functions(),
        unicode::functions(),
    ];
    packages.into_iter().flatten().collect()
}

/// Totals.
pub(super) fn aggregates() -> Vec<Arc<AggregateUDF>> {
    SessionStateDefaults::default_aggregate_functions()
}

/// Functions of rows beside a row.
pub(super) fn windows() -> Vec<Arc<WindowUDF>> {
    SessionStateDefaults::default_window_functions()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new version of the engine may bring functions: somebody looks at what they make of cells, and then writes
    /// them down here.
    #[test]
    fn nothing_else_is_known() {
        let scalars = in_order(scalars().iter().map(|function| function.name()));
        let aggregates = in_order(aggregates().iter().map(|function| function.name()));
        let windows = in_order(windows().iter().map(|function| function.name()));
        assert_eq!(
            [scalars, aggregates, windows],
            [SCALARS, AGGREGATES, WINDOWS]
        );
    }

    fn in_order<'f>(names: impl Iterator<Item = &'f str>) -> String {
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names.join(" ")
    }

    const SCALARS: &str = "\
        abs acos acosh arrow_cast arrow_field arrow_metadata arrow_try_cast arrow_typeof ascii asin asinh \
        atan atan2 atanh bit_length btrim cast_to_type cbrt ceil character_length chr coalesce concat \
        concat_ws contains cos cosh cot current_date current_time date_bin date_part date_trunc degrees \
        ends_with exp factorial file_row_index find_in_set floor from_unixtime gcd get_field greatest \
        initcap input_file_name isnan iszero lcm least left levenshtein ln log log10 log2 lower lpad ltrim \
        make_date make_time named_struct nanvl now nullif nvl nvl2 octet_length overlay pi power radians \
        random regexp_count regexp_instr regexp_like regexp_match regexp_replace repeat replace reverse \
        right round rpad rtrim signum sin sinh split_part sqrt starts_with strpos struct substr substr_index \
        tan tanh to_char to_date to_hex to_local_time to_time to_timestamp to_timestamp_micros \
        to_timestamp_millis to_timestamp_nanos to_timestamp_seconds to_unixtime translate trunc \
        try_cast_to_type union_extract union_tag upper uuid version with_metadata";
    const AGGREGATES: &str = "\
        any_value approx_distinct approx_median approx_percentile_cont approx_percentile_cont_with_weight \
        array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp first_value \
        grouping last_value max median min nth_value percentile_cont regr_avgx regr_avgy regr_count \
        regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev stddev_pop string_agg sum var \
        var_pop";
    const WINDOWS: &str = "\
        cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number";
}
