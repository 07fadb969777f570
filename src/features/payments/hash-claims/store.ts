import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { columns, decodeRows } from "../../../platform/database/schema/statements.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { firstOfEach } from "../../../platform/database/query/first-of-each.ts";
import { givenTexts, listed } from "../../../platform/database/query/json-rows.ts";
import type { ClaimReason, ClaimState } from "./status.ts";
import {
  paymentClaims,
  payments,
  transfers,
  type ClaimRow,
  type PaymentRow,
  type TransferRow,
} from "../table.ts";

// --- claims -------------------------------------------------------------------------------------------------------

export function findClaim(
  reader: Reader,
  invoiceId: Id<"invoice">,
  transactionHash: string,
): Promise<ClaimRow | null> {
  return reader.findOne(paymentClaims, "WHERE invoice_id = $1 AND transaction_hash = $2", [
    invoiceId,
    transactionHash,
  ]);
}

/** Counts the claims for an invoice that are waiting, or whose payments are in review. */
export async function countOpenClaims(reader: Reader, invoiceId: Id<"invoice">): Promise<number> {
  const rows = await reader.all(
    `SELECT id FROM payment_claims WHERE invoice_id = $1 AND state = 'waiting'
     UNION ALL
     SELECT id FROM payments WHERE invoice_id = $1 AND status = 'review' AND rule = 'submitted_hash'`,
    [invoiceId],
  );
  return rows.length;
}

export async function insertClaim(tx: Tx, row: ClaimRow): Promise<void> {
  await tx.insert(paymentClaims, row);
}

/** Reopens a refused claim. */
export async function reopenClaim(
  tx: Tx,
  id: Id<"claim">,
  network: string,
  at: Instant,
): Promise<void> {
  await tx.update(
    paymentClaims,
    {
      network,
      state: "waiting",
      reason: null,
      attempts: 0,
      isKnown: false,
      nextAt: at,
      createdAt: at,
      closedAt: null,
    },
    "WHERE id = $1 AND state = 'refused'",
    [id],
  );
}

/** Moves a waiting claim to another network, where the search begins again. */
export async function moveClaim(
  tx: Tx,
  id: Id<"claim">,
  network: string,
  at: Instant,
): Promise<void> {
  await tx.update(
    paymentClaims,
    { network, reason: null, attempts: 0, isKnown: false, nextAt: at, createdAt: at },
    "WHERE id = $1 AND state = 'waiting'",
    [id],
  );
}

/** Returns the due claims of some networks, longest due first. */
export function dueClaims(
  reader: Reader,
  networks: readonly string[],
  at: Instant,
  limit: number,
): Promise<ClaimRow[]> {
  return reader.find(
    paymentClaims,
    `WHERE network IN ${listed(reader.dialect, 1)} AND state = 'waiting' AND next_at <= $2
     ORDER BY next_at, id LIMIT $3`,
    [JSON.stringify(networks), at, limit],
  );
}

/** Returns the due claims of a network whose transaction a provider had, longest due first. */
export function dueKnownClaims(
  reader: Reader,
  network: string,
  at: Instant,
  limit: number,
): Promise<ClaimRow[]> {
  return reader.find(
    paymentClaims,
    `WHERE network = $1 AND state = 'waiting' AND is_known = 1 AND next_at <= $2
     ORDER BY next_at, id LIMIT $3`,
    [network, at, limit],
  );
}

const unknownClaims = "network = $1 AND state = 'waiting' AND is_known = 0";

/** Returns the organizations with due claims on a network whose transaction no provider had so far. */
export async function organizationsWithUnknown(
  reader: Reader,
  network: string,
  at: Instant,
): Promise<Id<"organization">[]> {
  // Each step finds the next organization by index, past all claims of the one before.
  const rows = await reader.all<{ id: Id<"organization"> }>(
    `WITH RECURSIVE shops (id) AS (
       SELECT MIN(organization_id) FROM payment_claims WHERE ${unknownClaims}
       UNION ALL
       SELECT (SELECT MIN(organization_id) FROM payment_claims WHERE ${unknownClaims} AND organization_id > shops.id)
       FROM shops WHERE shops.id IS NOT NULL
     )
     SELECT shops.id AS "id" FROM shops WHERE shops.id IS NOT NULL AND EXISTS (
       SELECT 1 FROM payment_claims WHERE ${unknownClaims} AND organization_id = shops.id AND next_at <= $2)`,
    [network, at],
  );
  return rows.map(({ id }) => id);
}

/**
 * Returns some due claims of each organization whose transaction no provider had, the oldest first: `limitOfEach` that
 * were looked up before, and as many that were not. A made-up hash is due again within seconds, so the time at which a
 * claim is due says nothing about how long its payer has waited.
 */
export async function dueUnknownClaims(
  reader: Reader,
  network: string,
  organizationIds: readonly Id<"organization">[],
  at: Instant,
  limitOfEach: number,
): Promise<ClaimRow[]> {
  const { dialect } = reader;
  const firstClaims = (ofKind: string, since: string) =>
    `SELECT ${columns(paymentClaims, "claim")} FROM ${firstOfEach(dialect, "claim", {
      given: givenTexts(dialect, 3, "shop"),
      table: "payment_claims",
      columns: ["*"],
      where: `one.network = $1 AND one.state = 'waiting' AND one.is_known = 0 AND one.${ofKind}
        AND one.organization_id = shop.value AND one.next_at <= $2`,
      order: [since, "id"],
      direction: "ASC",
      limit: limitOfEach,
    })}`;
  const rows = await reader.all(
    `SELECT * FROM (
       ${firstClaims("attempts = 0", "next_at")} UNION ALL ${firstClaims("attempts > 0", "created_at")}
     ) AS due ORDER BY "createdAt", "id"`,
    [network, at, JSON.stringify(organizationIds)],
  );
  return decodeRows(paymentClaims, rows);
}

/**
 * Postpones a claim, with its preliminary reason and the network on which the search continues; no effect if it was
 * closed or moved to another network meanwhile.
 */
export async function postponeClaim(
  tx: Tx,
  { id, network }: Pick<ClaimRow, "id" | "network">,
  later: Pick<ClaimRow, "network" | "nextAt" | "attempts" | "isKnown"> & {
    readonly reason: "unknown" | null;
  },
): Promise<void> {
  await tx.update(paymentClaims, later, "WHERE id = $1 AND network = $2 AND state = 'waiting'", [
    id,
    network,
  ]);
}

/** Returns the oldest waiting claim for an invoice whose transaction no provider knows; null if all are known. */
export function oldestUnknownClaim(
  reader: Reader,
  invoiceId: Id<"invoice">,
): Promise<ClaimRow | null> {
  return reader.findOne(
    paymentClaims,
    "WHERE invoice_id = $1 AND state = 'waiting' AND reason = 'unknown' ORDER BY created_at, id LIMIT 1",
    [invoiceId],
  );
}

/**
 * Closes a waiting claim with what was found on its network; returns false if it was closed already. A refusal has no
 * effect if the claim was moved to another network meanwhile, where the transaction may be.
 */
export async function closeClaim(
  tx: Tx,
  { id, network }: Pick<ClaimRow, "id" | "network">,
  closing: {
    readonly state: Exclude<ClaimState, "waiting">;
    readonly reason: ClaimReason | null;
    readonly closedAt: Instant;
  },
): Promise<boolean> {
  const closed = await tx.update(
    paymentClaims,
    { ...closing, network },
    "WHERE id = $1 AND state = 'waiting' AND (network = $2 OR $3 <> 'refused')",
    [id, network, closing.state],
  );
  return closed === 1;
}

// --- transfers and payments to decide on --------------------------------------------------------------------------

/** Locks and returns every transfer of a transaction, in any status. */
export function lockTransaction(
  tx: Tx,
  network: string,
  transactionHash: string,
): Promise<TransferRow[]> {
  return tx.lock(transfers, "WHERE network = $1 AND transaction_hash = $2 ORDER BY id", [
    network,
    transactionHash,
  ]);
}

export function lockTransfer(tx: Tx, id: Id<"transfer">): Promise<TransferRow | null> {
  return tx.lockOne(transfers, "WHERE id = $1", [id]);
}

/** Returns every payment of a transfer, including rejected ones. While the transfer is locked, no payment is added. */
export function paymentsOfTransfer(
  reader: Reader,
  transferId: Id<"transfer">,
): Promise<PaymentRow[]> {
  return reader.find(payments, "WHERE transfer_id = $1 ORDER BY id", [transferId]);
}

/** Returns a payment; null if it does not exist or belongs to another organization. */
export function findPayment(
  reader: Reader,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
): Promise<PaymentRow | null> {
  return reader.findOne(payments, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    paymentId,
  ]);
}

/**
 * Sets a transfer's invoice and disposition, after a decision of a person or a claim. The providers are
 * asked about it from now on, if they were not.
 */
export async function assignTransfer(
  tx: Tx,
  id: Id<"transfer">,
  assignment: Partial<Pick<TransferRow, "invoiceId" | "disposition">>,
): Promise<void> {
  await tx.update(transfers, assignment, "WHERE id = $1", [id]);
  await requireVerification(tx, [id]);
}

/** Has the providers asked about transfers from now on, if they were not. */
export async function requireVerification(tx: Tx, ids: readonly Id<"transfer">[]): Promise<void> {
  await tx.run(
    `UPDATE transfers SET verification = 'open'
     WHERE id IN ${listed(tx.dialect, 1)} AND verification = 'skipped'`,
    [JSON.stringify(ids)],
  );
}
