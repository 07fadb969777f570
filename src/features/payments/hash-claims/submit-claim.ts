import type { InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { lockTerms } from "../../invoices/settlement/settlement.ts";
import { TooManyClaims } from "../errors.ts";
import { nudgeExaminer } from "../networks/readers.ts";
import { openMax } from "./rules.ts";
import {
  closeClaim,
  countOpenClaims,
  findClaim,
  insertClaim,
  moveClaim,
  oldestUnknownClaim,
  reopenClaim,
} from "./store.ts";

interface ClaimedInvoice {
  readonly id: Id<"invoice">;
  readonly organizationId: Id<"organization">;
  readonly network: string;
}

/**
 * Records the canonical hash of a transaction with which a payer claims to have paid an invoice, and nudges the
 * network's worker. A repeated hash is one claim; a refused claim is examined again. If too many claims wait, the
 * oldest one that no provider knows is dropped; if all are known, 409 `too_many_claims`. Returns false if the hash was
 * submitted before, and nothing changed.
 */
export async function submitClaim(
  tx: Tx,
  app: InTx,
  { id: invoiceId, organizationId, network }: ClaimedInvoice,
  transactionHash: string,
): Promise<boolean> {
  // The lock serializes the submissions for an invoice, so that its claims can be counted.
  await lockTerms(tx, [invoiceId]);
  const at = app.clock.now();
  const known = await findClaim(tx, invoiceId, transactionHash);
  if (known !== null && known.state !== "refused") {
    // The payer has chosen another network since, and looks for the transaction there.
    if (known.state !== "waiting" || known.network === network) return false;
    await moveClaim(tx, known.id, network, at);
    tx.afterCommit(() => {
      nudgeExaminer(app, network);
    });
    return true;
  }
  if ((await countOpenClaims(tx, invoiceId)) >= openMax && !(await makeRoom(tx, at, invoiceId))) {
    throw new TooManyClaims(
      `${String(openMax)} submitted transactions of this checkout are still open. Wait until they have been processed.`,
    );
  }
  if (known !== null) await reopenClaim(tx, known.id, network, at);
  else {
    await insertClaim(tx, {
      id: app.ids.next("claim", at),
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
  app.journal.record(tx, at, {
    action: "invoice.transaction_submitted",
    organizationId,
    subjectType: "invoice",
    subjectId: invoiceId,
    changes: { transactionHash },
  });
  tx.afterCommit(() => {
    nudgeExaminer(app, network);
  });
  return true;
}

/** Closes the oldest claim whose transaction no provider knows; returns false if every transaction is known. */
async function makeRoom(tx: Tx, at: Instant, invoiceId: Id<"invoice">): Promise<boolean> {
  const oldest = await oldestUnknownClaim(tx, invoiceId);
  if (oldest === null) return false;
  return closeClaim(tx, oldest, { state: "refused", reason: "displaced", closedAt: at });
}
