import type { Dialect, Tx } from "../database.ts";
import { listedTexts } from "../query/json-rows.ts";

// SQLite runs one write at a time and needs no locks.

/**
 * A suffix for a SELECT in a transaction that keeps its rows unchanged until the commit, while others may read them
 * with the same lock.
 */
export const sharedLock: Readonly<Record<Dialect, string>> = {
  sqlite: "",
  postgres: " FOR SHARE",
};

/** A suffix for a SELECT that locks its rows, and leaves out those that another transaction has locked. */
export const skipLocked: Readonly<Record<Dialect, string>> = {
  sqlite: "",
  postgres: " FOR UPDATE SKIP LOCKED",
};

/** SQL that takes the advisory lock of a name, by a function of PostgreSQL. */
function taken(take: string, name: string): string {
  return `${take}(hashtextextended(${name}, 0))`;
}

/** Waits for the lock of a name and holds it until the transaction ends. */
export async function holdLock(tx: Tx, name: string): Promise<void> {
  if (tx.dialect === "sqlite") return;
  await tx.all(`SELECT ${taken("pg_advisory_xact_lock", "$1")} AS locked`, [name]);
}

/** Holds the lock of a name until the transaction ends, unless another one holds it; returns whether it does. */
export async function tryHoldLock(tx: Tx, name: string): Promise<boolean> {
  if (tx.dialect === "sqlite") return true;
  const [lock] = await tx.all<{ taken: number }>(
    `SELECT CASE WHEN ${taken("pg_try_advisory_xact_lock", "$1")} THEN 1 ELSE 0 END AS "taken"`,
    [name],
  );
  return lock?.taken === 1;
}

/**
 * Returns SQL for a further column of a SELECT that, in rows with the condition, waits for the locks of the names in a
 * JSON list, in its order, and holds them until the transaction ends.
 */
export function lockingColumn(dialect: Dialect, condition: string, names: string): string {
  if (dialect === "sqlite") return "";
  const { source, value } = listedTexts(dialect, names, "name");
  const locks = `SELECT count(CAST(${taken("pg_advisory_xact_lock", value)} AS text)) FROM ${source}`;
  return `, CASE WHEN ${condition} THEN (${locks}) END AS locked`;
}
