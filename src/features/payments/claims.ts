import type { Clock } from "../../kernel/clock.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import type { Auditor } from "../../platform/audit/index.ts";
import type { Tx } from "../../platform/database/index.ts";
import type { Settlement } from "../invoices/index.ts";
import { countOpenClaims, findClaim, insertClaim, reopenClaim } from "./claim-store.ts";
import { TooManyClaims } from "./errors.ts";

/** So many claims of an invoice may wait, to be looked at or for the merchant. */
const openMax = 5;

export interface ClaimedInvoice {
  readonly id: Id<"invoice">;
  readonly organizationId: Id<"organization">;
  readonly network: string;
}

export interface HashClaims {
  /**
   * Notes that a payer says to have paid an invoice with a transaction, by its canonical hash, and lets the network's
   * worker look. The same hash again is one claim; one that was refused is looked at anew. 409 `too_many_claims`.
   */
  submit(tx: Tx, invoice: ClaimedInvoice, transactionHash: string): Promise<void>;
}

export function makeHashClaims(deps: {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly auditor: Auditor;
  readonly invoices: Pick<Settlement, "lockTerms">;
  /** Wakes the watcher of a network. */
  readonly nudge: (network: string) => void;
}): HashClaims {
  const { clock, ids, auditor, invoices } = deps;
  return {
    async submit(tx, { id: invoiceId, organizationId, network }, transactionHash) {
      // One at a time for an invoice, so that its claims can be counted.
      await invoices.lockTerms(tx, [invoiceId]);
      const at = clock.now();
      const known = await findClaim(tx, invoiceId, transactionHash);
      if (known !== null && known.state !== "refused") return;
      if ((await countOpenClaims(tx, invoiceId)) >= openMax) {
        throw new TooManyClaims(
          `${String(openMax)} submitted transactions of this checkout are still open. Wait until they are decided.`,
        );
      }
      if (known !== null) await reopenClaim(tx, known.id, at);
      else {
        await insertClaim(tx, {
          id: ids.next("claim", at),
          ...{ organizationId, invoiceId, network, transactionHash },
          ...{ state: "waiting", reason: null, attempts: 0, nextAt: at },
          ...{ createdAt: at, closedAt: null },
        });
      }
      auditor.record(tx, at, {
        action: "invoice.transaction_submitted",
        organizationId,
        targetType: "invoice",
        targetId: invoiceId,
        changes: { transactionHash },
      });
      tx.afterCommit(() => {
        deps.nudge(network);
      });
    },
  };
}
