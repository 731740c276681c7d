//! The files of a table as the engine sees them.

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::execution::context::SessionContext;
use hedgerow_data::files::{Compression, Head, Parts, is_address};
use url::Url;

use super::{CountError, quoted, store};

/// The table's name in the statement.
pub(super) const NAME: &str = "hedgerow_rows";

/// Makes the files known to the engine, as one table.
pub(super) fn register(context: &SessionContext, parts: &Parts) -> Result<(), CountError> {
    let first = &parts.files()[0];
    let (format, schema): (Arc<dyn FileFormat>, SchemaRef) = match parts.head() {
        Head::Parquet(schema) => (Arc::new(ParquetFormat::default()), as_read(schema)),
        Head::Csv { is_plain: true, .. } => csv(parts.head()),
        Head::Csv { .. } => return Err(CountError::OddCsv(first.clone())),
        Head::Excel => return Err(CountError::Excel(first.clone())),
    };
    let urls = parts.files().iter().map(|file| url(file));
    let urls = urls.collect::<Result<Vec<_>, _>>()?;
    // Each file is named, so whatever its name ends in.
    let options = ListingOptions::new(format).with_file_extension("");
    let config = ListingTableConfig::new_with_multi_paths(urls)
        .with_listing_options(options)
        .with_schema(schema);
    context.register_table(NAME, Arc::new(ListingTable::try_new(config)?))?;
    Ok(())
}

/// A column's value as it is counted.
pub(super) fn value(column: &str, parts: &Parts) -> String {
    let name = quoted(column);
    match parts.head() {
        // The engine takes an empty field for none at all.
        Head::Csv { .. } => format!("coalesce({name}, '')"),
        _ => name,
    }
}

/// The columns of CSV, all of them text.
fn csv(head: &Head) -> (Arc<dyn FileFormat>, SchemaRef) {
    let Head::Csv {
        names,
        delimiter,
        compression,
        ..
    } = head
    else {
        return (Arc::new(CsvFormat::default()), Arc::new(Schema::empty()));
    };
    let fields = names
        .iter()
        .map(|name| Field::new(name, DataType::Utf8, true));
    let fields: Vec<Field> = fields.collect();
    let format = CsvFormat::default()
        .with_has_header(true)
        .with_delimiter(*delimiter)
        // Quoted values may go over several lines, so a file is not cut at the end of any line.
        .with_newlines_in_values(true)
        .with_file_compression_type(match compression {
            Compression::None => FileCompressionType::UNCOMPRESSED,
            Compression::Gzip => FileCompressionType::GZIP,
            Compression::Zstd => FileCompressionType::ZSTD,
        });
    (Arc::new(format), Arc::new(Schema::new(fields)))
}

/// The columns of Parquet, without what their file says beside its types. Dictionaries are read as what is in
/// them: their keys may be too few for the values of several files.
fn as_read(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|field| {
        let kind = match field.data_type() {
            DataType::Dictionary(_, value) => value.as_ref(),
            kind => kind,
        };
        Field::new(field.name(), kind.clone(), true)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The address of a file or an object. Not a file's path, in which `*` and `?` would stand for others.
fn url(file: &Path) -> Result<ListingTableUrl, CountError> {
    if is_address(file) {
        return Ok(ListingTableUrl::try_new(store::url(file)?, None)?);
    }
    let whole = std::path::absolute(file).map_err(|error| CountError::Path {
        path: file.to_owned(),
        reason: error.to_string(),
    })?;
    let url = Url::from_file_path(&whole).map_err(|()| CountError::Path {
        path: file.to_owned(),
        reason: String::from("it has no address"),
    })?;
    Ok(ListingTableUrl::try_new(url, None)?)
}
