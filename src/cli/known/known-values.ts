import type { ValueSource } from "../../api/declare/command.ts";
import { idPrefixes, type IdKind } from "../../kernel/id.ts";
import { nearest } from "../../platform/config/files/did-you-mean.ts";
import type { Reader } from "../../platform/database/database.ts";
import { storedKinds, type Row, type StoredKind } from "./kinds.ts";

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
export interface Stored extends Known {
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
