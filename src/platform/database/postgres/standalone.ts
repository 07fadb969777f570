import type { Client, QueryResult } from "pg";
import type { RawRow } from "../database.ts";
import { statementOf } from "../query/statement.ts";
import type { SqlValue } from "../schema/table.ts";
import { makeSerial } from "../sqlite/serial.ts";
import {
  replyMilliseconds,
  readAsSqliteDoes,
  sessionOf,
  transactionOf,
  translate,
} from "./client.ts";
import { reach } from "./primary.ts";

/** Runs statements on a connection, one after another. It throws the store's errors. */
export interface Direct {
  all(sql: string, values: readonly SqlValue[]): Promise<RawRow[]>;
  /** Runs statements without values, such as COMMIT. */
  exec(sql: string): Promise<void>;
}

/** A connection outside any pool. */
interface Standalone {
  readonly connection: Direct;
  /** Runs a SELECT, in a transaction of its own or in that of `holdSnapshot`. */
  read(sql: string, values: readonly SqlValue[]): Promise<RawRow[]>;
  /**
   * Takes the snapshot of all later reads, which begins after a lock was taken that lasts until `close`: tables are not
   * part of a snapshot, so that a migration would change them under it.
   * @param lock the call of a function that takes an advisory lock for a transaction
   */
  holdSnapshot(lock: string): Promise<void>;
  close(): Promise<void>;
}

/** The limit of a statement; the transactions of a restore and of a backup lift it. */
const settings = ["statement_timeout = '30s'"];
const unlimitedIdle = "idle_in_transaction_session_timeout = 0";

export function directOf(client: Client, mayWrite: boolean): Direct {
  // pg requires that a query is issued only after the previous one has ended.
  const inOrder = makeSerial();

  async function query(text: string, values: readonly SqlValue[]): Promise<RawRow[]> {
    try {
      const { rows } = await new Promise<QueryResult<RawRow>>((resolve) => {
        inOrder((done) => {
          resolve(client.query<RawRow>(text, [...values]).finally(done));
        });
      });
      return rows;
    } catch (error) {
      throw translate(error, text, mayWrite);
    }
  }

  return {
    async all(sql, values) {
      statementOf(sql, values);
      return query(sql, values);
    },
    async exec(sql) {
      await query(sql, []);
    },
  };
}

/**
 * Opens a single connection outside any pool, read-only unless `mayWrite`. Behind a pooler, which may give the server's
 * connection to others after each transaction, only transactions have settings.
 */
export async function connectAlone(
  url: string,
  connectMs: number,
  mayWrite = false,
): Promise<Standalone> {
  const { default: driver } = await import("pg");
  const { client, isPooled } = await reach(url, {
    name: "till look",
    connectMs,
    replyMs: replyMilliseconds,
  });
  readAsSqliteDoes(client, driver.types.builtins);
  if (!isPooled) await client.query(sessionOf(settings, mayWrite));
  const connection = directOf(client, mayWrite);
  const begin = transactionOf(settings, false);
  let isInTransaction = false;
  let unlock = () => Promise.resolve();
  return {
    connection,
    read: (sql, values) =>
      isPooled && !isInTransaction
        ? selectAlone(connection, begin, sql, values)
        : connection.all(sql, values),
    async holdSnapshot(lock) {
      unlock = (await holdLock(url, connectMs, `SELECT 1 AS taken FROM ${lock}`)) ?? unlock;
      await connection.exec(
        `${transactionOf([...settings, unlimitedIdle], false)}; SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`,
      );
      isInTransaction = true;
      // The snapshot is taken with the first read.
      await connection.all("SELECT COUNT(*) FROM schema_versions", []);
    },
    async close() {
      await client.end();
      await unlock();
    },
  };
}

/**
 * Takes an advisory lock, for longer than one transaction of the work that it guards, and returns how it is released;
 * null if another one holds it. A connection of its own holds it in an open transaction, because a pooler may end a
 * session after each.
 * @param take SQL that takes the lock, and whose column `taken` is 1 if it did
 */
export async function holdLock(
  url: string,
  connectMs: number,
  take: string,
): Promise<(() => Promise<void>) | null> {
  const alone = await connectAlone(url, connectMs);
  const { connection } = alone;
  try {
    await connection.exec(transactionOf([...settings, unlimitedIdle], false));
    const [lock] = await connection.all(take, []);
    if (lock?.["taken"] === 1) return () => alone.close();
  } catch (error) {
    await alone.close();
    throw error;
  }
  await alone.close();
  return null;
}

/** Runs a SELECT in a transaction of its own. */
async function selectAlone(
  connection: Direct,
  begin: string,
  sql: string,
  values: readonly SqlValue[],
): Promise<RawRow[]> {
  try {
    await connection.exec(begin);
    return await connection.all(sql, values);
  } finally {
    await connection.exec("ROLLBACK").catch(() => undefined);
  }
}
