import type { Instant } from "../../../kernel/clock.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import type { PageRequest } from "../../../kernel/page.ts";
import type { Address } from "../../../platform/chain/client.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { firstOfEach } from "../../../platform/database/query/first-of-each.ts";
import { givenTexts, listed } from "../../../platform/database/query/json-rows.ts";
import { pageQuery, type Filter } from "../../../platform/database/query/lists.ts";
import {
  paymentClaims,
  payments,
  transferDecisions,
  transfers,
  type ClaimRow,
  type DecisionRow,
  type PaymentRow,
  type TransferRow,
} from "../table.ts";
import type { TransferDecision, MerchantTransferStatus } from "./status.ts";
import { groupBy } from "../ledger/chain-diff.ts";

/** Returns a transfer; null if it does not exist or belongs to another organization. */
export function findTransfer(
  reader: Reader,
  organizationId: Id<"organization">,
  transferId: Id<"transfer">,
): Promise<TransferRow | null> {
  return reader.findOne(transfers, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    transferId,
  ]);
}

/** Returns a page of the transfers to an organization's addresses, newest first. */
export function findTransfers(
  reader: Reader,
  organizationId: Id<"organization">,
  status: MerchantTransferStatus | undefined,
  page: PageRequest,
): Promise<TransferRow[]> {
  const { rest, values } = pageQuery(page, [
    ["organization_id =", organizationId],
    statusFilter(status),
  ]);
  return reader.find(transfers, rest, values);
}

/** Counts the transfers in merchants' inboxes, by network. */
export async function countUnmatched(reader: Reader): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.all<{ network: string; total: number }>(
    `SELECT network AS "network", COUNT(*) AS "total" FROM transfers
     WHERE disposition <> 'matched' AND status = 'seen' AND disposition = 'unmatched'
       AND organization_id IS NOT NULL
     GROUP BY network`,
  );
  return new Map(rows.map(({ network, total }) => [network, total]));
}

/** Repeats the conditions of the partial indexes. `matched` needs no index: most transfers are matched. */
function statusFilter(status: MerchantTransferStatus | undefined): Filter {
  switch (status) {
    case undefined:
      return ["status =", undefined];
    case "reverted":
      return ["status = 'orphaned' AND status =", "orphaned"];
    case "matched":
      return ["status = 'seen' AND disposition =", status];
    case "unmatched":
    case "ignored":
      return ["disposition <> 'matched' AND status = 'seen' AND disposition =", status];
  }
}

/** Returns every payment of some transfers, oldest first, by transfer. */
export async function paymentsByTransfer(
  reader: Reader,
  transferIds: readonly Id<"transfer">[],
): Promise<ReadonlyMap<Id<"transfer">, readonly PaymentRow[]>> {
  if (transferIds.length === 0) return new Map();
  const rows = await reader.find(
    payments,
    `WHERE transfer_id IN ${listed(reader.dialect, 1)} ORDER BY id`,
    [JSON.stringify(transferIds)],
  );
  return groupBy(rows, ({ transferId }) => transferId);
}

/** Returns the payments of invoices by invoice. */
export async function paymentsByInvoice(
  reader: Reader,
  invoiceIds: readonly Id<"invoice">[],
): Promise<ReadonlyMap<Id<"invoice">, readonly PaymentRow[]>> {
  if (invoiceIds.length === 0) return new Map();
  const rows = await reader.find(
    payments,
    `WHERE invoice_id IN ${listed(reader.dialect, 1)} ORDER BY id`,
    [JSON.stringify([...new Set(invoiceIds)])],
  );
  return groupBy(rows, ({ invoiceId }) => invoiceId);
}

/** The number of decisions shown for a transfer. */
const shownDecisionsMax = 100;

/** Returns the latest decisions about a transfer, newest first. */
export function decisionsOf(reader: Reader, transferId: Id<"transfer">): Promise<DecisionRow[]> {
  return reader.find(
    transferDecisions,
    `WHERE transfer_id = $1 ORDER BY id DESC LIMIT ${String(shownDecisionsMax)}`,
    [transferId],
  );
}

/** Records decisions about payments, or about a transfer as a whole, with their actor. */
export async function noteDecisions(
  tx: Tx,
  ids: IdSource,
  at: Instant,
  decision: TransferDecision,
  subjects: readonly Decided[],
): Promise<void> {
  if (subjects.length === 0) return;
  const { actor } = tx.context;
  await tx.insertMany(
    transferDecisions,
    subjects.map((subject) => ({
      id: ids.next("decision", at),
      organizationId: subject.organizationId,
      transferId: subject.transferId,
      decision,
      paymentId: subject.id,
      invoiceId: subject.invoiceId,
      amount: subject.amount,
      actorType: actor.type,
      actorId: actor.id,
      actorLabel: actor.label,
      createdAt: at,
    })),
  );
}

/** The subject of a decision: a payment, or a transfer with neither payment nor invoice. */
interface Decided extends Pick<PaymentRow, "organizationId" | "transferId" | "amount"> {
  readonly id: Id<"payment"> | null;
  readonly invoiceId: Id<"invoice"> | null;
}

/** The number of a sender's latest transfers by which its customer is identified. */
const senderTransfersMax = 20;

/** Returns the invoices that senders paid recently, by sender. */
export async function invoicesOfSenders(
  reader: Reader,
  organizationId: Id<"organization">,
  senders: readonly Address[],
): Promise<ReadonlyMap<Address, readonly Id<"invoice">[]>> {
  if (senders.length === 0) return new Map();
  const latest = firstOfEach(reader.dialect, "sent", {
    given: givenTexts(reader.dialect, 2, "probe"),
    table: "transfers",
    columns: ["from_address", "invoice_id"],
    where: "one.organization_id = $1 AND one.from_address = probe.value",
    order: ["id"],
    direction: "DESC",
    limit: senderTransfersMax,
  });
  const rows = await reader.all<{ sender: Address; invoiceId: Id<"invoice"> }>(
    `SELECT sent.from_address AS sender, sent.invoice_id AS "invoiceId"
     FROM ${latest} WHERE sent.invoice_id IS NOT NULL`,
    [organizationId, JSON.stringify([...new Set(senders)])],
  );
  const groups = groupBy(rows, ({ sender }) => sender);
  return new Map(
    [...groups].map(([sender, paid]) => [sender, paid.map(({ invoiceId }) => invoiceId)]),
  );
}

/** Returns a page of the hash claims for an organization's invoices, newest first. */
export function findClaims(
  reader: Reader,
  organizationId: Id<"organization">,
  state: ClaimRow["state"] | undefined,
  page: PageRequest,
): Promise<ClaimRow[]> {
  const { rest, values } = pageQuery(page, [
    ["organization_id =", organizationId],
    ["state =", state],
  ]);
  return reader.find(paymentClaims, rest, values);
}
