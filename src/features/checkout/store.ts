import type { App } from "../../app.ts";
import type { Id } from "../../kernel/id.ts";
import type { Dialect, RawRow, Reader, Tx } from "../../platform/database/database.ts";
import type { SqlValue } from "../../platform/database/schema/table.ts";
import { among, forEachDialect, listed } from "../../platform/database/query/json-rows.ts";
import {
  payerInvoiceColumns,
  readPayerInvoices,
  type PayerInvoice,
} from "../invoices/payer-view.ts";
import { logoPath } from "../organizations/logos.ts";
import {
  ledgerSql,
  ledgerVersionSql,
  readLedger,
  type PayerLedger,
} from "../payments/payer-view.ts";
import {
  leftToMerchantSql,
  readLeftToMerchant,
  readRefunds,
  refundsSql,
  refundsVersionSql,
  type PayerRefund,
} from "../refunds/payer/payer-view.ts";

/** The payments of an invoice and their refunds, as far as its payer may know them. */
export interface CheckoutLedger extends PayerLedger {
  /** Newest first. */
  readonly refunds: readonly PayerRefund[];
  /** The payments whose next refund only the merchant may create. */
  readonly leftToMerchant: ReadonlySet<Id<"payment">>;
}

/** A checkout as the store holds it. */
export interface StoredCheckout extends CheckoutLedger {
  /** Changes with everything else here. */
  readonly version: string;
  /** Without confirmations, which depend on the network's state. */
  readonly invoice: PayerInvoice;
  readonly merchant: Merchant;
}

/** The facts about a merchant that payers see. */
interface Merchant {
  readonly displayName: string;
  readonly website: string | null;
  readonly contactEmail: string | null;
  /** Such as `#0b5f4e`. */
  readonly accentColor: string | null;
  /** The origins of the merchant's own pages. */
  readonly allowedOrigins: readonly string[];
  /** The path of the logo's file below the instance's address. */
  readonly logoPath: string | null;
}

/** The facts that show whether a checkout has changed. */
export interface CheckoutVersion {
  /** That of the stored checkout. */
  readonly version: string;
  readonly network: string;
  /** That of the network's state; null if the network was never read. */
  readonly networkVersion: number | null;
}

/** Everything that a version depends on must change the text. Organizations and invoices count their changes. */
function versionSql(dialect: Dialect): string {
  const versions = [
    "i.version",
    "o.version",
    ledgerVersionSql(dialect, "i.id"),
    refundsVersionSql(dialect, "i.id"),
  ];
  return versions.join(" || ' ' || ");
}

function fromSql(dialect: Dialect, joined = ""): string {
  return `FROM invoices i JOIN organizations o ON o.id = i.organization_id ${joined}
    WHERE i.checkout_id IS NOT NULL AND i.checkout_id ${among(dialect, listed(dialect, 1))}`;
}

/** The columns that `ledgerOf` reads. */
function ledgerSqls(dialect: Dialect): string {
  return `${ledgerSql(dialect, "i.id")} AS "ledger", ${refundsSql(dialect, "i.id")} AS "refunds",
    ${leftToMerchantSql(dialect, "i.id")} AS "leftToMerchant"`;
}

const versions = forEachDialect(
  (dialect) =>
    `SELECT i.checkout_id AS "checkoutId", ${versionSql(dialect)} AS "version",
       i.network AS "network", n.version AS "networkVersion"
     ${fromSql(dialect, "LEFT JOIN network_states n ON n.network = i.network")}`,
);

const checkouts = forEachDialect(
  (dialect) =>
    `SELECT ${payerInvoiceColumns}, o.display_name AS "merchantName",
       o.website AS "merchantWebsite", o.contact_email AS "merchantContact",
       o.accent_color AS "merchantColor", o.logo AS "merchantLogo",
       o.allowed_origins AS "merchantOrigins",
       ${versionSql(dialect)} AS "checkoutVersion", ${ledgerSqls(dialect)}
     ${fromSql(dialect)}`,
);

type VersionRow = CheckoutVersion & { readonly checkoutId: string };

interface CheckoutRow extends RawRow {
  readonly checkoutId: string;
  readonly checkoutVersion: string;
  readonly merchantName: string;
  readonly merchantWebsite: string | null;
  readonly merchantContact: string | null;
  readonly merchantColor: string | null;
  readonly merchantLogo: string | null;
  readonly merchantOrigins: string;
  readonly ledger: string;
  readonly refunds: string;
  readonly leftToMerchant: string;
}

type LedgerColumns = Pick<CheckoutRow, "ledger" | "refunds" | "leftToMerchant">;

/** Returns the value of the statements above. */
const valuesOf = (checkoutIds: readonly string[]): SqlValue[] => [JSON.stringify(checkoutIds)];

/** Returns the current versions of checkouts, by id; those without an issued invoice are missing. */
export async function findCheckoutVersions(
  reader: Reader,
  checkoutIds: readonly string[],
): Promise<ReadonlyMap<string, CheckoutVersion>> {
  const rows = await reader.all<VersionRow>(versions[reader.dialect], valuesOf(checkoutIds));
  return new Map(rows.map((row) => [row.checkoutId, row]));
}

/** Returns checkouts by id. One statement reads any number. */
export async function findCheckouts(
  reader: Reader,
  { baseUrl }: Pick<App, "baseUrl">,
  checkoutIds: readonly string[],
): Promise<ReadonlyMap<string, StoredCheckout>> {
  const rows = await reader.all<CheckoutRow>(checkouts[reader.dialect], valuesOf(checkoutIds));
  const invoices = readPayerInvoices(rows, baseUrl());
  return new Map(
    rows.flatMap((row, index): [string, StoredCheckout][] => {
      const invoice = invoices[index];
      if (invoice == null) return [];
      const merchant = {
        displayName: row.merchantName,
        website: row.merchantWebsite,
        contactEmail: row.merchantContact,
        accentColor: row.merchantColor,
        logoPath: logoPath(row.merchantLogo),
        allowedOrigins: JSON.parse(row.merchantOrigins) as string[],
      };
      const { checkoutId, checkoutVersion: version } = row;
      return [[checkoutId, { version, invoice, merchant, ...ledgerOf(row) }]];
    }),
  );
}

/** Returns an invoice's payments, submitted transactions and refunds as a transaction sees them. */
export async function findCheckoutLedger(
  tx: Tx,
  invoiceId: Id<"invoice">,
): Promise<CheckoutLedger> {
  const [row] = await tx.all<LedgerColumns>(
    `SELECT ${ledgerSqls(tx.dialect)} FROM invoices i WHERE i.id = $1`,
    [invoiceId],
  );
  return ledgerOf(row ?? { ledger: "[[],[]]", refunds: "[]", leftToMerchant: "[]" });
}

function ledgerOf({ ledger, refunds, leftToMerchant }: LedgerColumns): CheckoutLedger {
  return {
    ...readLedger(ledger),
    refunds: readRefunds(refunds),
    leftToMerchant: readLeftToMerchant(leftToMerchant),
  };
}
