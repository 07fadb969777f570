import { second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { Database } from "../../../platform/database/database.ts";
import { markVerified, unverifiedAmong, unverifiedTransfers } from "../ledger/store.ts";
import type { Verifier } from "./receipt-verifier.ts";
import { watcherContext, type Guard } from "./recorder.ts";

/** The largest number of transfers that are verified together. */
const transfersMax = 100;
/** How often held transfers are checked for a decision, in milliseconds. */
const releaseEveryMs = 15 * second;

/**
 * Verifies the final transfers of one network that count for no invoice, such as those of payments in review. Nothing
 * else compares them with a second provider, and their money may be refunded.
 */
export interface TransferVerifier {
  /** Verifies a bounded number; returns true if more are due. */
  run(guard: Guard): Promise<boolean>;
}

export function makeTransferVerifier(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly network: Network;
  readonly verifier: Verifier;
}): TransferVerifier {
  const { db, clock, network, verifier } = deps;
  let checkedUpTo = "";
  let releasedAt: Instant = 0;

  /** Releases held transfers that are no longer to be verified. */
  async function releaseDecided(): Promise<void> {
    const held = verifier.held();
    if (held.length === 0 || Math.abs(clock.now() - releasedAt) < releaseEveryMs) return;
    releasedAt = clock.now();
    const waiting = await unverifiedAmong(db, held);
    verifier.release(held.filter((id) => !waiting.has(id)));
  }

  return {
    async run(guard) {
      await releaseDecided();
      const due = await unverifiedTransfers(db, network.id, checkedUpTo, transfersMax);
      const isFull = due.length === transfersMax;
      checkedUpTo = isFull ? (due.at(-1)?.id ?? "") : "";
      const agreed = await verifier.verify(
        due.map((transfer) => {
          const { id, blockHeight: confirmsAtHeight } = transfer;
          return { id, confirmsAtHeight, transfer };
        }),
      );
      if (agreed.size === 0) return false;
      await db.write(watcherContext, async (tx) => {
        await guard(tx);
        await markVerified(
          tx,
          due.filter(({ id }) => agreed.has(id)),
        );
      });
      return isFull;
    },
  };
}
