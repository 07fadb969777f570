import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import "../../../src/compose/app.ts";
import {
  columnName,
  columnTypes,
  declaredTables,
  type Column,
  type Table,
} from "../../../src/platform/database/schema/table.ts";
import type { Database, Dialect } from "../../../src/platform/database/database.ts";
import { describeSchema } from "../../support/store/describe-schema.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

interface DescribedColumn {
  readonly type: string;
  readonly isNullable: boolean;
}

interface DescribedIndex {
  readonly columns: readonly string[];
  readonly unique: boolean;
  readonly where: string | null;
}

/** A table in a form in which a declaration and the database can be compared. */
interface Described {
  readonly columns: Readonly<Record<string, DescribedColumn>>;
  readonly primaryKey: readonly string[];
  readonly indexes: Readonly<Record<string, DescribedIndex>>;
}

const source = fileURLToPath(new URL("../../../src", import.meta.url));

/** Returns every declared table. Each table that a file of src/ declares must be among those that the program loads. */
function allTables(): readonly Table[] {
  const texts = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(join(source, file), "utf8"));
  const written = texts.flatMap((text) => [...text.matchAll(/ = table\(\s*"(\w+)"/g)]);
  const tables = declaredTables().filter(({ name }) => !name.startsWith("test_"));
  expect(tables.map(({ name }) => name)).to.have.members(written.map(([, name]) => name));
  return tables;
}

const storedTypes: Readonly<Record<Dialect, Record<Column<unknown>["kind"], string>>> = {
  sqlite: {
    text: "TEXT",
    json: "TEXT",
    amount: "TEXT checked",
    signedAmount: "TEXT checked with sign",
    integer: "INTEGER",
    time: "INTEGER",
    flag: "INTEGER",
  },
  postgres: {
    text: "text C",
    json: "text C",
    amount: "text C checked",
    signedAmount: "text C checked with sign",
    integer: "bigint",
    time: "bigint",
    flag: "smallint",
  },
};

async function declared(table: Table, db: Database): Promise<Described> {
  const columns = Object.entries(table.columns).map(([property, column]) => [
    columnName(property),
    { type: storedTypes[db.dialect][column.kind], isNullable: column.isNullable },
  ]);
  const indexes: [string, DescribedIndex][] = [];
  for (const { name, columns: properties, unique = false, where } of table.indexes) {
    const names = properties.map((part) => (isExpression(part) ? part : columnName(part)));
    const isPlain = where === undefined && !names.some(isExpression);
    const index = isPlain
      ? { columns: names, where: null }
      : await inItsWords(db, table, names, where);
    indexes.push([name, { ...index, unique }]);
  }
  return {
    columns: Object.fromEntries(columns) as Described["columns"],
    primaryKey: table.primaryKey.map(columnName),
    indexes: Object.fromEntries(indexes),
  };
}

const isExpression = (part: string) => part.includes("(");

/** Returns an index's expressions and condition in the database's own spelling. */
async function inItsWords(
  db: Database,
  table: Table,
  columns: readonly string[],
  where: string | undefined,
): Promise<Pick<DescribedIndex, "columns" | "where">> {
  const condition = where === undefined ? "" : ` WHERE ${where}`;
  const make = `CREATE INDEX drift_probe ON ${table.name} (${columns.join(", ")})${condition}`;
  await db.write(testContext, (tx) => tx.run(make));
  const { indexes } = await stored(table.name, db);
  await db.write(testContext, (tx) => tx.run("DROP INDEX drift_probe"));
  const probe = indexes["drift_probe"];
  return { columns: probe?.columns ?? [], where: probe?.where ?? null };
}

function stored(table: string, db: Database): Promise<Described> {
  return db.dialect === "sqlite" ? storedInSqlite(table, db) : storedInPostgres(table, db);
}

async function storedInSqlite(table: string, db: Database): Promise<Described> {
  const [definition] = await db.all<{ sql: string }>(
    "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = $1",
    [table],
  );
  const columns = await db.all<{ name: string; type: string; notnull: number; pk: number }>(
    'SELECT name, type, "notnull", pk FROM pragma_table_info($1)',
    [table],
  );
  const indexes = await db.all<{
    name: string;
    is_unique: number;
    names: string | null;
    sql: string;
  }>(
    `SELECT list.name, list."unique" AS is_unique,
        (SELECT CASE WHEN COUNT(*) = COUNT(name) THEN group_concat(name) END
          FROM (SELECT name FROM pragma_index_info(list.name) ORDER BY seqno)) AS names,
        (SELECT sql FROM sqlite_master WHERE type = 'index' AND name = list.name) AS sql
      FROM pragma_index_list($1) AS list WHERE list.origin = 'c'`,
    [table],
  );
  const isDefined = (column: string) => definition?.sql.includes(column) ?? false;
  const typeOf = ({ name, type }: { name: string; type: string }) => {
    if (isDefined(`${name} ${columnTypes.sqlite.amount(name)}`)) return `${type} checked`;
    const isSigned = isDefined(`${name} ${columnTypes.sqlite.signedAmount(name)}`);
    return isSigned ? `${type} checked with sign` : type;
  };
  return {
    columns: Object.fromEntries(
      columns.map(({ name, type, notnull, pk }) => [
        name,
        {
          type: typeOf({ name, type }),
          // SQLite allows NULL in a primary key unless declared otherwise; the program never inserts it.
          isNullable: notnull === 0 && pk === 0,
        },
      ]),
    ),
    primaryKey: columns
      .filter(({ pk }) => pk > 0)
      .sort((left, right) => left.pk - right.pk)
      .map(({ name }) => name),
    indexes: Object.fromEntries(
      indexes.map(({ name, is_unique, names, sql }) => [
        name,
        {
          columns: names === null ? listedIn(sql) : names.split(","),
          unique: is_unique === 1,
          where: /\bWHERE\s+(.+)$/is.exec(sql)?.[1]?.replace(/\s+/g, " ").trim() ?? null,
        },
      ]),
    ),
  };
}

/** Returns the columns and expressions in the CREATE statement of a SQLite index. */
function listedIn(sql: string): string[] {
  return [/\((.+)\)(?: WHERE .+)?$/is.exec(sql)?.[1] ?? ""];
}

async function storedInPostgres(table: string, db: Database): Promise<Described> {
  const columns = await db.all<{
    name: string;
    type: string;
    collation: string | null;
    not_null: number;
    checks: string | null;
  }>(
    `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, c.collname AS collation,
        a.attnotnull AS not_null,
        (SELECT string_agg(pg_get_constraintdef(k.oid), ' ') FROM pg_constraint k
          WHERE k.conrelid = a.attrelid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]) AS checks
      FROM pg_attribute a LEFT JOIN pg_collation c ON c.oid = a.attcollation
      WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped`,
    [table],
  );
  const indexes = await db.all<{
    name: string;
    is_unique: number;
    is_primary: number;
    names: string;
    condition: string | null;
  }>(
    `SELECT i.relname AS name, x.indisunique AS is_unique, x.indisprimary AS is_primary,
        pg_get_expr(x.indpred, x.indrelid) AS condition,
        (SELECT string_agg(pg_get_indexdef(x.indexrelid, place, true), '\n' ORDER BY place)
          FROM generate_series(1, x.indnatts) AS place) AS names
      FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
      WHERE x.indrelid = to_regclass($1)`,
    [table],
  );
  const typeOf = ({ type, collation, checks }: (typeof columns)[number]) =>
    [
      type,
      collation ?? "",
      checks?.includes("{78}") === true ? "checked" : "",
      checks?.includes("[-0]") === true ? "with sign" : "",
    ]
      .filter((part) => part !== "")
      .join(" ");
  return {
    columns: Object.fromEntries(
      columns.map((column) => [
        column.name,
        { type: typeOf(column), isNullable: column.not_null === 0 },
      ]),
    ),
    primaryKey:
      indexes
        .find((index) => index.is_primary === 1)
        ?.names.replaceAll('"', "")
        .split("\n") ?? [],
    indexes: Object.fromEntries(
      indexes
        .filter((index) => index.is_primary === 0)
        .map(({ name, is_unique, names, condition }) => [
          name,
          {
            columns: names.replaceAll('"', "").split("\n"),
            unique: is_unique === 1,
            where: condition,
          },
        ]),
    ),
  };
}

const zero = `'${"0".repeat(78)}'`;

/** The columns that have a default, with it: they were added to tables with rows. */
const defaults: readonly string[] = [
  ...["allowed_origins '[]'", "cursor_time 0", "denials 0", "early_attempts 0", "healed_at 0"],
  ...["held_attempts 0", "is_known 0", "is_mark_recent 0", "is_new_address 0", "issued_count 0"],
  ...["items 1", "late_window_days 7", "needs_decision 0", "ordinal 0", "payment_rule ''"],
  ...["tip_seen_at 0", "transaction_hash ''", "transaction_hashes '[]'", "usual_lag_ms 0"],
  ...["verification 'open'", "version 1"],
  ...["refund_requested", "refunded", "rounding_amount"].map((name) => `${name} ${zero}`),
];

/** The objects beside tables and indexes: they keep rows unchanged, or tell PostgreSQL how columns depend on each other. */
const besidesTables: Readonly<Record<Dialect, readonly string[]>> = {
  sqlite: ["trigger platform_invoice_lines_no_delete", "trigger platform_invoice_lines_no_update"],
  postgres: [
    "function platform_invoice_lines_refuse_change",
    "statistics webhook_deliveries_endpoint_and_status",
    "trigger platform_invoice_lines_no_change",
  ],
};

const tableNames: Readonly<Record<Dialect, string>> = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  postgres: "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
};

eachStore("a migrated store", (store) => {
  let db: Database;
  let tables: readonly Table[];

  before(async () => {
    db = await store.open();
    tables = allTables();
  });

  it("has exactly the declared tables", async () => {
    const names = (await db.all<{ name: string }>(tableNames[db.dialect])).map(({ name }) => name);
    expect(names.sort()).to.deep.equal(tables.map(({ name }) => name).sort());
  });

  it("has the declared columns, keys and indexes in every table", async () => {
    for (const table of tables) {
      expect(await stored(table.name, db), table.name).to.deep.equal(await declared(table, db));
    }
  });

  it("has defaults only where a migration added a column, the same on both databases", async () => {
    const found = (await describeSchema(db)).split("\n").flatMap((line) => {
      const [, name, value] = /^ {2}(\w+) .*\bdefault (.+)$/i.exec(line) ?? [];
      return name === undefined ? [] : [`${name} ${value?.replace(/::\w+/, "") ?? ""}`];
    });
    expect(found.sort()).to.deep.equal([...defaults].sort());
  });

  it("has no triggers, functions and statistics but these", async () => {
    const named = /^CREATE (?:OR REPLACE )?(TRIGGER|FUNCTION|STATISTICS) (?:public\.)?(\w+)/;
    const found = (await describeSchema(db)).split("\n").flatMap((line) => {
      const [, kind = "", name] = named.exec(line) ?? [];
      return name === undefined ? [] : [`${kind.toLowerCase()} ${name}`];
    });
    expect(found.sort()).to.deep.equal(besidesTables[db.dialect]);
  });

  it("has at most one unique index per list of columns, by which SQLite reports a violation", () => {
    for (const table of tables) {
      const unique = table.indexes.filter((index) => index.unique === true);
      const columns = unique.map((index) => index.columns.join());
      expect(new Set([...columns, table.primaryKey.join()]), table.name).to.have.property(
        "size",
        columns.length + 1,
      );
    }
  });
});
