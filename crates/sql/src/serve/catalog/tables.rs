//! The tables of the catalog, with the columns of PostgreSQL 16 that tools look at. Most are empty.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::ScalarValue;

use super::super::control::SETTINGS;
use super::type_of;
use crate::error::SqlError;

/// The owner of everything.
pub(super) const OWNER: &str = "hedgerow";
/// The number of the study's table: the first that PostgreSQL gives.
pub(super) const RELATION: i32 = 16_384;
const OWNER_NUMBER: i32 = 10;
const CATALOG: i32 = 11;
const PUBLIC: i32 = 2200;
const INFORMATION: i32 = 13_000;
const DATABASE: i32 = 5;
const HEAP: i32 = 2;

/// Types: number, name, name in SQL, length, category, number of the array.
pub(super) const TYPES: [(i32, &str, &str, i32, &str, i32); 14] = [
    (16, "bool", "boolean", 1, "B", 1000),
    (18, "char", "\"char\"", 1, "Z", 1002),
    (19, "name", "name", 64, "S", 1003),
    (20, "int8", "bigint", 8, "N", 1016),
    (21, "int2", "smallint", 2, "N", 1005),
    (23, "int4", "integer", 4, "N", 1007),
    (25, "text", "text", -1, "S", 1009),
    (26, "oid", "oid", 4, "N", 1028),
    (700, "float4", "real", 4, "N", 1021),
    (701, "float8", "double precision", 8, "N", 1022),
    (1043, "varchar", "character varying", -1, "S", 1015),
    (1082, "date", "date", 4, "D", 1182),
    (
        1114,
        "timestamp",
        "timestamp without time zone",
        8,
        "D",
        1115,
    ),
    (1700, "numeric", "numeric", -1, "N", 1231),
];

/// Tables with their columns, each a name and a letter: `i` a number, `b` yes or no, `t` text, `f` a fraction.
/// A column that is not said of a row is 0, no, or NULL.
const CATALOG_TABLES: [(&str, &str); 48] = [
    ("pg_aggregate", "aggfnoid:i aggkind:t"),
    ("pg_am", "oid:i amname:t amhandler:t amtype:t"),
    ("pg_attrdef", "oid:i adrelid:i adnum:i adbin:t"),
    (
        "pg_attribute",
        "attrelid:i attname:t atttypid:i attlen:i attnum:i attndims:i attcacheoff:i atttypmod:i attbyval:b attalign:t attstorage:t attcompression:t attnotnull:b atthasdef:b atthasmissing:b attidentity:t attgenerated:t attisdropped:b attislocal:b attinhcount:i attstattarget:i attcollation:i attacl:t attoptions:t attfdwoptions:t attmissingval:t",
    ),
    (
        "pg_auth_members",
        "roleid:i member:i grantor:i admin_option:b",
    ),
    (
        "pg_cast",
        "oid:i castsource:i casttarget:i castfunc:i castcontext:t castmethod:t",
    ),
    (
        "pg_class",
        "oid:i relname:t relnamespace:i reltype:i reloftype:i relowner:i relam:i relfilenode:i reltablespace:i relpages:i reltuples:f relallvisible:i reltoastrelid:i relhasindex:b relisshared:b relpersistence:t relkind:t relnatts:i relchecks:i relhasrules:b relhastriggers:b relhassubclass:b relrowsecurity:b relforcerowsecurity:b relispopulated:b relreplident:t relispartition:b relrewrite:i relfrozenxid:i relminmxid:i relacl:t reloptions:t relpartbound:t relhasoids:b",
    ),
    (
        "pg_collation",
        "oid:i collname:t collnamespace:i collowner:i collprovider:t collcollate:t collctype:t",
    ),
    (
        "pg_constraint",
        "oid:i conname:t connamespace:i contype:t condeferrable:b condeferred:b convalidated:b conrelid:i contypid:i conindid:i conparentid:i confrelid:i confupdtype:t confdeltype:t confmatchtype:t conislocal:b coninhcount:i connoinherit:b conkey:t confkey:t conbin:t",
    ),
    ("pg_conversion", "oid:i conname:t connamespace:i"),
    (
        "pg_database",
        "oid:i datname:t datdba:i encoding:i datlocprovider:t datistemplate:b datallowconn:b datconnlimit:i datfrozenxid:i datminmxid:i dattablespace:i datcollate:t datctype:t daticulocale:t daticurules:t datlocale:t datcollversion:t datacl:t",
    ),
    ("pg_db_role_setting", "setdatabase:i setrole:i setconfig:t"),
    (
        "pg_depend",
        "classid:i objid:i objsubid:i refclassid:i refobjid:i refobjsubid:i deptype:t",
    ),
    (
        "pg_description",
        "objoid:i classoid:i objsubid:i description:t",
    ),
    ("pg_enum", "oid:i enumtypid:i enumsortorder:f enumlabel:t"),
    ("pg_event_trigger", "oid:i evtname:t evtevent:t evtowner:i"),
    (
        "pg_extension",
        "oid:i extname:t extowner:i extnamespace:i extrelocatable:b extversion:t",
    ),
    ("pg_foreign_data_wrapper", "oid:i fdwname:t fdwowner:i"),
    ("pg_foreign_server", "oid:i srvname:t srvowner:i srvfdw:i"),
    ("pg_foreign_table", "ftrelid:i ftserver:i ftoptions:t"),
    (
        "pg_index",
        "indexrelid:i indrelid:i indnatts:i indnkeyatts:i indisunique:b indisprimary:b indisexclusion:b indimmediate:b indisclustered:b indisvalid:b indisready:b indislive:b indisreplident:b indkey:t indoption:t indexprs:t indpred:t",
    ),
    (
        "pg_indexes",
        "schemaname:t tablename:t indexname:t tablespace:t indexdef:t",
    ),
    (
        "pg_inherits",
        "inhrelid:i inhparent:i inhseqno:i inhdetachpending:b",
    ),
    ("pg_language", "oid:i lanname:t lanowner:i"),
    (
        "pg_locks",
        "locktype:t database:i relation:i pid:i mode:t granted:b",
    ),
    (
        "pg_matviews",
        "schemaname:t matviewname:t matviewowner:t definition:t",
    ),
    ("pg_namespace", "oid:i nspname:t nspowner:i nspacl:t"),
    ("pg_operator", "oid:i oprname:t oprnamespace:i"),
    (
        "pg_partitioned_table",
        "partrelid:i partstrat:t partnatts:i",
    ),
    (
        "pg_policy",
        "oid:i polname:t polrelid:i polcmd:t polpermissive:b polroles:t polqual:t polwithcheck:t",
    ),
    (
        "pg_proc",
        "oid:i proname:t pronamespace:i proowner:i prolang:i prokind:t prorettype:i proretset:b pronargs:i proargtypes:t",
    ),
    (
        "pg_publication",
        "oid:i pubname:t pubowner:i puballtables:b pubinsert:b pubupdate:b pubdelete:b",
    ),
    ("pg_publication_namespace", "oid:i pnpubid:i pnnspid:i"),
    (
        "pg_publication_rel",
        "oid:i prpubid:i prrelid:i prqual:t prattrs:t",
    ),
    ("pg_range", "rngtypid:i rngsubtype:i rngmultitypid:i"),
    (
        "pg_rewrite",
        "oid:i rulename:t ev_class:i ev_type:t ev_enabled:t is_instead:b",
    ),
    (
        "pg_roles",
        "oid:i rolname:t rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b rolreplication:b rolconnlimit:i rolpassword:t rolvaliduntil:t rolbypassrls:b rolconfig:t",
    ),
    (
        "pg_sequence",
        "seqrelid:i seqtypid:i seqstart:i seqincrement:i seqmax:i seqmin:i seqcache:i seqcycle:b",
    ),
    (
        "pg_sequences",
        "schemaname:t sequencename:t sequenceowner:t data_type:t start_value:i",
    ),
    (
        "pg_stat_user_tables",
        "relid:i schemaname:t relname:t n_live_tup:i",
    ),
    (
        "pg_settings",
        "name:t setting:t unit:t category:t short_desc:t context:t vartype:t source:t min_val:t max_val:t boot_val:t reset_val:t",
    ),
    ("pg_shdescription", "objoid:i classoid:i description:t"),
    (
        "pg_statistic_ext",
        "oid:i stxrelid:i stxname:t stxnamespace:i stxowner:i stxstattarget:i stxkeys:t stxkind:t",
    ),
    (
        "pg_tables",
        "schemaname:t tablename:t tableowner:t tablespace:t hasindexes:b hasrules:b hastriggers:b rowsecurity:b",
    ),
    (
        "pg_tablespace",
        "oid:i spcname:t spcowner:i spcacl:t spcoptions:t",
    ),
    (
        "pg_trigger",
        "oid:i tgrelid:i tgparentid:i tgname:t tgfoid:i tgtype:i tgenabled:t tgisinternal:b tgconstraint:i",
    ),
    (
        "pg_type",
        "oid:i typname:t typnamespace:i typowner:i typlen:i typbyval:b typtype:t typcategory:t typispreferred:b typisdefined:b typdelim:t typrelid:i typelem:i typarray:i typinput:t typoutput:t typreceive:t typsend:t typmodin:t typmodout:t typanalyze:t typalign:t typstorage:t typnotnull:b typbasetype:i typtypmod:i typndims:i typcollation:i typdefaultbin:t typdefault:t typacl:t",
    ),
    (
        "pg_views",
        "schemaname:t viewname:t viewowner:t definition:t",
    ),
];

const INFORMATION_TABLES: [(&str, &str); 10] = [
    (
        "columns",
        "table_catalog:t table_schema:t table_name:t column_name:t ordinal_position:i column_default:t is_nullable:t data_type:t character_maximum_length:i character_octet_length:i numeric_precision:i numeric_precision_radix:i numeric_scale:i datetime_precision:i interval_type:t domain_name:t udt_catalog:t udt_schema:t udt_name:t is_identity:t identity_generation:t is_generated:t generation_expression:t is_updatable:t",
    ),
    (
        "constraint_column_usage",
        "table_catalog:t table_schema:t table_name:t column_name:t constraint_catalog:t constraint_schema:t constraint_name:t",
    ),
    (
        "key_column_usage",
        "constraint_catalog:t constraint_schema:t constraint_name:t table_catalog:t table_schema:t table_name:t column_name:t ordinal_position:i position_in_unique_constraint:i",
    ),
    (
        "referential_constraints",
        "constraint_catalog:t constraint_schema:t constraint_name:t unique_constraint_catalog:t unique_constraint_schema:t unique_constraint_name:t match_option:t update_rule:t delete_rule:t",
    ),
    (
        "routines",
        "specific_catalog:t specific_schema:t specific_name:t routine_catalog:t routine_schema:t routine_name:t routine_type:t data_type:t",
    ),
    (
        "schemata",
        "catalog_name:t schema_name:t schema_owner:t default_character_set_catalog:t default_character_set_schema:t default_character_set_name:t sql_path:t",
    ),
    (
        "table_constraints",
        "constraint_catalog:t constraint_schema:t constraint_name:t table_catalog:t table_schema:t table_name:t constraint_type:t",
    ),
    (
        "table_privileges",
        "grantor:t grantee:t table_catalog:t table_schema:t table_name:t privilege_type:t is_grantable:t",
    ),
    (
        "tables",
        "table_catalog:t table_schema:t table_name:t table_type:t is_insertable_into:t is_typed:t",
    ),
    (
        "views",
        "table_catalog:t table_schema:t table_name:t view_definition:t check_option:t is_updatable:t",
    ),
];

/// A value of a row.
#[derive(Clone)]
enum Cell {
    Number(i32),
    Text(String),
    Yes,
}

type Row = Vec<(&'static str, Cell)>;

fn number(value: i32) -> Cell {
    Cell::Number(value)
}

fn text(value: &str) -> Cell {
    Cell::Text(value.to_owned())
}

/// Whether the catalog has a table, of a schema or of any.
pub(super) fn is_known(schema: &str, name: &str) -> bool {
    all(schema).iter().any(|(own, _)| *own == name)
}

/// Whether a table never has a row.
pub(super) fn is_empty(schema: &str, name: &str) -> bool {
    is_known(schema, name) && rows(schema, name, "", &[]).is_empty()
}

fn all(schema: &str) -> &'static [(&'static str, &'static str)] {
    match schema {
        "pg_catalog" => &CATALOG_TABLES,
        "information_schema" => &INFORMATION_TABLES,
        _ => &[],
    }
}

/// The tables of a schema.
pub(super) fn of(
    schema: &str,
    database: &str,
    columns: &[Arc<Field>],
) -> Result<Vec<(&'static str, RecordBatch)>, SqlError> {
    let tables = all(schema).iter();
    tables
        .map(|(name, letters)| {
            Ok((
                *name,
                batch(letters, rows(schema, name, database, columns))?,
            ))
        })
        .collect()
}

fn batch(letters: &str, rows: Vec<Row>) -> Result<RecordBatch, SqlError> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for column in letters.split(' ') {
        let (name, letter) = column.split_once(':').unwrap_or((column, "t"));
        let of = match letter {
            "i" => DataType::Int32,
            "b" => DataType::Boolean,
            "f" => DataType::Float64,
            _ => DataType::Utf8,
        };
        let values = rows.iter().map(|row| {
            let cell = row
                .iter()
                .find(|(own, _)| *own == name)
                .map(|(_, cell)| cell);
            match (&of, cell) {
                (DataType::Int32, Some(Cell::Number(value))) => ScalarValue::Int32(Some(*value)),
                (DataType::Int32, _) => ScalarValue::Int32(Some(0)),
                (DataType::Float64, Some(Cell::Number(value))) => {
                    ScalarValue::Float64(Some(f64::from(*value)))
                }
                (DataType::Float64, _) => ScalarValue::Float64(Some(0.0)),
                (DataType::Boolean, cell) => ScalarValue::Boolean(Some(cell.is_some())),
                (_, Some(Cell::Text(value))) => ScalarValue::Utf8(Some(value.clone())),
                _ => ScalarValue::Utf8(None),
            }
        });
        let array = match rows.is_empty() {
            true => Ok(arrow::array::new_empty_array(&of)),
            false => ScalarValue::iter_to_array(values),
        };
        arrays.push(array.map_err(SqlError::planning)?);
        fields.push(Field::new(name, of, true));
    }
    let made = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
    made.map_err(|error| SqlError::Running {
        reason: error.to_string(),
    })
}

fn rows(schema: &str, table: &str, database: &str, columns: &[Arc<Field>]) -> Vec<Row> {
    match (schema, table) {
        ("pg_catalog", "pg_am") => vec![vec![
            ("oid", number(HEAP)),
            ("amname", text("heap")),
            ("amtype", text("t")),
        ]],
        ("pg_catalog", "pg_namespace") => [
            (CATALOG, "pg_catalog"),
            (PUBLIC, "public"),
            (INFORMATION, "information_schema"),
        ]
        .map(|(oid, name)| {
            vec![
                ("oid", number(oid)),
                ("nspname", text(name)),
                ("nspowner", number(OWNER_NUMBER)),
            ]
        })
        .into(),
        ("pg_catalog", "pg_class") => vec![vec![
            ("oid", number(RELATION)),
            ("relname", text(database)),
            ("relnamespace", number(PUBLIC)),
            ("relowner", number(OWNER_NUMBER)),
            ("relam", number(HEAP)),
            ("reltuples", number(-1)),
            ("relpersistence", text("p")),
            ("relkind", text("r")),
            ("relnatts", number(place(columns.len()))),
            ("relispopulated", Cell::Yes),
            ("relreplident", text("n")),
        ]],
        ("pg_catalog", "pg_attribute") => {
            let all = columns.iter().enumerate();
            let row = |(at, column): (usize, &Arc<Field>)| {
                let (oid, ..) = type_of(column.data_type());
                let known = TYPES.iter().find(|own| own.0 == oid);
                let mut row = vec![
                    ("attrelid", number(RELATION)),
                    ("attname", text(column.name())),
                    ("atttypid", number(oid)),
                    ("attlen", number(known.map_or(-1, |own| own.3))),
                    ("attnum", number(place(at + 1))),
                    ("attcacheoff", number(-1)),
                    ("atttypmod", number(-1)),
                    ("attstattarget", number(-1)),
                    ("attislocal", Cell::Yes),
                    ("attalign", text("i")),
                    ("attstorage", text("x")),
                    ("attcompression", text("")),
                    ("attidentity", text("")),
                    ("attgenerated", text("")),
                ];
                if !column.is_nullable() {
                    row.push(("attnotnull", Cell::Yes));
                }
                row
            };
            match database.is_empty() {
                // Whether the table has rows is asked before there are columns.
                true => vec![Row::new()],
                false => all.map(row).collect(),
            }
        }
        ("pg_catalog", "pg_type") => TYPES
            .iter()
            .flat_map(|(oid, name, _, length, category, array)| {
                let own = vec![
                    ("oid", number(*oid)),
                    ("typname", text(name)),
                    ("typlen", number(*length)),
                    ("typcategory", text(category)),
                    ("typarray", number(*array)),
                ];
                let of_many = vec![
                    ("oid", number(*array)),
                    ("typname", text(&format!("_{name}"))),
                    ("typlen", number(-1)),
                    ("typcategory", text("A")),
                    ("typelem", number(*oid)),
                    ("typinput", text("array_in")),
                ];
                [own, of_many].map(|mut row| {
                    row.extend([
                        ("typnamespace", number(CATALOG)),
                        ("typowner", number(OWNER_NUMBER)),
                        ("typtype", text("b")),
                        ("typisdefined", Cell::Yes),
                        ("typdelim", text(",")),
                        ("typtypmod", number(-1)),
                    ]);
                    row
                })
            })
            .collect(),
        ("pg_catalog", "pg_database") => vec![vec![
            ("oid", number(DATABASE)),
            ("datname", text(database)),
            ("datdba", number(OWNER_NUMBER)),
            ("encoding", number(6)),
            ("datlocprovider", text("c")),
            ("datallowconn", Cell::Yes),
            ("datconnlimit", number(-1)),
            ("datcollate", text("C")),
            ("datctype", text("C")),
        ]],
        ("pg_catalog", "pg_roles") => vec![vec![
            ("oid", number(OWNER_NUMBER)),
            ("rolname", text(OWNER)),
            ("rolinherit", Cell::Yes),
            ("rolconnlimit", number(-1)),
        ]],
        ("pg_catalog", "pg_settings") => SETTINGS
            .iter()
            .map(|(name, value)| {
                vec![
                    ("name", text(name)),
                    ("setting", text(value)),
                    ("context", text("user")),
                    ("vartype", text("string")),
                    ("source", text("default")),
                    ("boot_val", text(value)),
                    ("reset_val", text(value)),
                ]
            })
            .collect(),
        ("pg_catalog", "pg_tables") => vec![vec![
            ("schemaname", text("public")),
            ("tablename", text(database)),
            ("tableowner", text(OWNER)),
        ]],
        ("information_schema", "schemata") => ["pg_catalog", "public", "information_schema"]
            .map(|name| {
                vec![
                    ("catalog_name", text(database)),
                    ("schema_name", text(name)),
                    ("schema_owner", text(OWNER)),
                ]
            })
            .into(),
        ("information_schema", "tables") => vec![vec![
            ("table_catalog", text(database)),
            ("table_schema", text("public")),
            ("table_name", text(database)),
            ("table_type", text("BASE TABLE")),
            ("is_insertable_into", text("NO")),
            ("is_typed", text("NO")),
        ]],
        ("information_schema", "columns") if database.is_empty() => vec![Row::new()],
        ("information_schema", "columns") => columns
            .iter()
            .enumerate()
            .map(|(at, column)| {
                let (_, name, in_words) = type_of(column.data_type());
                vec![
                    ("table_catalog", text(database)),
                    ("table_schema", text("public")),
                    ("table_name", text(database)),
                    ("column_name", text(column.name())),
                    ("ordinal_position", number(place(at + 1))),
                    (
                        "is_nullable",
                        text(if column.is_nullable() { "YES" } else { "NO" }),
                    ),
                    ("data_type", text(in_words)),
                    ("udt_catalog", text(database)),
                    ("udt_schema", text("pg_catalog")),
                    ("udt_name", text(name)),
                    ("is_identity", text("NO")),
                    ("is_generated", text("NEVER")),
                    ("is_updatable", text("NO")),
                ]
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn place(at: usize) -> i32 {
    i32::try_from(at).unwrap_or(i32::MAX)
}
