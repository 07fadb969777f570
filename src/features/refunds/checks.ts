import {
  queryCheck,
  walkBatch,
  walkCheck,
  type Check,
  type Violation,
} from "../../platform/database/schema/checks.ts";
import type { Reader } from "../../platform/database/database.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { isCounted } from "../payments/ledger/payment-rules.ts";
import { readSurpluses } from "../payments/ledger/read-surpluses.ts";
import { refunds, type RefundRow } from "./store.ts";

/** Compares payments' sums of refunds with their refunds, and with their surplus. */
async function sumFaults(
  reader: Reader,
  rows: readonly RefundRow[],
): Promise<readonly Violation[]> {
  const paymentIds = [...new Set(rows.map(({ paymentId }) => paymentId))];
  const all = await reader.find(
    refunds,
    `WHERE payment_id IN ${listed(reader.dialect, 1)} AND status <> 'rejected'`,
    [JSON.stringify(paymentIds)],
  );
  const found = await readSurpluses(reader, paymentIds);
  return paymentIds.flatMap((id): Violation[] => {
    const own = all.filter(({ paymentId }) => paymentId === id);
    const given = found.get(id);
    if (given === undefined) return [{ row: id, fault: "It has refunds but does not exist." }];
    const { payment, isPayable, isReverted, isPaidBesideRefunds } = given;
    const requested = sumOf(own.filter(({ status }) => status === "requested"));
    const refunded = sumOf(own.filter(({ status }) => status !== "requested"));
    if (payment.refundRequested !== requested || payment.refunded !== refunded) {
      return [{ row: id, fault: "Its sums of refunds differ from its refunds." }];
    }
    // A request for a payment of an expired invoice stays when the invoice is reopened, but cannot be sent.
    const total = isPayable ? refunded : requested + refunded;
    // Since a refund was sent, a reorganization may have taken the transfer or its confirmations, or made the payment older
    // than another one, which had no excess before.
    const isSent = total === refunded;
    const surplus = isSent ? given.surplusInTime : given.surplus;
    const isAllowed = isReverted || (isSent && isCounted(payment) && isPaidBesideRefunds);
    if (total <= surplus || (total <= payment.amount && isAllowed)) return [];
    const fault = `${String(total)} units of it are refunded, of a surplus of ${String(surplus)}.`;
    return [{ row: id, fault }];
  });
}

function sumOf(rows: readonly RefundRow[]): bigint {
  return rows.reduce((sum, { amount }) => sum + amount, 0n);
}

const restore = "Compare the row with an earlier backup; the audit log shows who changed it.";

export const refundChecks: readonly Check[] = [
  walkCheck({
    name: "refunds.surplus",
    describe:
      "The refunds of a payment add up to its sums, and do not exceed its surplus, but for a reorganization after they were sent.",
    advice: "Reject what is only requested: till refund reject. Money that was sent is gone.",
    batch: (reader, after) =>
      reader.find(refunds, `WHERE id > $1 ORDER BY id LIMIT ${String(walkBatch)}`, [after]),
    faultsOf: sumFaults,
  }),
  queryCheck({
    name: "refunds.payment",
    describe: "A refund has the organization, invoice, network, token and rule of its payment.",
    advice: restore,
    sql: `SELECT refunds.id AS "row",
        COALESCE('It differs from its payment ' || payments.id || '.', 'Its payment is gone.') AS fault
      FROM refunds LEFT JOIN payments ON payments.id = refunds.payment_id
      WHERE payments.id IS NULL OR payments.organization_id <> refunds.organization_id
        OR payments.invoice_id <> refunds.invoice_id OR payments.network <> refunds.network
        OR payments.token <> refunds.token OR payments.transaction_hash <> refunds.payment_hash
        OR payments.rule <> refunds.payment_rule
      ORDER BY refunds.id`,
  }),
  queryCheck({
    name: "refunds.transaction",
    describe: "Exactly the sent and confirmed refunds name a transaction.",
    advice: restore,
    sql: `SELECT id AS "row", 'It is ' || status || '.' AS fault FROM refunds
      WHERE (status IN ('sent', 'confirmed')) <> (transaction_hash IS NOT NULL)
        OR (status = 'confirmed') <> (confirmed_at IS NOT NULL)
      ORDER BY id`,
  }),
  queryCheck({
    name: "refunds.transaction-once",
    describe: "No transaction pays two refunds.",
    advice: restore,
    sql: `SELECT MAX(id) AS "row", 'Its transaction also pays ' || MIN(id) || '.' AS fault
      FROM refunds WHERE transaction_hash IS NOT NULL
      GROUP BY organization_id, network, transaction_hash HAVING COUNT(*) > 1 ORDER BY MAX(id)`,
  }),
  queryCheck({
    name: "payments.refunds",
    describe: "Only payments with refunds have sums of refunds.",
    advice: restore,
    fault: "It has a sum of refunds but no refund.",
    sql: `SELECT payments.id AS "row" FROM payments
      WHERE (payments.refund_requested > '${"0".repeat(78)}' OR payments.refunded > '${"0".repeat(78)}')
        AND NOT EXISTS (SELECT 1 FROM refunds WHERE refunds.payment_id = payments.id)
      ORDER BY payments.id`,
  }),
];
