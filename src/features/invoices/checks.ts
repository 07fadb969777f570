import type { Id } from "../../kernel/id.ts";
import {
  firstDifference,
  queryCheck,
  termCheck,
  walkBatch,
  walkCheck,
  type Check,
  type Violation,
} from "../../platform/database/schema/checks.ts";
import { encodeAmount } from "../../platform/database/schema/table.ts";
import type { Reader } from "../../platform/database/database.ts";
import {
  payableTerms,
  statusTerms,
  storedTotals,
  type PayableTerms,
} from "./settlement/terms-to-pay.ts";
import { invoiceStateOf, type PaymentTotals } from "./rules.ts";
import { termsOf } from "./search/text-search.ts";
import { invoicesById, type InvoiceRow } from "./store.ts";
import { isSameOption } from "../organizations/checkout-policy.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { anyToken } from "./holds/holds.ts";
import { optionsOf, quotesMax, quotesOf, type Quote } from "./options/quotes.ts";
import { holds, invoices } from "./table.ts";

/** An issued invoice with the data that its payments are checked against. */
export interface LedgerOfInvoice {
  readonly id: Id<"invoice">;
  readonly organizationId: Id<"organization">;
  readonly network: string;
  readonly terms: PayableTerms;
  /** The totals as the invoice stores them. */
  readonly totals: PaymentTotals;
}

/** Returns a batch of issued invoices after an id, in the order of their ids, for checks of their payments. */
export async function issuedLedgers(reader: Reader, after: string): Promise<LedgerOfInvoice[]> {
  const rows = await reader.find(
    invoices,
    `WHERE id > $1 AND issued_at IS NOT NULL ORDER BY id LIMIT ${String(walkBatch)}`,
    [after],
  );
  return rows.flatMap((row) => {
    const terms = payableTerms(row);
    if (terms === null) return [];
    const { id, organizationId, network } = row;
    return [{ id, organizationId, network, terms, totals: storedTotals(row) }];
  });
}

/** Returns a fault unless the status follows from the totals and the terms. */
function statusFault(row: InvoiceRow): string | null {
  const { expiresAt, completedAt } = row;
  // At its deadline an invoice may be open or expired: the next sweep of deadlines may still have to expire or reopen it.
  const time = expiresAt ?? 0;
  const { status, exception, paidAt } = invoiceStateOf(statusTerms(row), storedTotals(row), time);
  return firstDifference(
    { status: row.status, exception: row.exception, paidAt: row.paidAt },
    { status, exception, paidAt: completedAt === null ? row.paidAt : paidAt },
  );
}

function statusFaults(rows: readonly InvoiceRow[]): readonly Violation[] {
  return rows.flatMap((row) => {
    const fault = statusFault(row);
    return fault === null ? [] : [{ row: row.id, fault: `Its ${fault}.` }];
  });
}

async function optionFaults(
  reader: Reader,
  rows: readonly InvoiceRow[],
): Promise<readonly Violation[]> {
  const held = await reader.find(holds, `WHERE invoice_id IN ${listed(reader.dialect, 1)}`, [
    JSON.stringify(rows.map(({ id }) => id)),
  ]);
  return rows.flatMap((row) => {
    const quotes = quotesOf(row);
    const own = held.filter(({ invoiceId }) => invoiceId === row.id);
    const isHeld = (quote: Quote) =>
      own.some(
        ({ network, token }) =>
          network === quote.network && (token === anyToken || token === quote.tokenSymbol),
      );
    const isQuoted = ({ network, token }: (typeof own)[number]) =>
      quotes.some(
        (quote) => network === quote.network && (token === anyToken || token === quote.tokenSymbol),
      );
    const faults = [
      ...(optionsOf(row).some((option) => isSameOption(option, row))
        ? []
        : ["The option in force is not offered."]),
      ...(quotes.length > quotesMax ? [`${String(quotes.length)} of its options have holds.`] : []),
      ...(quotes.every(isHeld) ? [] : ["A chosen option has no hold."]),
      ...(own.every(isQuoted) ? [] : ["It holds an amount in an option that was not chosen."]),
    ];
    return faults.map((fault) => ({ row: row.id, fault }));
  });
}

const restore = "Compare the row with an earlier backup; the audit log shows who changed it.";

export const invoiceChecks: readonly Check[] = [
  walkCheck({
    name: "invoices.status",
    describe: "An invoice's status and exception follow from its terms and its totals.",
    advice: restore,
    batch: (reader, after) =>
      reader.find(invoices, `WHERE id > $1 ORDER BY id LIMIT ${String(walkBatch)}`, [after]),
    faultsOf: (_reader, rows) => Promise.resolve(statusFaults(rows)),
  }),
  queryCheck({
    name: "invoices.own-address",
    describe:
      "No address of an extended key is held for two invoices, and none that is free or unknown is held.",
    advice:
      "Archive the wallet, register another key, and decide which invoice each payment belongs to.",
    sql: `SELECT held.id AS "row", CASE WHEN other.id IS NULL
          THEN 'Its address ' || held.address || ' is free, or not known as derived.'
          ELSE 'It has the address of the hold ' || other.id || '.' END AS fault
      FROM holds AS held
        JOIN (SELECT DISTINCT network, family FROM wallets) AS own ON own.network = held.network
        LEFT JOIN wallet_claims AS claims ON claims.family = own.family AND claims.identity = held.address
        LEFT JOIN holds AS other ON other.address = held.address AND other.kind = 'exclusive'
          AND other.released_at IS NULL AND other.id < held.id AND other.network IN (
            SELECT network FROM wallets WHERE wallets.family = own.family
          )
      WHERE held.kind = 'exclusive' AND held.released_at IS NULL
        AND (other.id IS NOT NULL OR claims.derived_state IS NULL OR claims.derived_state = 'free')
      ORDER BY held.id`,
  }),
  queryCheck({
    name: "invoices.held",
    describe: "Every invoice that can be paid has a hold.",
    advice:
      "Cancel the invoice and create it again: its payments cannot be distinguished from others.",
    sql: `SELECT id AS "row", 'It is ' || status || ' but has no live hold.' AS fault FROM invoices
      WHERE status IN ('open', 'partially_paid') AND NOT EXISTS (
        SELECT 1 FROM holds WHERE holds.invoice_id = invoices.id AND holds.released_at IS NULL
      ) ORDER BY id`,
  }),
  queryCheck({
    name: "invoices.counted",
    describe:
      "An invoice counts against its plan from its issue or, if a payer started it at a link, once there was money for it.",
    advice: restore,
    sql: `SELECT id AS "row", 'It counts at ' || COALESCE(CAST(counted_at AS text), 'no time') || '.' AS fault
      FROM invoices WHERE (managed_by IS NOT NULL AND counted_at IS NOT NULL)
        OR (managed_by IS NULL AND started_at_link IS NULL AND COALESCE(counted_at, 0) <> COALESCE(issued_at, 0))
        OR (started_at_link IS NOT NULL AND counted_at IS NULL AND seen_amount <> '${encodeAmount(0n)}')
      ORDER BY id`,
  }),
  queryCheck({
    name: "holds.unique",
    describe:
      "No two live holds on an address have the same amount, and none coexists with an exclusive hold.",
    advice: "Cancel the later of the two invoices and create it again.",
    sql: `SELECT other.id AS "row", 'It conflicts with the hold ' || held.id || '.' AS fault
      FROM holds AS held JOIN holds AS other
        ON other.network = held.network AND other.address = held.address AND other.id > held.id
        AND other.released_at IS NULL
        AND (held.kind = 'exclusive' OR other.kind = 'exclusive'
          OR (other.token = held.token AND other.amount = held.amount))
      WHERE held.released_at IS NULL AND (held.kind = 'exclusive' OR EXISTS (
        SELECT 1 FROM holds AS rival
        WHERE rival.network = held.network AND rival.address = held.address AND rival.released_at IS NULL
          AND rival.id <> held.id AND (rival.kind = 'exclusive' OR (rival.token = held.token AND rival.amount = held.amount))
      )) ORDER BY other.id`,
  }),
  queryCheck({
    name: "holds.invoice",
    describe:
      "A hold and its invoice have the same organization and, if that has one option, the same network and token.",
    advice: restore,
    sql: `SELECT holds.id AS "row", COALESCE('It contradicts its invoice ' || invoices.id || '.', 'Its invoice is gone.') AS fault
      FROM holds LEFT JOIN invoices ON invoices.id = holds.invoice_id
      WHERE invoices.id IS NULL OR invoices.organization_id <> holds.organization_id
        OR holds.least_amount > holds.amount
        OR (invoices.payment_options IS NULL AND (invoices.network <> holds.network
          OR (holds.kind = 'amount' AND invoices.token_symbol <> holds.token)))
      ORDER BY holds.id`,
  }),
  queryCheck({
    name: "holds.window",
    describe: "No live hold ends after the late window of its invoice.",
    advice: restore,
    sql: `SELECT holds.id AS "row", 'It ends after the late window of its invoice ' || invoices.id || '.' AS fault
      FROM holds JOIN invoices ON invoices.id = holds.invoice_id
      WHERE holds.released_at IS NULL
        AND (invoices.late_until IS NULL OR holds.ends_at > invoices.late_until)
      ORDER BY holds.id`,
  }),
  walkCheck({
    name: "invoices.options",
    describe:
      "The options of an invoice that were chosen have holds, at most as many as allowed, and one of them is in force.",
    advice: restore,
    batch: (reader, after) =>
      reader.find(
        invoices,
        `WHERE id > $1 AND payment_options IS NOT NULL ORDER BY id LIMIT ${String(walkBatch)}`,
        [after],
      ),
    faultsOf: optionFaults,
  }),
  termCheck<InvoiceRow>({
    name: "invoices.search-terms",
    table: "invoice_terms",
    owner: "invoice_id",
    texts: "the invoice's description and metadata",
    batch: (reader, after) =>
      reader.find(invoices, `WHERE id > $1 ORDER BY id LIMIT ${String(walkBatch)}`, [after]),
    byId: invoicesById,
    termsOf,
  }),
];
