import type { StoreLogger } from "../database.ts";
import { StatementFailed, StoreUnavailable, unavailable } from "../errors.ts";
import { openDatabase } from "../open.ts";
import { makeReader } from "../query/statement.ts";
import { StoreInUse, type NewStore } from "../transfer/new-store.ts";
import { tablesAt } from "../transfer/rows.ts";
import { transactionOf } from "./client.ts";
import { connectAlone, holdLock, type Direct } from "./standalone.ts";

/** The schema that is filled; its name is the same each time, so that the next restore removes what a kill left. */
const newSchema = "till_restoring";
/** The key of the advisory lock during a restore: an arbitrary number. */
const restoreLock = 7_184_552_002;
const connectMilliseconds = 4_000;
/** Begins a transaction whose statements may take any time. */
const unlimited = transactionOf(
  ["statement_timeout = 0", "idle_in_transaction_session_timeout = 0"],
  true,
);
/** For writing rows, one at a time, and reading them. */
const connections = 3;

/**
 * Fills a schema beside that of the store. `replace` moves the tables of both in one transaction, and nothing else that
 * the schemas contain.
 */
export async function openNewPostgres(url: string, logger: StoreLogger): Promise<NewStore> {
  const unlock = await holdLock(
    url,
    connectMilliseconds,
    `SELECT pg_try_advisory_xact_lock(${String(restoreLock)}) AS taken`,
  ).catch((error: unknown) => {
    throw error instanceof StoreUnavailable
      ? error
      : unavailable("The database cannot be reached", error);
  });
  if (unlock === null) {
    throw new StoreInUse("Another restore or copy into this database is running. Wait for it.");
  }
  try {
    const alone = await connectAlone(url, connectMilliseconds, true);
    try {
      await prepareSchema(alone.connection);
      const db = await openDatabase({ url, schema: newSchema, connections, logger });
      const close = async () => {
        await alone.close();
        await unlock();
      };
      return newStoreOf(db, { ...alone, close });
    } catch (error) {
      await alone.close();
      throw error;
    }
  } catch (error) {
    await unlock();
    throw error;
  }
}

async function prepareSchema(connection: Direct): Promise<void> {
  try {
    await connection.exec(unlimited);
    await connection.exec(`DROP SCHEMA IF EXISTS ${newSchema} CASCADE`);
    await connection.exec(`CREATE SCHEMA ${newSchema}`);
    await connection.exec("COMMIT");
  } catch (error) {
    if (!(error instanceof StatementFailed) || error.code !== "42501") throw error;
    throw new StoreInUse(
      "The database role may not create a schema, in which the restored store is prepared. As the database's owner run: GRANT CREATE ON DATABASE … TO …",
    );
  }
}

async function dropSchema(connection: Direct): Promise<void> {
  await connection.exec(unlimited);
  await connection.exec(`DROP SCHEMA IF EXISTS ${newSchema} CASCADE`);
  await connection.exec("COMMIT");
}

function newStoreOf(db: NewStore["db"], alone: Awaited<ReturnType<typeof connectAlone>>): NewStore {
  const { connection } = alone;
  let isOpen = true;
  const end = async () => {
    if (!isOpen) return;
    isOpen = false;
    await dropSchema(connection).catch(() => undefined);
    await alone.close();
  };
  return {
    db,
    async replace(moment, lastStep, beforeSwitch) {
      const formerSchema = `till_before_restore_${moment}`;
      await connection.exec(unlimited);
      try {
        await connection.exec("SET LOCAL lock_timeout = '15s'");
        const [at] = await connection.all("SELECT current_schema() AS schema", []);
        const home = String(at?.["schema"]);
        const former = await tablesIn(connection, home);
        if (former.length > 0) {
          const tables = former.map((name) => `${quoted(home)}.${name}`);
          await connection.exec(`LOCK TABLE ${tables.join(", ")} IN ACCESS EXCLUSIVE MODE`);
          await lastStep(makeReader("postgres", (sql, values) => connection.all(sql, values)));
          await connection.exec(`CREATE SCHEMA ${formerSchema}`);
          await moveTables(connection, former, home, formerSchema);
        } else await lastStep(null);
        await db.close();
        await moveTables(connection, await tablesIn(connection, newSchema), newSchema, home);
        await beforeSwitch();
        await connection.exec("COMMIT");
        return former.length > 0 ? `the schema ${formerSchema}` : null;
      } catch (error) {
        await connection.exec("ROLLBACK").catch(() => undefined);
        throw error;
      }
    },
    async discard() {
      await db.close();
      await end();
    },
  };
}

/** Returns the tables of Till in a schema; a store of any migration level. */
async function tablesIn(connection: Direct, schema: string): Promise<string[]> {
  const rows = await connection.all(
    "SELECT CAST(tablename AS text) AS name FROM pg_tables WHERE schemaname = $1",
    [schema],
  );
  const here = new Set(rows.map(({ name }) => String(name)));
  if (!here.has("schema_versions")) return [];
  const known = new Set<string>();
  const [newest] = await connection.all(
    `SELECT MAX(version) AS version FROM ${quoted(schema)}.schema_versions`,
    [],
  );
  for (let level = 0; level <= Number(newest?.["version"]); level += 1) {
    for (const name of tablesAt(level)) known.add(name);
  }
  return [...known].filter((name) => here.has(name));
}

/** Moves tables, with their indexes and the functions of their triggers, in the open transaction. */
async function moveTables(
  connection: Direct,
  tables: readonly string[],
  from: string,
  to: string,
): Promise<void> {
  for (const table of tables) {
    const functions = await connection.all(
      `SELECT DISTINCT CAST(proname AS text) AS name FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
       WHERE tgrelid = to_regclass($1) AND NOT tgisinternal`,
      [`${quoted(from)}.${table}`],
    );
    await connection.exec(`ALTER TABLE ${quoted(from)}.${table} SET SCHEMA ${quoted(to)}`);
    for (const { name } of functions) {
      await connection.exec(
        `ALTER FUNCTION ${quoted(from)}.${quoted(String(name))}() SET SCHEMA ${quoted(to)}`,
      );
    }
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
