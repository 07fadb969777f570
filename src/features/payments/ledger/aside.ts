import type { Id } from "../../../kernel/id.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import { quoteFor } from "../../invoices/options/quotes.ts";
import type { Aside } from "../../invoices/settlement/owed.ts";
import type { PayableTerms } from "../../invoices/settlement/terms-to-pay.ts";
import { payments, type PaymentRow, type TransferRow } from "../table.ts";
import { groupBy } from "./chain-diff.ts";
import { isCounted, isTaking, takenOf } from "./payment-rules.ts";
import { transfersById } from "./store.ts";

/** The stored data that decides how much of rejected payments is owed to their payers. */
export interface RejectedFacts {
  readonly transfers: ReadonlyMap<Id<"transfer">, TransferFacts>;
  /** Every payment of these transfers, of any invoice. */
  readonly byTransfer: ReadonlyMap<Id<"transfer">, readonly PaymentRow[]>;
  /** The payments that the merchant accepted before they were rejected. */
  readonly accepted: ReadonlySet<Id<"payment">>;
}

type TransferFacts = Pick<TransferRow, "amount" | "status" | "organizationId">;

/**
 * Returns the sums of an invoice's payments that its totals do not have, by token: rejected payments as far as they are
 * owed, payments in review, and refunds of payments that count.
 */
export function asideOf(
  ledger: readonly PaymentRow[],
  { managedBy, quotes }: Pick<PayableTerms, "managedBy" | "quotes">,
  facts: RejectedFacts,
): readonly Aside[] {
  if (managedBy !== null) return [];
  const byToken = groupBy(ledger, ({ network, token }) => `${network} ${token}`);
  return [...byToken.values()].flatMap((own): Aside[] => {
    const [first] = own;
    if (first === undefined) return [];
    const inReview = own.filter(({ status }) => status === "review");
    const sums = {
      rejected: rejectedOf(own, quoteFor(quotes, first)?.dustAmount ?? 0n, facts),
      inReview: inReview.reduce((sum, { amount }) => sum + amount, 0n),
      refunded: refundedOf(own.filter(isCounted)),
    };
    const { network, token: tokenSymbol } = first;
    const isEmpty = Object.values(sums).every((sum) => sum === 0n);
    return isEmpty ? [] : [{ network, tokenSymbol, ...sums }];
  });
}

/**
 * Returns what an invoice owes of its rejected payments in one token, which `own` has with all others of the token. Less
 * than dust that the refunds of a transfer leave cannot be sent, so it is not owed.
 */
function rejectedOf(own: readonly PaymentRow[], dust: bigint, facts: RejectedFacts): bigint {
  const transferIds = new Set(own.map(({ transferId }) => transferId));
  return [...transferIds].reduce((sum, id) => {
    const mine = own.filter(({ transferId }) => transferId === id);
    const owed = owedOfTransfer(mine, facts.transfers.get(id), facts);
    const isLeft = owed < dust && refundedOf(mine) > 0n;
    return isLeft ? sum : sum + owed;
  }, 0n);
}

/**
 * Returns what an invoice owes of one transfer: what it rejected and has not counted again or refunded, as far as the
 * transfer is on the chain, belongs to the organization, and is not allocated or refunded elsewhere. If several invoices
 * rejected the same money, the one with the newest payment owes it, and no other. A payment that only a submitted hash
 * had assigned, and that the merchant never accepted, is probably somebody else's and not owed to this invoice's payer.
 */
function owedOfTransfer(
  mine: readonly PaymentRow[],
  transfer: TransferFacts | undefined,
  { byTransfer, accepted }: RejectedFacts,
): bigint {
  const [first] = mine;
  if (first === undefined || transfer?.status !== "seen") return 0n;
  const { invoiceId, transferId } = first;
  const others = (byTransfer.get(transferId) ?? []).filter((row) => row.invoiceId !== invoiceId);
  const all = [...mine, ...others].toSorted((one, other) => (one.id < other.id ? 1 : -1));
  const isOwed = ({ id, status, rule, organizationId }: PaymentRow) =>
    status === "rejected" &&
    organizationId === transfer.organizationId &&
    (rule !== "submitted_hash" || accepted.has(id));
  let left = transfer.amount - takenOf(all);
  for (const [owner, own] of groupBy(all, (row) => row.invoiceId)) {
    const share = own.reduce((sum, row) => {
      if (isTaking(row)) return sum - row.amount;
      return isOwed(row) ? sum + row.amount - row.refunded : sum;
    }, 0n);
    const owed = notNegative(smaller(share, left));
    if (owner === invoiceId) return owed;
    left -= owed;
  }
  return 0n;
}

function refundedOf(own: readonly PaymentRow[]): bigint {
  return own.reduce((sum, { refunded }) => sum + refunded, 0n);
}

function notNegative(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

/** Reads the facts about the rejected payments among the given ones; no statement if there are none. */
export async function readRejectedFacts(
  reader: Reader,
  given: readonly PaymentRow[],
): Promise<RejectedFacts> {
  const rejected = given.filter(({ status }) => status === "rejected");
  if (rejected.length === 0) return noFacts;
  const transferIds = [...new Set(rejected.map(({ transferId }) => transferId))];
  const byTransfer = await reader.find(
    payments,
    `WHERE transfer_id IN ${listed(reader.dialect, 1)} ORDER BY id`,
    [JSON.stringify(transferIds)],
  );
  return {
    transfers: await transfersById(reader, transferIds),
    byTransfer: groupBy(byTransfer, ({ transferId }) => transferId),
    accepted: await acceptedOf(reader, transferIds),
  };
}

const noFacts: RejectedFacts = { transfers: new Map(), byTransfer: new Map(), accepted: new Set() };

/** Returns the payments of transfers that the merchant accepted. */
async function acceptedOf(
  reader: Reader,
  transferIds: readonly Id<"transfer">[],
): Promise<ReadonlySet<Id<"payment">>> {
  const rows = await reader.all<{ paymentId: Id<"payment"> | null }>(
    `SELECT payment_id AS "paymentId" FROM transfer_decisions
     WHERE decision = 'accepted' AND transfer_id IN ${listed(reader.dialect, 1)}`,
    [JSON.stringify(transferIds)],
  );
  return new Set(rows.flatMap(({ paymentId }) => paymentId ?? []));
}
