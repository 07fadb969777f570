import { Defect, defineProblem } from "../../kernel/errors.ts";

/** The store cannot serve now: it is locked, full, gone or coming back. Nothing was answered as done. */
export const StoreUnavailable = defineProblem({
  code: "store_unavailable",
  status: 503,
  title: "The store is not available",
});

/** The store was written by a newer program. */
export const StoreTooNew = defineProblem({
  code: "store_too_new",
  status: 409,
  title: "The store is newer than this program",
});

/** How long a caller waits before it tries again. */
const retryAfterSeconds = 2;

export function unavailable(reason: string, cause: unknown): Error {
  return new StoreUnavailable(`${reason}. Try again in a moment.`, { retryAfterSeconds, cause });
}

export function outcomeUnknown(cause: unknown): Error {
  return new StoreUnavailable(
    "The connection was lost while the change was being kept, and it may have happened: " +
      "repeat it with the same Idempotency-Key, or look before you repeat it.",
    { retryAfterSeconds, cause },
  );
}

export function storeClosed(): Error {
  return unavailable("The program is closing its store", null);
}

export function tooManyWaiting(): Error {
  return unavailable("Too many requests wait for the store", null);
}

/** A unique index or primary key refused a row. A service turns it into the conflict that it means. */
export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
  readonly table: string;
  /** The index as it was declared; a primary key is `<table>_pkey`. */
  readonly index: string;

  constructor(table: string, index: string) {
    super(`the unique index ${index} of ${table} refused the row`);
    this.table = table;
    this.index = index;
  }
}

/** `write` was called inside another: pass the outer `tx` on instead. */
export class NestedWrite extends Defect {
  constructor() {
    super("db.write was called inside db.write: pass the open tx on instead");
  }
}

/** A statement that the database refused: a defect of ours. It names the statement, never the values. */
export class StatementFailed extends Error {
  override readonly name = "StatementFailed";
  /** The database's own code: `SQLITE_CONSTRAINT`, `23514`. */
  readonly code: string;

  constructor(code: string, message: string, sql: string) {
    super(`${code}: ${message} in: ${sql}`);
    this.code = code;
  }
}

export function writeOutsideTransaction(sql: string): Defect {
  return new Defect(`a statement that changes rows ran outside db.write: ${sql}`);
}

export function readPastWrite(sql: string): Defect {
  return new Defect(`a statement inside db.write went past its tx and would see what was: ${sql}`);
}
