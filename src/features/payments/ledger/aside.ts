import type { Id } from "../../../kernel/id.ts";
import type { Reader } from "../../../platform/database/index.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import type { Aside, PayableTerms } from "../../invoices/index.ts";
import { payments, type PaymentRow, type TransferRow } from "../table.ts";
import { groupBy } from "./chain-diff.ts";
import { isCounted, takenOf } from "./payment-rules.ts";
import { transfersById } from "./store.ts";

/** The stored data that decides how much of rejected payments is owed to their payers. */
export interface RejectedFacts {
  readonly transfers: ReadonlyMap<Id<"transfer">, TransferFacts>;
  /** Every payment of these transfers, of any invoice. */
  readonly claiming: ReadonlyMap<Id<"transfer">, readonly PaymentRow[]>;
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
  { managedBy }: Pick<PayableTerms, "managedBy">,
  facts: RejectedFacts,
): readonly Aside[] {
  if (managedBy !== null) return [];
  const byToken = groupBy(ledger, ({ network, token }) => `${network} ${token}`);
  return [...byToken.values()].flatMap((own): Aside[] => {
    const [first] = own;
    if (first === undefined) return [];
    const inReview = own.filter(({ status }) => status === "review");
    const sums = {
      rejected: rejectedOf(own, facts),
      inReview: inReview.reduce((sum, { amount }) => sum + amount, 0n),
      refunded: refundedOf(own.filter(isCounted)),
    };
    const { network, token: tokenSymbol } = first;
    const isEmpty = Object.values(sums).every((sum) => sum === 0n);
    return isEmpty ? [] : [{ network, tokenSymbol, ...sums }];
  });
}

/**
 * Returns what is owed of rejected payments: all of it, as far as the transfer is on the chain, belongs to the
 * organization, and is not allocated or refunded elsewhere. A payment that only a submitted hash had assigned, and that
 * the merchant never accepted, is probably somebody else's and not owed to this invoice's payer.
 */
function rejectedOf(own: readonly PaymentRow[], facts: RejectedFacts): bigint {
  const owed = own.filter(
    ({ id, status, rule }) =>
      status === "rejected" && (rule !== "submitted_hash" || facts.accepted.has(id)),
  );
  const byTransfer = groupBy(owed, ({ transferId }) => transferId);
  return [...byTransfer].reduce((sum, [transferId, rejected]) => {
    const transfer = facts.transfers.get(transferId);
    const { organizationId } = rejected[0] ?? {};
    if (transfer?.status !== "seen" || transfer.organizationId !== organizationId) return sum;
    const ids = new Set(rejected.map(({ id }) => id));
    const others = (facts.claiming.get(transferId) ?? []).filter(({ id }) => !ids.has(id));
    const assigned = rejected.reduce((total, { amount }) => total + amount, 0n);
    const left = smaller(assigned, transfer.amount - takenOf(others)) - refundedOf(rejected);
    return left > 0n ? sum + left : sum;
  }, 0n);
}

function refundedOf(own: readonly PaymentRow[]): bigint {
  return own.reduce((sum, { refunded }) => sum + refunded, 0n);
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
  const claiming = await reader.find(
    payments,
    `WHERE transfer_id IN ${listed(reader.dialect, 1)} ORDER BY id`,
    [JSON.stringify(transferIds)],
  );
  return {
    transfers: await transfersById(reader, transferIds),
    claiming: groupBy(claiming, ({ transferId }) => transferId),
    accepted: await acceptedAmong(reader, rejected),
  };
}

const noFacts: RejectedFacts = { transfers: new Map(), claiming: new Map(), accepted: new Set() };

/** Returns the payments by submitted hashes that the merchant accepted. */
async function acceptedAmong(
  reader: Reader,
  rejected: readonly PaymentRow[],
): Promise<ReadonlySet<Id<"payment">>> {
  const submitted = rejected.filter(({ rule }) => rule === "submitted_hash");
  if (submitted.length === 0) return noFacts.accepted;
  const rows = await reader.all<{ paymentId: Id<"payment"> | null }>(
    `SELECT payment_id AS "paymentId" FROM transfer_decisions
     WHERE decision = 'accepted' AND transfer_id IN ${listed(reader.dialect, 1)}`,
    [JSON.stringify(submitted.map(({ transferId }) => transferId))],
  );
  return new Set(rows.flatMap(({ paymentId }) => paymentId ?? []));
}
