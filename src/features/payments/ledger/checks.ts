import {
  firstDifference,
  queryCheck,
  walkBatch,
  walkCheck,
  type Check,
  type Violation,
} from "../../../platform/database/schema/checks.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import { issuedLedgers, type LedgerOfInvoice } from "../../invoices/checks.ts";
import { quoteFor } from "../../invoices/options/quotes.ts";
import { storedAside } from "../../invoices/settlement/owed.ts";
import type { PaymentTotals } from "../../invoices/rules.ts";
import { asideOf, readRejectedFacts } from "./aside.ts";
import { computeLedger, takenOf } from "./payment-rules.ts";
import { payments, transfers, type PaymentRow, type TransferRow } from "../table.ts";
import { groupBy } from "./chain-diff.ts";

function paymentsBy(
  reader: Reader,
  column: "invoice_id" | "transfer_id",
  ids: readonly string[],
): Promise<PaymentRow[]> {
  return reader.find(payments, `WHERE ${column} IN ${listed(reader.dialect, 1)} ORDER BY id`, [
    JSON.stringify(ids),
  ]);
}

/** Compares invoices' totals and their payments' settlement and rounding amounts with the values computed from the payments. */
async function ledgerFaults(
  reader: Reader,
  ledgers: readonly LedgerOfInvoice[],
): Promise<readonly Violation[]> {
  const ids = ledgers.map(({ id }) => id);
  const rows = await paymentsBy(reader, "invoice_id", ids);
  const byInvoice = groupBy(rows, (row) => row.invoiceId);
  const facts = await readRejectedFacts(reader, rows);
  return ledgers.flatMap(({ id, terms, totals }) => {
    const own = byInvoice.get(id) ?? [];
    const computed = computeLedger(own, terms);
    const found: Violation[] = [];
    const aside = asideOf(own, terms, facts);
    const fault = firstDifference(comparable(totals), comparable({ ...computed.totals, aside }));
    if (fault !== null) found.push({ row: id, fault: `According to its payments, its ${fault}.` });
    for (const payment of own) {
      if (quoteFor(terms.quotes, payment) !== undefined) continue;
      const missing = `Its invoice ${id} has no rate for ${payment.token} on ${payment.network}.`;
      found.push({ row: payment.id, fault: missing });
    }
    const stored = new Map(own.map((payment) => [payment.id, amountsOf(payment)]));
    for (const payment of computed.payments) {
      const amounts = stored.get(payment.id);
      const differing = amounts && firstDifference(amounts, amountsOf(payment));
      if (differing != null) found.push({ row: payment.id, fault: `Its ${differing}.` });
    }
    return found;
  });
}

/** The amounts of a payment that follow from all payments of its invoice. */
function amountsOf({ settlementAmount, roundingAmount }: PaymentRow) {
  return { settlementAmount, roundingAmount };
}

function comparable({ networkOf: _, several, transactionHashes, aside, ...totals }: PaymentTotals) {
  const quotes = several?.quotes.map(
    ({ network, tokenSymbol, seen, confirmed, latestBlock }) =>
      `${network}/${tokenSymbol} ${String(seen)} ${String(confirmed)} ${String(latestBlock)}`,
  );
  return {
    ...totals,
    transactionHashes: transactionHashes.join(),
    aside: JSON.stringify(storedAside(aside)),
    options: quotes?.join(", ") ?? null,
    paidAmount: several?.paidAmount ?? null,
  };
}

async function takenFaults(
  reader: Reader,
  rows: readonly TransferRow[],
): Promise<readonly Violation[]> {
  const ids = rows.map(({ id }) => id);
  const byTransfer = groupBy(await paymentsBy(reader, "transfer_id", ids), (row) => row.transferId);
  return rows.flatMap(({ id, amount }) => {
    const taken = takenOf(byTransfer.get(id) ?? []);
    if (taken <= amount) return [];
    const fault = `${String(taken)} of its ${String(amount)} units are allocated.`;
    return [{ row: id, fault }];
  });
}

const restore = "Compare the row with an earlier backup; the audit log shows who changed it.";

export const paymentChecks: readonly Check[] = [
  walkCheck({
    name: "payments.ledger",
    describe:
      "An invoice's totals, and what is owed of it or in review, are the sums of its payments, to the last unit.",
    advice: restore,
    batch: issuedLedgers,
    faultsOf: ledgerFaults,
  }),
  walkCheck({
    name: "payments.within-transfer",
    describe: "No transfer is allocated beyond its amount.",
    advice: "Reverse one of its payments: till payments transfer lists them.",
    batch: (reader, after) =>
      reader.find(transfers, `WHERE id > $1 ORDER BY id LIMIT ${String(walkBatch)}`, [after]),
    faultsOf: takenFaults,
  }),
  queryCheck({
    name: "payments.transfer",
    describe: "A payment has the network, token and block of its transfer, and at most its amount.",
    advice: restore,
    sql: `SELECT payments.id AS "row",
        COALESCE('It differs from its transfer ' || transfers.id || '.', 'Its transfer is gone.') AS fault
      FROM payments LEFT JOIN transfers ON transfers.id = payments.transfer_id
      WHERE transfers.id IS NULL OR transfers.network <> payments.network OR transfers.token <> payments.token
        OR payments.amount > transfers.amount
        OR (payments.status IN ('confirming', 'confirmed') AND (
          transfers.status <> 'seen' OR transfers.block_hash <> payments.block_hash
          OR transfers.block_height <> payments.block_height OR transfers.block_time <> payments.block_time
        ))
      ORDER BY payments.id`,
  }),
  queryCheck({
    name: "payments.owner",
    describe: "A payment that counts or is in review has a transfer of its own organization.",
    advice: "Reverse or reject the payment: the transfer belongs to the owner of its address.",
    sql: `SELECT payments.id AS "row", 'Its transfer ' || transfers.id || ' belongs to another organization.' AS fault
      FROM payments JOIN transfers ON transfers.id = payments.transfer_id
      WHERE payments.status IN ('review', 'confirming', 'confirmed')
        AND transfers.organization_id <> payments.organization_id
      ORDER BY payments.id`,
  }),
  queryCheck({
    name: "payments.invoice",
    describe:
      "A payment belongs to an issued invoice of the same organization and, if that has one option, of its network and token.",
    advice: restore,
    sql: `SELECT payments.id AS "row",
        COALESCE('It differs from its invoice ' || invoices.id || '.', 'Its invoice is gone.') AS fault
      FROM payments LEFT JOIN invoices ON invoices.id = payments.invoice_id
      WHERE invoices.id IS NULL OR invoices.organization_id <> payments.organization_id
        OR (invoices.payment_options IS NULL
          AND (invoices.network <> payments.network OR invoices.token_symbol <> payments.token))
        OR invoices.issued_at IS NULL
      ORDER BY payments.id`,
  }),
  queryCheck({
    name: "payments.confirmed",
    describe:
      "Exactly the confirmed payments have a confirmation time, and every payment confirms at the right height.",
    advice: restore,
    sql: `SELECT id AS "row", 'It is ' || status || ' and ' ||
        CASE WHEN confirmed_at IS NULL THEN 'has no confirmation time.'
          WHEN status = 'confirmed' THEN 'confirms at the wrong height.'
          ELSE 'has a confirmation time.' END AS fault
      FROM payments
      WHERE (status = 'confirmed') <> (confirmed_at IS NOT NULL)
        OR confirms_at_height <> block_height + required_confirmations - 1
      ORDER BY id`,
  }),
  queryCheck({
    name: "transfers.final",
    describe: "No transfer is marked as final above its network's last final block.",
    advice: "Read the blocks again: till chain scan.",
    sql: `SELECT transfers.id AS "row", 'It is marked as final in block ' || transfers.block_height || '.' AS fault
      FROM transfers JOIN network_states ON network_states.network = transfers.network
      WHERE transfers.is_final = 1 AND transfers.status = 'seen'
        AND transfers.block_height > network_states.cursor_height
      ORDER BY transfers.id`,
  }),
  queryCheck({
    name: "transfers.derived",
    describe:
      "No address of an extended key that received a transfer can be given to another invoice.",
    advice: restore,
    sql: `SELECT transfers.id AS "row", 'Its address can be given to another invoice.' AS fault
      FROM transfers JOIN (SELECT DISTINCT network, family FROM wallets) AS own ON own.network = transfers.network
        JOIN wallet_claims AS claims ON claims.family = own.family AND claims.identity = transfers.to_address
      WHERE claims.derived_state IN ('held', 'free') ORDER BY transfers.id`,
  }),
  queryCheck({
    name: "transfers.once",
    describe: "No two rows are the same transfer.",
    advice: "Reject or reverse the payments of the later row.",
    sql: `SELECT MAX(id) AS "row", 'It is the same transfer as ' || MIN(id) || '.' AS fault
      FROM transfers
      GROUP BY network, transaction_hash, contract, from_address, to_address, amount, ordinal HAVING COUNT(*) > 1 ORDER BY MAX(id)`,
  }),
];
