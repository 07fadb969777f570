// PostgreSQL databases that suites use one after another. Creating one takes a third of a second and dropping it a
// tenth; emptying one takes a hundredth.
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { directOf } from "../../../src/platform/database/postgres/standalone.ts";
import { readAsSqliteDoes } from "../../../src/platform/database/postgres/client.ts";
import { makeReader } from "../../../src/platform/database/query/statement.ts";
import type { Reader } from "../../../src/platform/database/database.ts";
import { dropDatabase, freshDatabase } from "./postgres.ts";

/** A database that contains only the content of its template when it is taken. */
export interface ReusedDatabase {
  readonly url: string;
  /** A reader on a connection that stays open for later users. */
  readonly reader: Reader;
  /**
   * Empties it for the next user. It is dropped instead if emptying would not restore it: a connection is still open,
   * its tables or indexes were altered, or the server is shared, where a test must not disable foreign keys.
   */
  giveBack(): Promise<void>;
}

interface Kept extends ReusedDatabase {
  readonly client: pg.Client;
  /** The initial content: its schema, and the rows that the migrations wrote. */
  readonly schema: string | null;
  readonly rows: readonly { readonly table: string; readonly json: string }[];
}

const looksMax = 40;
const lookMs = 5;

/** Unused databases by template. */
const free = new Map<string | undefined, Kept[]>();

/** Takes a database that equals `template`, to which no connection may be open; without a template an empty one. */
export async function takeDatabase(template?: string): Promise<ReusedDatabase> {
  return free.get(template)?.pop() ?? (await makeDatabase(template));
}

async function makeDatabase(template?: string): Promise<Kept> {
  const url = await freshDatabase(template);
  const client = new pg.Client({ connectionString: url, application_name: "till tests" });
  // A server that a test ends, or the end of the tests, is not a failure here.
  client.on("error", () => undefined);
  await client.connect();
  readAsSqliteDoes(client, pg.types.builtins);
  // An idle connection must not keep the test process alive.
  (client as unknown as { unref(): void }).unref();
  const lent = directOf(client, true);
  const kept: Kept = {
    url,
    client,
    reader: makeReader("postgres", (sql, values) => lent.all(sql, values)),
    schema: await schemaOf(client),
    rows: await rowsOf(client),
    async giveBack() {
      if (await empty(kept)) {
        free.set(template, [...(free.get(template) ?? []), kept]);
        return;
      }
      await client.end();
      await dropDatabase(url);
    },
  };
  return kept;
}

/** Restores the initial state; false if that is impossible. */
async function empty({ client, schema, rows }: Kept): Promise<boolean> {
  if (process.env["TEST_DATABASE_URL"] !== undefined || !(await isAlone(client))) return false;
  if (schema === null) {
    await client.query("DROP SCHEMA public CASCADE");
    await client.query("CREATE SCHEMA public");
    return true;
  }
  if ((await schemaOf(client)) !== schema) return false;
  await client.query("BEGIN");
  await client.query(emptying);
  for (const { table, json } of rows) {
    const sql = `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`;
    await client.query(sql, [json]);
  }
  await client.query("COMMIT");
  return true;
}

/** A closed connection may still be listed for a moment. */
async function isAlone(client: pg.Client): Promise<boolean> {
  for (let looks = 0; looks < looksMax; looks += 1) {
    const { rows } = await client.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    if (rows.length === 0) return true;
    await delay(lookMs);
  }
  return false;
}

/** Deletes all rows and the planner's statistics; a table that has grown is recreated, so that it is small again. */
const emptying = `DO $$
  DECLARE grown RECORD;
  BEGIN
    SET LOCAL session_replication_role = replica;
    FOR grown IN
      SELECT oid::regclass AS name, pg_relation_size(oid) AS bytes FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    LOOP
      IF grown.bytes > 1048576 THEN EXECUTE format('TRUNCATE %s CASCADE', grown.name);
      ELSIF grown.bytes > 0 THEN EXECUTE format('DELETE FROM %s', grown.name);
      END IF;
    END LOOP;
    DELETE FROM pg_statistic USING pg_class
      WHERE starelid = pg_class.oid AND relnamespace = 'public'::regnamespace;
  END $$`;

/** Returns tables, columns, indexes and triggers as text; null if the database has none. */
async function schemaOf(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query<{ schema: string | null }>(
    `SELECT md5(string_agg(concat_ws(' ', attrelid, attname, atttypid, attnotnull), ',' ORDER BY attrelid, attnum))
       || ' ' || (SELECT COUNT(*) FROM pg_trigger) || ' ' || (SELECT COUNT(*) FROM pg_constraint) AS "schema"
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relnamespace = 'public'::regnamespace`,
  );
  return rows[0]?.schema ?? null;
}

async function rowsOf(client: pg.Client): Promise<Kept["rows"]> {
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  const found = [];
  for (const { name } of tables) {
    const { rows } = await client.query<{ json: string | null }>(
      `SELECT json_agg(${name})::text AS json FROM ${name}`,
    );
    const json = rows[0]?.json ?? null;
    if (json !== null) found.push({ table: name, json });
  }
  return found;
}
