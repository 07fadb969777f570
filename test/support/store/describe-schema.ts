import type { Database } from "../../../src/platform/database/database.ts";
import { tableNamesOf } from "./dump.ts";

/**
 * Describes a store's schema, and the rows that it begins with, as lines that are equal if and only if the schemas are:
 * columns in their order with types, defaults and rules, keys, indexes, triggers and functions.
 */
export async function describeSchema(db: Database): Promise<string> {
  const objects = await { sqlite: describeSqlite, postgres: describePostgres }[db.dialect](db);
  const rows: string[] = [];
  for (const table of await tableNamesOf(db)) {
    if (table === "schema_versions") continue;
    const found = await db.all(`SELECT * FROM ${table}`);
    rows.push(...found.map((row) => `row ${table} ${JSON.stringify(row)}`));
  }
  return [...objects, ...rows.sort(), ""].join("\n");
}

async function describeSqlite(db: Database): Promise<string[]> {
  const objects = await db.all<{ name: string; sql: string }>(
    "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name",
  );
  return objects.flatMap(({ name, sql }) => {
    const text = sql.replace(/\s+/g, " ").trim();
    const [, body, rest = ""] = /^CREATE TABLE \w+ \((.*)\)([^)]*)$/.exec(text) ?? [];
    if (body === undefined) return [text];
    const parts = partsOf(body);
    const rules = parts.filter((part) => isRule.test(part)).sort();
    const columns = parts.filter((part) => !isRule.test(part));
    return [`table ${name}${rest}`, ...[...columns, ...rules].map((part) => `  ${part}`)];
  });
}

const isRule = /^(PRIMARY KEY|UNIQUE|CHECK|FOREIGN KEY|CONSTRAINT)\b/;

/** Splits the body of a CREATE TABLE at its commas, but not inside of parentheses and texts. */
function partsOf(body: string): string[] {
  const parts = [""];
  let depth = 0;
  let isText = false;
  for (const letter of body) {
    if (letter === "'") isText = !isText;
    if (!isText && letter === "(") depth += 1;
    if (!isText && letter === ")") depth -= 1;
    if (!isText && depth === 0 && letter === ",") parts.push("");
    else parts.push(`${parts.pop() ?? ""}${letter}`);
  }
  return parts.map((part) => part.trim());
}

/** Statements that each return lines of the description. */
const catalogue: readonly string[] = [
  `SELECT format('table %s', c.relname) || string_agg(format(E'\\n  %s %s%s%s%s', a.attname,
      format_type(a.atttypid, a.atttypmod), ' ' || l.collname, CASE WHEN a.attnotnull THEN ' not null' END,
      ' default ' || pg_get_expr(d.adbin, d.adrelid)), '' ORDER BY a.attnum) AS line
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' GROUP BY c.relname`,
  // Later versions of PostgreSQL list NOT NULL here too.
  `SELECT format('rule %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS line
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'`,
  `SELECT format('%s', indexdef) AS line FROM pg_indexes WHERE schemaname = 'public'`,
  `SELECT pg_get_triggerdef(oid) AS line FROM pg_trigger WHERE NOT tgisinternal`,
  `SELECT regexp_replace(pg_get_functiondef(oid), '\\s+', ' ', 'g') AS line
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  `SELECT pg_get_statisticsobjdef(oid) AS line FROM pg_statistic_ext`,
];

async function describePostgres(db: Database): Promise<string[]> {
  const lines: string[] = [];
  for (const statement of catalogue) {
    const found = await db.all<{ line: string }>(statement);
    lines.push(...found.map(({ line }) => line).sort());
  }
  return lines;
}
