import type { Tx } from "../../database.ts";
import type { Migration } from "../migrate.ts";

/** Invoices read per statement. */
const batchRows = 500;

/** The money of invoices that is owed to their payers or in review, and the ends of their late windows. */
export const migration: Migration = {
  version: 35,
  name: "owed amounts",
  up: (types) => [
    `ALTER TABLE invoices ADD COLUMN aside ${types.json}`,
    `ALTER TABLE invoices ADD COLUMN late_until ${types.time}`,
    `UPDATE invoices SET late_until = COALESCE(
       (SELECT MAX(ends_at) FROM holds WHERE holds.invoice_id = invoices.id AND released_at IS NULL),
       (SELECT MAX(ends_at) FROM holds WHERE holds.invoice_id = invoices.id),
       expires_at)
     WHERE issued_at IS NOT NULL`,
  ],
  async fill(tx) {
    for (let after = ""; ;) {
      const invoiceIds = await nextInvoices(tx, after);
      const last = invoiceIds.at(-1);
      if (last === undefined) return;
      await fillBatch(tx, invoiceIds);
      after = last;
    }
  },
};

interface PaymentRow {
  readonly id: string;
  readonly invoiceId: string;
  readonly transferId: string;
  readonly network: string;
  readonly token: string;
  readonly status: string;
  readonly statusWhenBack: string | null;
  readonly rule: string;
  readonly amount: string;
  readonly refunded: string;
  /** The amount of the transfer that this organization has; null if it is off the chain or another's. */
  readonly available: string | null;
  /** 1 if the merchant accepted the payment before. */
  readonly isAccepted: number;
}

const noAmount = "0".repeat(78);

async function nextInvoices(tx: Tx, after: string): Promise<string[]> {
  const rows = await tx.all<{ id: string }>(
    `SELECT DISTINCT payments.invoice_id AS "id" FROM payments
     JOIN invoices ON invoices.id = payments.invoice_id
     WHERE payments.invoice_id > $1 AND invoices.managed_by IS NULL
       AND (payments.status IN ('review', 'rejected') OR payments.refunded <> '${noAmount}')
     ORDER BY payments.invoice_id LIMIT ${String(batchRows)}`,
    [after],
  );
  return rows.map(({ id }) => id);
}

async function fillBatch(tx: Tx, invoiceIds: readonly string[]): Promise<void> {
  const given = {
    sqlite: "(SELECT value FROM json_each($1))",
    postgres: "(SELECT json_array_elements_text(CAST($1 AS json)))",
  }[tx.dialect];
  const select = `SELECT payments.id AS "id", payments.invoice_id AS "invoiceId",
      payments.transfer_id AS "transferId", payments.network AS "network", payments.token AS "token",
      payments.status AS "status", payments.status_when_back AS "statusWhenBack", payments.rule AS "rule",
      payments.amount AS "amount", payments.refunded AS "refunded",
      CASE WHEN transfers.status = 'seen' AND transfers.organization_id = payments.organization_id
        THEN transfers.amount END AS "available",
      CASE WHEN EXISTS (
        SELECT 1 FROM transfer_decisions WHERE transfer_decisions.transfer_id = payments.transfer_id
          AND transfer_decisions.payment_id = payments.id AND transfer_decisions.decision = 'accepted'
      ) THEN 1 ELSE 0 END AS "isAccepted"
    FROM payments JOIN transfers ON transfers.id = payments.transfer_id`;
  const own = await tx.all<PaymentRow>(`${select} WHERE payments.invoice_id IN ${given}`, [
    JSON.stringify(invoiceIds),
  ]);
  const transferIds = [...new Set(own.map(({ transferId }) => transferId))];
  const claiming = await tx.all<PaymentRow>(`${select} WHERE payments.transfer_id IN ${given}`, [
    JSON.stringify(transferIds),
  ]);
  for (const invoiceId of invoiceIds) {
    const ledger = own.filter((row) => row.invoiceId === invoiceId);
    const aside = asideOf(ledger, claiming);
    if (aside.length === 0) continue;
    await tx.run("UPDATE invoices SET aside = $2 WHERE id = $1", [
      invoiceId,
      JSON.stringify(aside),
    ]);
  }
}

/** Returns the sums of an invoice's payments by token, in the order of network and token. */
function asideOf(ledger: readonly PaymentRow[], claiming: readonly PaymentRow[]) {
  const tokens = [...new Set(ledger.map(tokenOf))].sort();
  return tokens.flatMap((each) => {
    const own = ledger.filter((row) => tokenOf(row) === each);
    const [network = "", tokenSymbol = ""] = each.split(" ");
    const rejected = rejectedOf(own, claiming);
    const inReview = sumOf(
      own.filter(({ status }) => status === "review"),
      "amount",
    );
    const refunded = sumOf(own.filter(isCounted), "refunded");
    if (rejected + inReview + refunded === 0n) return [];
    return [
      {
        network,
        tokenSymbol,
        rejected: String(rejected),
        inReview: String(inReview),
        refunded: String(refunded),
      },
    ];
  });
}

function rejectedOf(own: readonly PaymentRow[], claiming: readonly PaymentRow[]): bigint {
  const owed = own.filter(
    ({ status, rule, isAccepted }) =>
      status === "rejected" && (rule !== "submitted_hash" || isAccepted === 1),
  );
  let sum = 0n;
  for (const transferId of new Set(owed.map((row) => row.transferId))) {
    const rejected = owed.filter((row) => row.transferId === transferId);
    const available = rejected[0]?.available ?? null;
    if (available === null) continue;
    const ids = new Set(rejected.map(({ id }) => id));
    const others = claiming.filter((row) => row.transferId === transferId && !ids.has(row.id));
    const isTaking = (row: PaymentRow) => isCounted(row) || row.statusWhenBack === "confirming";
    const taken = others.reduce(
      (total, row) => total + BigInt(isTaking(row) ? row.amount : row.refunded),
      0n,
    );
    const free = BigInt(available) - taken;
    const assigned = sumOf(rejected, "amount");
    const left = (assigned < free ? assigned : free) - sumOf(rejected, "refunded");
    if (left > 0n) sum += left;
  }
  return sum;
}

function tokenOf({ network, token }: PaymentRow): string {
  return `${network} ${token}`;
}

function isCounted({ status }: PaymentRow): boolean {
  return status === "confirming" || status === "confirmed";
}

function sumOf(rows: readonly PaymentRow[], column: "amount" | "refunded"): bigint {
  return rows.reduce((sum, row) => sum + BigInt(row[column]), 0n);
}
