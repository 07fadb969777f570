import type { Clock, Instant } from "../../../kernel/clock.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import type { Journal } from "../../../platform/journal/index.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { Settlement } from "../ledger/invoices-port.ts";
import {
  closeClaim,
  countOpenClaims,
  findClaim,
  insertClaim,
  moveClaim,
  oldestUnknownClaim,
  reopenClaim,
} from "./store.ts";
import { TooManyClaims } from "../errors.ts";

/** The largest number of hash claims of an invoice that wait for the chain or for the merchant. */
export const openMax = 5;

export interface ClaimedInvoice {
  readonly id: Id<"invoice">;
  readonly organizationId: Id<"organization">;
  readonly network: string;
}

export interface HashClaims {
  /**
   * Records the canonical hash of a transaction with which a payer claims to have paid an invoice, and nudges the
   * network's worker. A repeated hash is one claim; a refused claim is examined again. If too many claims wait, the
   * oldest one that no provider knows is dropped; if all are known, 409 `too_many_claims`. Returns false if the hash was
   * submitted before, and nothing changed.
   */
  submit(tx: Tx, invoice: ClaimedInvoice, transactionHash: string): Promise<boolean>;
}

export function makeHashClaims(deps: {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly journal: Journal;
  readonly invoices: Pick<Settlement, "lockTerms">;
  /** Wakes the watcher of a network for somebody without a credential. */
  readonly nudge: (network: string) => void;
}): HashClaims {
  const { clock, ids, journal, invoices } = deps;

  /** Closes the oldest claim whose transaction no provider knows; returns false if every transaction is known. */
  async function makeRoom(tx: Tx, invoiceId: Id<"invoice">, at: Instant): Promise<boolean> {
    const oldest = await oldestUnknownClaim(tx, invoiceId);
    if (oldest === null) return false;
    return closeClaim(tx, oldest, { state: "refused", reason: "displaced", closedAt: at });
  }

  return {
    async submit(tx, { id: invoiceId, organizationId, network }, transactionHash) {
      // The lock serializes the submissions for an invoice, so that its claims can be counted.
      await invoices.lockTerms(tx, [invoiceId]);
      const at = clock.now();
      const known = await findClaim(tx, invoiceId, transactionHash);
      if (known !== null && known.state !== "refused") {
        // The payer has chosen another network since, and looks for the transaction there.
        if (known.state !== "waiting" || known.network === network) return false;
        await moveClaim(tx, known.id, network, at);
        tx.afterCommit(() => {
          deps.nudge(network);
        });
        return true;
      }
      if (
        (await countOpenClaims(tx, invoiceId)) >= openMax &&
        !(await makeRoom(tx, invoiceId, at))
      ) {
        throw new TooManyClaims(
          `${String(openMax)} submitted transactions of this checkout are still open. Wait until they have been processed.`,
        );
      }
      if (known !== null) await reopenClaim(tx, known.id, network, at);
      else {
        await insertClaim(tx, {
          id: ids.next("claim", at),
          organizationId,
          invoiceId,
          network,
          transactionHash,
          state: "waiting",
          reason: null,
          attempts: 0,
          isKnown: false,
          nextAt: at,
          createdAt: at,
          closedAt: null,
        });
      }
      journal.record(tx, at, {
        action: "invoice.transaction_submitted",
        organizationId,
        subjectType: "invoice",
        subjectId: invoiceId,
        changes: { transactionHash },
      });
      tx.afterCommit(() => {
        deps.nudge(network);
      });
      return true;
    },
  };
}
