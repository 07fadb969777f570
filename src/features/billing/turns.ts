import type { Id } from "../../kernel/id.ts";
import type { Tx } from "../../platform/database/database.ts";
import { holdLock, tryHoldLock } from "../../platform/database/write/locks.ts";

// Requests and billing runs read a subscription and lock its unpaid invoices before they lock the subscription itself,
// in the order in which payments lock them. An advisory lock keeps them from changing what another one has just read.

/**
 * Takes a subscription's advisory lock until the transaction ends, unless another transaction holds it; returns whether
 * it did.
 */
export function tryPlanChangeTurn(tx: Tx, id: Id<"subscription">): Promise<boolean> {
  return tryHoldLock(tx, id);
}

/** Waits for a subscription's advisory lock and holds it until the transaction ends. */
export function waitForPlanChangeTurn(tx: Tx, id: Id<"subscription">): Promise<void> {
  return holdLock(tx, id);
}
