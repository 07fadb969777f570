import { Defect, defineProblem } from "../../kernel/errors.ts";

/** The store is temporarily unavailable: locked, full, unreachable or restarting. No write was confirmed. */
export const StoreUnavailable = defineProblem({
  code: "store_unavailable",
  status: 503,
  title: "The store is not available",
  remedy:
    "Wait as long as `Retry-After` says and repeat the request with the same `Idempotency-Key`, so that it has one effect even if the first attempt was executed.",
});

/** The store works, but other writes were in the way for too long. Callers see no difference to `StoreUnavailable`. */
export class StoreBusy extends StoreUnavailable {}

/** The store was migrated by a newer program. */
export const StoreTooNew = defineProblem({
  code: "store_too_new",
  status: 409,
  title: "The store is newer than this program",
});

/** The store is from before the versions that this program migrates. */
export const StoreTooOld = defineProblem({
  code: "store_too_old",
  status: 409,
  title: "The store is too old for this program",
});

/** The delay that callers are advised to wait before a retry, in seconds. */
const retryAfterSeconds = 2;

export function unavailable(reason: string, cause: unknown): Error {
  return new StoreUnavailable(`${reason}. Try again in a moment.`, { retryAfterSeconds, cause });
}

/** Like `unavailable`, for reasons that say nothing about the health of the store. */
export function busy(reason: string, cause: unknown): Error {
  return new StoreBusy(`${reason}. Try again in a moment.`, { retryAfterSeconds, cause });
}

export function outcomeUnknown(cause: unknown): Error {
  return new StoreUnavailable(
    "The connection was lost during the commit, so the change may have been saved: " +
      "retry with the same Idempotency-Key, or check before you retry.",
    { retryAfterSeconds, cause },
  );
}

export function storeClosed(): Error {
  return unavailable("The program is closing its store", null);
}

export function tooManyWaiting(): Error {
  return busy("Too many requests are waiting for the store", null);
}

/** A unique index or primary key refused a row. Services translate it into the matching conflict. */
export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
  readonly table: string;
  /** The name of the declared index; that of a primary key is `<table>_pkey`. */
  readonly index: string;

  constructor(table: string, index: string) {
    super(`the unique index ${index} of ${table} refused the row`);
    this.table = table;
    this.index = index;
  }
}

/** Thrown if `write` is called inside another: pass the outer `tx` on instead. */
export class NestedWrite extends Defect {
  constructor() {
    super("db.write was called inside db.write: pass the open tx on instead");
  }
}

/**
 * A statement that the database refused because of a defect in the program. The message names the statement, never the
 * values.
 */
export class StatementFailed extends Error {
  override readonly name = "StatementFailed";
  /** The database's error code: `SQLITE_CONSTRAINT`, `23514`. */
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
  return new Defect(
    `a statement inside db.write bypassed its tx and would not see its changes: ${sql}`,
  );
}

/** Returns the driver's error inside one of Sequelize, without the statement and the values, which Sequelize adds to it. */
export function driverError(error: unknown): unknown {
  if (!(error instanceof Error && "parent" in error && error.parent instanceof Error)) return error;
  const { parent } = error;
  Reflect.deleteProperty(parent, "sql");
  Reflect.deleteProperty(parent, "parameters");
  return parent;
}
