pub(crate) mod plain;
