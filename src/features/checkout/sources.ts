import { networkStates } from "../../platform/chain/state/network-state.ts";
import type { Dialect, RawRow, Reader } from "../../platform/database/database.ts";
import type { SqlValue } from "../../platform/database/schema/table.ts";
import { among, forEachDialect, listed } from "../../platform/database/query/json-rows.ts";
import { payerInvoiceColumns, readPayerInvoices } from "../invoices/payer-view.ts";
import { findLogo, logoPath } from "../organizations/branding/logos.ts";
import { ledgerSql, ledgerVersionSql, readLedger } from "../payments/payer-view.ts";
import {
  leftToMerchantSql,
  readLeftToMerchant,
  readRefunds,
  refundsSql,
  refundsVersionSql,
} from "../refunds/payer/payer-view.ts";
import type { CheckoutLedger, CheckoutSources, CheckoutVersion, StoredCheckout } from "./ports.ts";

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

/** Creates checkout's access to the data of other features. One statement reads any number of checkouts. */
export function makeCheckoutSources(deps: {
  readonly db: Reader;
  readonly baseUrl: () => string;
}): CheckoutSources {
  const { db, baseUrl } = deps;
  const given = (checkoutIds: readonly string[]): SqlValue[] => [JSON.stringify(checkoutIds)];
  async function loadFrom(
    reader: Reader,
    checkoutIds: readonly string[],
  ): Promise<ReadonlyMap<string, StoredCheckout>> {
    const rows = await reader.all<CheckoutRow>(checkouts[reader.dialect], given(checkoutIds));
    const invoices = readPayerInvoices(rows, baseUrl());
    return new Map(
      rows.flatMap((row, place): [string, StoredCheckout][] => {
        const invoice = invoices[place];
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

  return {
    async versions(checkoutIds) {
      const rows = await db.all<VersionRow>(versions[db.dialect], given(checkoutIds));
      return new Map(rows.map((row) => [row.checkoutId, row]));
    },

    load: (checkoutIds) => loadFrom(db, checkoutIds),

    async checkoutIn(tx, checkoutId) {
      const stored = (await loadFrom(tx, [checkoutId])).get(checkoutId);
      return stored === undefined ? null : { stored, states: await networkStates(tx) };
    },

    logo: (name) => findLogo(db, name),

    networkStates: () => networkStates(db),

    async ledgerIn(tx, invoiceId) {
      const [row] = await tx.all<LedgerColumns>(
        `SELECT ${ledgerSqls(tx.dialect)} FROM invoices i WHERE i.id = $1`,
        [invoiceId],
      );
      return ledgerOf(row ?? { ledger: "[[],[]]", refunds: "[]", leftToMerchant: "[]" });
    },
  };
}

function ledgerOf({ ledger, refunds, leftToMerchant }: LedgerColumns): CheckoutLedger {
  return {
    ...readLedger(ledger),
    refunds: readRefunds(refunds),
    leftToMerchant: readLeftToMerchant(leftToMerchant),
  };
}
