import { createHash } from "node:crypto";
import type { FieldError } from "./errors.ts";
import { invalidFields } from "./errors.ts";

/** The page parameters from the query string or the command line, not parsed yet. */
export interface PageQuery {
  readonly limit?: string | number | undefined;
  readonly cursor?: string | undefined;
}

/**
 * The filters of a list. Path parameters belong here too, so that a cursor is valid only for the list that returned it.
 */
export type PageFilters = Readonly<
  Record<string, string | number | boolean | readonly string[] | null | undefined>
>;

/** A parsed page request. The store reads one row more than the limit, which shows whether another page follows. */
export interface PageRequest {
  /** Rows in the page, 1 to 100. */
  readonly limit: number;
  /** The number of rows to read from the store: the limit plus one. */
  readonly fetch: number;
  /** The id of the last row of the previous page (ids descend); null for the first page. */
  readonly after: string | null;
  readonly list: string;
  readonly fingerprint: string;
}

/** A page of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

export const defaultPageLimit = 20;
export const maxPageLimit = 100;
/** The maximum length of a cursor that is parsed; issued cursors are far shorter. */
export const maxCursorLength = 512;

/**
 * Parses the page parameters. A limit outside 1 to 100, or a cursor that this list did not return with these filters,
 * is a 400 problem that names the query parameter.
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

/** Builds the page from the rows that the store returned, at most `page.fetch` of them. */
export function toPage<T extends { readonly id: string }>(
  rows: readonly T[],
  page: PageRequest,
): Page<T> {
  return toPageBy(rows, page, (row) => row.id);
}

/** `toPage` for a list that is not ordered by id. `positionOf` returns at most 200 printable ASCII characters. */
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
 * Builds the page of a search that may stop early. If the rows do not fill the page, `resumeAt` is the position after
 * which the search continues; null if it is complete.
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

/** Presents each row of a page. */
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

/** A position becomes a parameter of an SQL statement, so it may hold only characters that every database accepts. */
const positionForm = /^[\x21-\x7e]{1,200}$/;

/** Returns the position in a cursor; undefined if this list did not issue the cursor. */
function parseCursor(cursor: string, list: string, fingerprint: string): string | undefined {
  if (cursor.length > maxCursorLength) return undefined;
  const bytes = Buffer.from(cursor, "base64url");
  // Buffer ignores characters that are not base64url, so the text is compared with the encoding of its bytes.
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
