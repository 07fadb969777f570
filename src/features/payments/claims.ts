import type { Clock, Instant } from "../../kernel/clock.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import type { Auditor } from "../../platform/audit/index.ts";
import type { Reader, Tx } from "../../platform/database/index.ts";
import type { Settlement } from "../invoices/index.ts";
import {
  closeClaim,
  countOpenClaims,
  findClaim,
  insertClaim,
  latestClaims,
  oldestUnknownClaim,
  reopenClaim,
} from "./claim-store.ts";
import { TooManyClaims } from "./errors.ts";
import { isCounted } from "./rules.ts";
import { paymentsOfInvoice } from "./store.ts";
import type { ClaimRow, PaymentRow } from "./table.ts";

/** How many claims of an invoice may wait, to be looked at or for the merchant. */
const openMax = 5;
/** How many of an invoice's claims its payer is shown. */
const shownMax = 10;

export interface ClaimedInvoice {
  readonly id: Id<"invoice">;
  readonly organizationId: Id<"organization">;
  readonly network: string;
}

export interface HashClaims {
  /**
   * Notes that a payer says to have paid an invoice with a transaction, by its canonical hash, and lets the network's
   * worker look. The same hash again is one claim; one that was refused is looked at anew. Where too many wait, the
   * oldest that no provider knows makes room; where none is unknown, 409 `too_many_claims`.
   */
  submit(tx: Tx, invoice: ClaimedInvoice, transactionHash: string): Promise<void>;
}

/** What became of a submitted transaction, as its payer may know it: nothing of other invoices is in it. */
export type ClaimResult =
  /** It is looked for. */
  | "looking"
  /** No provider knows it so far. */
  | "unknown"
  /** It was never found. */
  | "given_up"
  /** It was not found, and made room for a newer one. */
  | "displaced"
  | "counted"
  /** The merchant decides. */
  | "in_review"
  | "not_for_this";

export interface SubmittedTransaction {
  /** 64 lower-case hex digits. */
  readonly transactionHash: string;
  readonly result: ClaimResult;
}

/** What became of the transactions that were submitted for an invoice, the newest first; the last few. */
export async function submittedTransactions(
  reader: Reader,
  invoiceId: Id<"invoice">,
): Promise<SubmittedTransaction[]> {
  const claims = await latestClaims(reader, invoiceId, shownMax);
  const found = claims.some(({ state }) => state === "credited" || state === "review")
    ? await paymentsOfInvoice(reader, invoiceId)
    : [];
  return claims.map((claim) => {
    const { transactionHash } = claim;
    const own = found.filter((payment) => payment.transactionHash === transactionHash);
    return { transactionHash, result: resultOf(claim, own) };
  });
}

/** `found`: the invoice's payments by the transaction. A claim that found some is not changed with them. */
function resultOf(
  { state, reason }: Pick<ClaimRow, "state" | "reason">,
  found: readonly PaymentRow[],
): ClaimResult {
  switch (state) {
    case "waiting":
      return reason === "unknown" ? "unknown" : "looking";
    case "credited":
    case "review":
      if (found.some(isCounted)) return "counted";
      if (found.some(({ status }) => status === "review")) return "in_review";
      return found.some(({ status }) => status === "reverted") ? "looking" : "not_for_this";
    case "refused":
      if (reason === "displaced") return "displaced";
      return reason === "unknown" || reason === "hold_ended" ? "given_up" : "not_for_this";
  }
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

  /** Gives up the oldest claim that no provider knows; false where there is none. */
  async function makeRoom(tx: Tx, invoiceId: Id<"invoice">, at: Instant): Promise<boolean> {
    const oldest = await oldestUnknownClaim(tx, invoiceId);
    if (oldest === null) return false;
    return closeClaim(tx, oldest.id, { state: "refused", reason: "displaced", closedAt: at });
  }

  return {
    async submit(tx, { id: invoiceId, organizationId, network }, transactionHash) {
      // One at a time for an invoice, so that its claims can be counted.
      await invoices.lockTerms(tx, [invoiceId]);
      const at = clock.now();
      const known = await findClaim(tx, invoiceId, transactionHash);
      if (known !== null && known.state !== "refused") return;
      if (
        (await countOpenClaims(tx, invoiceId)) >= openMax &&
        !(await makeRoom(tx, invoiceId, at))
      ) {
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
