// PostgreSQL's JDBC driver, which DBeaver and Metabase use, too. The connection is in PG* variables.
import java.sql.*;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

public class Jdbc {
    static void check(boolean isTrue, String what) {
        if (!isTrue) throw new AssertionError(what);
    }

    static Connection connect(String password, String tls) throws SQLException {
        Properties words = new Properties();
        words.setProperty("user", System.getenv("PGUSER"));
        words.setProperty("password", password);
        words.setProperty("sslmode", tls);
        words.setProperty("sslrootcert", System.getenv("PGSSLROOTCERT"));
        String url = "jdbc:postgresql://localhost:" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
        return DriverManager.getConnection(url, words);
    }

    public static void main(String[] none) throws Exception {
        String password = System.getenv("PGPASSWORD");
        try (Connection connection = connect(password, "verify-full")) {
            // Beyond five times the driver prepares on the server, and asks for binary.
            try (PreparedStatement some = connection.prepareStatement("SELECT count(*) FROM hospital WHERE age < ? AND sex = ?")) {
                double before = 0;
                for (int round = 1; round <= 9; round++) {
                    some.setInt(1, 12 * round);
                    some.setString(2, "female");
                    try (ResultSet rows = some.executeQuery()) {
                        check(rows.next(), "no row");
                        check(rows.getDouble(1) >= before, "counts fall");
                        before = rows.getDouble(1);
                    }
                }
                check(before > 0, "nobody is there");
            }
            // Rows in parts.
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.setFetchSize(50);
                int count = 0;
                try (ResultSet rows = statement.executeQuery("SELECT age, age_low, admission_low, cost FROM hospital")) {
                    while (rows.next()) {
                        check(rows.getDate(3) != null, "no date");
                        count++;
                    }
                }
                check(count == 600, "rows: " + count);
            }
            connection.commit();
            connection.setAutoCommit(true);
            DatabaseMetaData about = connection.getMetaData();
            List<String> tables = new ArrayList<>();
            try (ResultSet rows = about.getTables(null, "public", "%", new String[] {"TABLE"})) {
                while (rows.next()) tables.add(rows.getString("TABLE_NAME"));
            }
            check(tables.equals(List.of("hospital")), "tables: " + tables);
            List<String> columns = new ArrayList<>();
            try (ResultSet rows = about.getColumns(null, "public", "hospital", "%")) {
                while (rows.next()) columns.add(rows.getString("COLUMN_NAME") + " " + rows.getString("TYPE_NAME"));
            }
            check(columns.contains("age_low int8"), "columns: " + columns);
            try (ResultSet rows = about.getPrimaryKeys(null, "public", "hospital")) {
                check(!rows.next(), "a key");
            }
            try (ResultSet rows = about.getSchemas()) {
                check(rows.next(), "no schema");
            }
            try (Statement statement = connection.createStatement()) {
                statement.execute("DROP TABLE hospital");
                throw new AssertionError("DROP is answered");
            } catch (SQLException refused) {
                check("25006".equals(refused.getSQLState()), refused.toString());
            }
            System.out.println("   JDBC driver " + about.getDriverVersion());
        }
        for (String[] wrong : new String[][] {{"wrong", "verify-full"}, {password, "disable"}}) {
            try {
                connect(wrong[0], wrong[1]).close();
                throw new AssertionError("connected");
            } catch (SQLException refused) {
                check(refused.getSQLState().startsWith("28"), refused.toString());
            }
        }
    }
}
