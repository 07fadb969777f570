import { idPrefixes, type IdKind } from "../../kernel/id.ts";
import { formatMoney, money, settlementAsset } from "../../kernel/money/money.ts";
import { decodeAmount } from "../../platform/database/schema/table.ts";

/** A kind of object that commands take by its id: where it is stored, and how people recognize it. */
export interface StoredKind {
  readonly table: string;
  /** The column of the name by which people know it; null if it has none. */
  readonly name: string | null;
  /** Further columns, in SQL. No column may contain a secret. */
  readonly columns: readonly string[];
  /** The column of its organization; null if it belongs to none. */
  readonly owner: string | null;
  /** Returns the values by which people recognize it; by default, the name and those of the columns. */
  readonly show?: (row: Row) => readonly unknown[];
}

/** The selected columns of an object. */
export type Row = Readonly<Record<string, unknown>>;

const owner = "organization_id";

/** The kinds of objects that commands take. */
export const storedKinds: Readonly<Partial<Record<IdKind, StoredKind>>> = {
  organization: {
    table: "organizations",
    name: "name",
    owner: "id",
    columns: ["verification_status"],
  },
  user: { table: "users", name: "email", columns: [], owner: null },
  session: {
    table: "sessions",
    name: null,
    owner: null,
    columns: ["(SELECT email FROM users WHERE users.id = sessions.user_id) AS email"],
  },
  apiKey: { table: "api_keys", name: "name", columns: [], owner },
  customer: { table: "customers", name: "name", columns: ["email"], owner },
  wallet: { table: "wallets", name: "label", columns: ["network", "status"], owner },
  invoice: {
    table: "invoices",
    name: "external_id",
    owner,
    columns: ["status", "amount", "settlement_currency", "settlement_decimals", "description"],
    show: (row) => [row["status"], priceOf(row), row["external_id"], row["description"]],
  },
  paymentLink: { table: "payment_links", name: null, columns: ["status"], owner },
  transfer: { table: "transfers", name: null, columns: ["token", "network", "status"], owner },
  payment: { table: "payments", name: null, columns: ["token", "network", "invoice_id"], owner },
  refund: { table: "refunds", name: null, columns: ["status", "token", "network"], owner },
  webhookEndpoint: {
    table: "webhook_endpoints",
    name: "url",
    columns: ["description", "status"],
    owner,
    // The path and the query of a URL may contain a secret of the receiver.
    show: ({ url, description, status }) => [hostOf(String(url)), description, status],
  },
  webhookDelivery: {
    table: "webhook_deliveries",
    name: null,
    columns: ["event_type", "status"],
    owner,
  },
  job: { table: "jobs", name: null, columns: ["queue", "name", "state"], owner: null },
};

function priceOf(row: Row): string {
  const code = String(row["settlement_currency"]);
  const asset = settlementAsset(code, Number(row["settlement_decimals"]));
  return `${formatMoney(money(decodeAmount(String(row["amount"])), asset))} ${code}`;
}

function hostOf(url: string): string {
  return /^https?:\/\/(?:[^/?#]*@)?([^/?#]+)/.exec(url)?.[1] ?? "";
}

/** Returns the kind whose prefix an id has, even if only the beginning was copied; null for any other text. */
export function kindOf(text: string): IdKind | null {
  const prefix = /^([a-z]{3})_\d[0-9a-hjkmnp-tv-z]*$/.exec(text)?.[1];
  const kinds = Object.entries(idPrefixes) as [IdKind, string][];
  return kinds.find(([, one]) => one === prefix)?.[0] ?? null;
}

/** Returns a kind in words: `API key`, `payment link`. */
export function titleOf(kind: IdKind): string {
  return kind.replace("api", "API").replaceAll(/[A-Z](?=[a-z])/g, (one) => ` ${one.toLowerCase()}`);
}

/** Returns a kind in words with its article: `an invoice`. */
export function articled(kind: IdKind): string {
  const title = titleOf(kind);
  return `${/^[aeioA]/.test(title) ? "an" : "a"} ${title}`;
}
