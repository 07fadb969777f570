import { createHash } from "node:crypto";
import type { FieldError } from "./errors.ts";
import { invalidFields } from "./errors.ts";

/** What a caller asks a list for, as it stands in the query or on the command line. */
export interface PageQuery {
  readonly limit?: string | number | undefined;
  readonly cursor?: string | undefined;
}

/** What narrows a list. Names of the path belong here too, so that a cursor fits the one list that gave it. */
export type PageFilters = Readonly<
  Record<string, string | number | boolean | readonly string[] | null | undefined>
>;

/** A page to fetch: rows after the position, one more than the limit, so that the last page is known as such. */
export interface PageRequest {
  /** Rows in the page, 1 to 100. */
  readonly limit: number;
  /** Rows to ask the store for: the limit and one. */
  readonly fetch: number;
  /** The position after which the page starts, ids descending: the id of the row before it; null for the first. */
  readonly after: string | null;
  readonly list: string;
  readonly fingerprint: string;
}

/** A page as every list answers it. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

export const defaultPageLimit = 20;
export const maxPageLimit = 100;
/** The longest cursor that is looked at; ours are far shorter. */
export const maxCursorLength = 512;

/**
 * Reads what was asked of a list. A limit outside 1 to 100, and a cursor that this list with these filters did not
 * give, are a 400 that names the query parameter.
 */
export function parsePage(query: PageQuery, list: string, filters: PageFilters = {}): PageRequest {
  const errors: FieldError[] = [];
  const limit = parseLimit(query.limit);
  if (limit === null) {
    const message = `must be a whole number from 1 to ${String(maxPageLimit)}`;
    errors.push({ parameter: "limit", code: "invalid_limit", message });
  }
  const fingerprint = fingerprintOf(filters);
  const after = query.cursor === undefined ? null : parseCursor(query.cursor, list, fingerprint);
  if (after === undefined) {
    const message =
      "must be the nextCursor of this list with these filters; leave it out to start again";
    errors.push({ parameter: "cursor", code: "invalid_cursor", message });
  }
  if (limit === null || after === undefined) throw invalidFields(errors);
  return { limit, fetch: limit + 1, after, list, fingerprint };
}

/** The page from the rows that `fetch` of them were asked for. */
export function toPage<T extends { readonly id: string }>(
  rows: readonly T[],
  page: PageRequest,
): Page<T> {
  return toPageBy(rows, page, (row) => row.id);
}

/** The same for a list that another order than its ids' walks: `positionOf` gives printable ASCII, up to 200. */
export function toPageBy<T>(
  rows: readonly T[],
  page: PageRequest,
  positionOf: (row: T) => string,
): Page<T> {
  const data = rows.slice(0, page.limit);
  const last = data.at(-1);
  const hasMore = rows.length > page.limit && last !== undefined;
  return { data, nextCursor: hasMore ? encodeCursor(page, positionOf(last)) : null };
}

/**
 * A page of a list whose search may stop early: `resumeAt` is the position behind which the rest lies where the rows do
 * not fill the page; null where there is no rest.
 */
export function toPartialPage<T>(
  rows: readonly T[],
  page: PageRequest,
  positionOf: (row: T) => string,
  resumeAt: string | null,
): Page<T> {
  const whole = toPageBy(rows, page, positionOf);
  if (whole.nextCursor !== null || resumeAt === null) return whole;
  return { ...whole, nextCursor: encodeCursor(page, resumeAt) };
}

/** The page with each row as it is presented. */
export function mapPage<T, U>(
  page: Page<T>,
  present: (row: T) => U,
): { data: U[]; nextCursor: string | null } {
  return { data: page.data.map((row) => present(row)), nextCursor: page.nextCursor };
}

function parseLimit(given: string | number | undefined): number | null {
  if (given === undefined) return defaultPageLimit;
  if (!/^[1-9][0-9]{0,2}$/.test(String(given))) return null;
  const limit = Number(given);
  return limit <= maxPageLimit ? limit : null;
}

function encodeCursor(page: PageRequest, position: string): string {
  return Buffer.from(JSON.stringify([page.list, page.fingerprint, position])).toString("base64url");
}

/** A position is bound to a statement, so it holds nothing that a database chokes on. */
const positionForm = /^[\x21-\x7e]{1,200}$/;

/** The position that a cursor holds; undefined where it is not one that this list gave. */
function parseCursor(cursor: string, list: string, fingerprint: string): string | undefined {
  if (cursor.length > maxCursorLength) return undefined;
  const bytes = Buffer.from(cursor, "base64url");
  // Buffer skips what is not base64url; the text must be what its bytes encode to, and nothing else.
  if (bytes.toString("base64url") !== cursor) return undefined;
  const position = positionIn(bytes.toString("utf8"), list, fingerprint);
  return position !== undefined && positionForm.test(position) ? position : undefined;
}

function positionIn(json: string, list: string, fingerprint: string): string | undefined {
  let content: unknown;
  try {
    content = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!Array.isArray(content) || content.length !== 3) return undefined;
  const [givenList, givenFingerprint, position] = content as unknown[];
  if (givenList !== list || givenFingerprint !== fingerprint) return undefined;
  return typeof position === "string" ? position : undefined;
}

function fingerprintOf(filters: PageFilters): string {
  const given = Object.entries(filters)
    .filter(([, value]) => value !== undefined && value !== null)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(given)).digest("base64url").slice(0, 12);
}
