# R, with RPostgres or RPostgreSQL. The connection is in PG* variables.
if (requireNamespace("RPostgres", quietly = TRUE)) {
  package <- "RPostgres"
  connection <- DBI::dbConnect(RPostgres::Postgres())
} else {
  package <- "RPostgreSQL"
  connection <- DBI::dbConnect(RPostgreSQL::PostgreSQL(), dbname = Sys.getenv("PGDATABASE"))
}
quiet <- suppressWarnings
counts <- quiet(DBI::dbGetQuery(connection, "SELECT sex, count(*) AS n FROM hospital GROUP BY sex ORDER BY sex"))
stopifnot(sum(as.numeric(counts$n)) == 600, identical(counts$sex, c("female", "male")))
stopifnot("hospital" %in% DBI::dbListTables(connection))
stopifnot("age_low" %in% DBI::dbListFields(connection, "hospital"))
sql <- "SELECT count(*) AS n FROM hospital WHERE age < $1"
if (package == "RPostgres") {
  some <- quiet(DBI::dbGetQuery(connection, sql, params = list(40)))
} else {
  some <- quiet(DBI::dbGetQuery(connection, sql, list(40)))
}
stopifnot(some$n > 0, some$n < 600)
rows <- quiet(DBI::dbGetQuery(connection, "SELECT age_low, cost FROM hospital"))
stopifnot(nrow(rows) == 600, is.numeric(as.numeric(rows$age_low)))
refused <- tryCatch({ quiet(DBI::dbExecute(connection, "DROP TABLE hospital")); FALSE }, error = function(e) TRUE)
stopifnot(refused)
invisible(DBI::dbDisconnect(connection))
cat("  ", R.version.string, "with", package, as.character(packageVersion(package)), "\n")
