import type { Id } from "../../kernel/id.ts";
import type { Tx } from "../../platform/database/index.ts";

// Requests and billing runs read a subscription and lock its unpaid invoices before they lock the subscription itself,
// in the order in which payments lock them. An advisory lock keeps them from changing what another one has just read.
// SQLite needs none, as it runs one write at a time.
const turn = "hashtextextended($1, 0)";

/**
 * Takes a subscription's advisory lock until the transaction ends, unless another transaction holds it; returns whether
 * it did.
 */
export async function tryPlanChangeTurn(tx: Tx, id: Id<"subscription">): Promise<boolean> {
  if (tx.dialect === "sqlite") return true;
  const [lock] = await tx.all<{ taken: number }>(
    `SELECT CASE WHEN pg_try_advisory_xact_lock(${turn}) THEN 1 ELSE 0 END AS "taken"`,
    [id],
  );
  return lock?.taken === 1;
}

/** Waits for a subscription's advisory lock and holds it until the transaction ends. */
export async function waitForPlanChangeTurn(tx: Tx, id: Id<"subscription">): Promise<void> {
  if (tx.dialect === "sqlite") return;
  await tx.all(`SELECT pg_advisory_xact_lock(${turn}) AS locked`, [id]);
}
