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
  const rejected = own.filter(({ status }) => status === "rejected");
  const transferIds = new Set(rejected.map(({ transferId }) => transferId));
  const [first] = own;
  return [...transferIds].reduce((sum, transferId) => {
    const all = claiming.filter((row) => row.transferId === transferId);
    return sum + (first === undefined ? 0n : owedOfTransfer(first.invoiceId, all));
  }, 0n);
}

/** Returns what an invoice owes of one transfer. Of several that rejected the same money, the newest payment's owes it. */
function owedOfTransfer(invoiceId: string, claiming: readonly PaymentRow[]): bigint {
  const all = claiming.toSorted((one, other) => (one.id < other.id ? 1 : -1));
  const amount = all.find(({ available }) => available !== null)?.available ?? null;
  if (amount === null) return 0n;
  const isTaking = (row: PaymentRow) => isCounted(row) || row.statusWhenBack === "confirming";
  const isOwed = ({ status, rule, isAccepted, available }: PaymentRow) =>
    status === "rejected" && available !== null && (rule !== "submitted_hash" || isAccepted === 1);
  let left = all.reduce(
    (rest, row) => rest - BigInt(isTaking(row) ? row.amount : row.refunded),
    BigInt(amount),
  );
  for (const owner of new Set(all.map((row) => row.invoiceId))) {
    const own = all.filter((row) => row.invoiceId === owner);
    const claim = own.reduce((sum, row) => {
      if (isTaking(row)) return sum - BigInt(row.amount);
      return isOwed(row) ? sum + BigInt(row.amount) - BigInt(row.refunded) : sum;
    }, 0n);
    const most = claim < left ? claim : left;
    const owed = most > 0n ? most : 0n;
    if (owner === invoiceId) return owed;
    left -= owed;
  }
  return 0n;
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
