import type { ValueSource } from "../../http/declare/command.ts";
import { idPrefixes, type IdKind } from "../../kernel/id.ts";
import { formatMoney, money, settlementAsset } from "../../kernel/money/money.ts";
import { nearest } from "../../platform/config/files/did-you-mean.ts";
import type { Reader } from "../../platform/database/database.ts";
import { decodeAmount } from "../../platform/database/schema/table.ts";

/** The number of objects of a kind that are read to find those with a similar id or name, newest first. */
const comparedMax = 1_000;
/** The number of similar objects that a message names. */
const suggestedMax = 3;

/** A value that an argument or flag takes, and what it stands for. */
export interface Known {
  readonly value: string;
  /** By what people recognize it; it may contain any character. */
  readonly description: string;
}

/** An object of the store with its id, and the name that people gave it; empty if it has none. */
interface Stored extends Known {
  readonly name: string;
}

/**
 * Returns up to `max` objects of a kind whose id begins so, newest first. If there are more, the oldest one follows: so
 * what all returned ids have in common is what all ids have in common, which shells insert.
 */
export async function idsThatBegin(
  reader: Reader,
  kind: IdKind,
  typed: string,
  organizationId: string | null,
  max: number,
): Promise<readonly Known[]> {
  const prefix = `${idPrefixes[kind]}_`;
  const stored = storedKinds[kind];
  if (stored === undefined || !(typed.startsWith(prefix) || prefix.startsWith(typed))) return [];
  const from = typed.length > prefix.length ? typed : prefix;
  const read = (order: string, limit: number) =>
    readKind(reader, stored, { from, organizationId, order, limit });
  const newest = await read("DESC", max + 1);
  if (newest.length <= max) return newest;
  return [...newest.slice(0, max), ...(await read("ASC", 1))];
}

/** Returns the names of organizations that begin so, ignoring case, or the users' e-mail addresses. */
export async function namesThatBegin(
  reader: Reader,
  source: "organization" | "email",
  typed: string,
  max: number,
): Promise<readonly Stored[]> {
  const kind = source === "email" ? "user" : source;
  const stored = storedKinds[kind];
  if (stored?.name == null) return [];
  const pattern = `${typed.replace(/[\\%_]/g, "\\$&")}%`.replace(/[A-Z]+/g, (letters) =>
    letters.toLowerCase(),
  );
  const rows = await reader.all<Row>(
    `SELECT ${columnsOf(stored)} FROM ${stored.table}
     WHERE LOWER(${stored.name}) LIKE $1 ESCAPE '\\' ORDER BY LOWER(${stored.name}), id LIMIT $2`,
    [pattern, max],
  );
  return rows.map((row) => {
    const one = shown(stored, row);
    return source === "email" ? { ...one, value: one.name } : one;
  });
}

/** Returns the objects of a kind whose id or name is similar to a wrong one, the most similar first. */
export async function similar(
  reader: Reader,
  kind: IdKind,
  wrong: string,
  organizationId: string | null,
): Promise<readonly Stored[]> {
  const stored = storedKinds[kind];
  if (stored === undefined || wrong === "") return [];
  const prefix = `${idPrefixes[kind]}_`;
  const typed = corrected(prefix, wrong);
  const read = (from: string, limit: number) =>
    readKind(reader, stored, { from, organizationId, order: "DESC", limit });
  // Somebody may have copied only the beginning of an id.
  const begun = typed.length > prefix.length ? await read(typed, suggestedMax) : [];
  if (begun.length > 0) return begun;
  const newest = await read(prefix, comparedMax);
  if (typed.startsWith(prefix)) return nearest(typed, newest, ({ value }) => value, suggestedMax);
  return nearest(wrong, newest, ({ name }) => name, suggestedMax);
}

/** Whether an object exists, and the organization to which it belongs. */
export async function findKnown(
  reader: Reader,
  kind: IdKind,
  id: string,
): Promise<{ readonly owner: string | null } | null> {
  const stored = storedKinds[kind];
  if (stored === undefined) return null;
  const [found] = await reader.all<{ owner: string | null }>(
    `SELECT ${stored.owner ?? "NULL"} AS "owner" FROM ${stored.table} WHERE id = $1`,
    [id],
  );
  return found ?? null;
}

/** Returns the newest payments that a transfer is allocated by, or was; only those of an organization if one is given. */
export async function paymentsOfTransfer(
  reader: Reader,
  transferId: string,
  organizationId: string | null,
): Promise<readonly string[]> {
  const rows = await reader.all<{ id: string }>(
    `SELECT id FROM payments WHERE transfer_id = $1${organizationId === null ? "" : " AND organization_id = $3"}
     ORDER BY id DESC LIMIT $2`,
    [transferId, suggestedMax, ...(organizationId === null ? [] : [organizationId])],
  );
  return rows.map(({ id }) => id);
}

/** Returns the kinds of ids among the sources of a value. */
export function kindsOf(sources: readonly ValueSource[]): IdKind[] {
  return sources.filter((source): source is IdKind => Object.hasOwn(idPrefixes, source));
}

async function readKind(
  reader: Reader,
  stored: StoredKind,
  range: {
    readonly from: string;
    readonly organizationId: string | null;
    readonly order: string;
    readonly limit: number;
  },
): Promise<readonly Stored[]> {
  const { from, organizationId, order, limit } = range;
  // "~" follows all characters of ids.
  const values: (string | number)[] = [from, `${from}~`, limit];
  const isOwned = organizationId !== null && stored.owner !== null;
  if (isOwned) values.push(organizationId);
  const rows = await reader.all<Row>(
    `SELECT ${columnsOf(stored)} FROM ${stored.table}
     WHERE id >= $1 AND id < $2${isOwned ? ` AND ${stored.owner} = $4` : ""}
     ORDER BY id ${order} LIMIT $3`,
    values,
  );
  return rows.map((row) => shown(stored, row));
}

function columnsOf({ name, columns }: StoredKind): string {
  return ["id", ...(name === null ? [] : [name]), ...columns].join(", ");
}

function shown(stored: StoredKind, row: Row): Stored {
  const { id, ...rest } = row;
  const name = stored.name === null ? null : row[stored.name];
  const values = stored.show?.(row) ?? Object.values(rest);
  const words = values.filter((value) => typeof value === "string" && value !== "");
  return {
    value: String(id),
    name: typeof name === "string" ? name : "",
    description: words.join(", "),
  };
}

/** Corrects letters that ids do not have, as somebody writes them who read the id aloud. */
function corrected(prefix: string, wrong: string): string {
  const lower = wrong.trim().toLowerCase();
  if (!lower.startsWith(prefix)) return lower;
  const rest = lower.slice(prefix.length);
  return prefix + rest.replaceAll("o", "0").replaceAll(/[il]/g, "1");
}

/** A kind of object that commands take by its id: where it is stored, and how people recognize it. */
interface StoredKind {
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
type Row = Readonly<Record<string, unknown>>;

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
