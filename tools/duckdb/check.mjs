// Counts a dataset with DuckDB, knowing nothing of mancalagym but docs/schema.md:
//
//     npm install && node check.mjs DIR [--json]
//
// The figures must be those of `mancala data stats DIR`.
import { DuckDBInstance } from "@duckdb/node-api";

const [dir, form] = process.argv.slice(2);
if (!dir || (form && form !== "--json")) {
  console.error("usage: node check.mjs DIR [--json]");
  process.exit(2);
}

const files = `read_parquet('${dir.replaceAll("'", "''")}/**/*.parquet', hive_partitioning = true)`;
const db = await (await DuckDBInstance.create()).connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson();

const total = await rows(`SELECT count(*) AS plies FROM ${files}`);
const variants = await rows(`
  WITH games AS (
    SELECT variant, spec, count(*) AS plies, sum(len(legal)) AS legal, count(policy) AS searched,
           any_value(outcome_south) AS outcome, any_value(reason) AS reason, bool_or(truncated) AS truncated,
           list(action ORDER BY ply) AS actions
    FROM ${files}
    GROUP BY variant, spec, south, north, seed, game
  )
  SELECT variant, spec, count(*) AS games, count(DISTINCT actions) AS "distinct", sum(plies)::BIGINT AS plies, sum(searched)::BIGINT AS searched,
         count_if(outcome = 1) AS south, count_if(outcome = -1) AS north,
         count_if(outcome = 0 AND reason <> 'endless') AS drawn, count_if(reason = 'endless') AS annulled,
         count_if(truncated) AS truncated, round(avg(plies), 2) AS mean_plies, median(plies) AS median_plies,
         round(sum(legal) / sum(plies), 3) AS branching
  FROM games GROUP BY variant, spec ORDER BY spec`);

if (form) {
  console.log(JSON.stringify({ plies: total[0].plies, variants }));
} else {
  console.log(`${total[0].plies} plies`);
  console.table(variants);
}
