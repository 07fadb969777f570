import { Defect } from "../../../kernel/errors.ts";
import {
  StatementFailed,
  UniqueViolation,
  busy,
  unavailable,
  writeOutsideTransaction,
} from "../errors.ts";

/** An error that the server reported. */
interface ServerError extends Error {
  readonly code: string;
  readonly severity: string;
  readonly constraint?: string;
  readonly table?: string;
}

/** SQLSTATE classes: connection exceptions, insufficient resources, operator intervention, system errors. */
const unavailableClasses = new Set(["08", "53", "57", "58"]);
/** SQLSTATEs of lock_timeout, statement_timeout and the two transaction timeouts. */
const busyCodes = new Set(["55P03", "57014", "25P03", "25P04"]);
const retriedCodes = new Set(["40001", "40P01"]);

export function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && "severity" in error && "code" in error;
}

/** True if the driver stopped waiting for an answer: the server may still be at work. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}

/**
 * True if the server ended the connection (SQLSTATE class 08 and 57P…, or no word at all) or does not take writes any
 * more. A transaction whose COMMIT was not sent is rolled back then.
 */
export function isLoss(error: unknown, couldWrite: boolean): boolean {
  // A Defect comes from the type parsers of this program; the connection is still usable.
  if (error instanceof Defect || isTimeout(error)) return false;
  if (!isServerError(error)) return true;
  return isEnd(error) || (couldWrite && isReadOnly(error));
}

/** True if the server ended the connection with this error. */
export function isEnd({ code }: ServerError): boolean {
  return /^(?:08|57P)/.test(code);
}

/** True if the server refused a write because the transaction is read-only. */
export function isReadOnly(error: unknown): boolean {
  return isServerError(error) && error.code === "25006";
}

/** The transaction was rolled back, for example because of a deadlock or a lost connection; the write may be retried. */
export class RolledBackByServer extends Error {
  override readonly name = "RolledBackByServer";

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}

/**
 * The connection broke, or its server takes no writes any more. A transaction whose COMMIT was not sent is rolled back.
 */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";

  constructor(cause: unknown) {
    super("the connection was lost", { cause });
  }
}

/**
 * Translates a driver's error into one of the store's errors.
 * @param mayWrite whether the connection is one for writes
 */
export function translate(error: unknown, sql: string, mayWrite: boolean): unknown {
  if (error instanceof Defect) return error;
  if (error instanceof ConnectionLost) return translate(error.cause, sql, mayWrite);
  if (!isServerError(error)) return unavailable("The connection to the database was lost", error);
  if (error.code === "23505") return new UniqueViolation(error.table ?? "", error.constraint ?? "");
  if (retriedCodes.has(error.code)) return new RolledBackByServer(error.message, error);
  if (isReadOnly(error)) {
    return mayWrite
      ? unavailable("The database is read-only", error)
      : writeOutsideTransaction(sql);
  }
  if (busyCodes.has(error.code)) return busy(`The database answered: ${error.message}`, error);
  if (unavailableClasses.has(error.code.slice(0, 2))) {
    return unavailable(`The database answered: ${error.message}`, error);
  }
  return new StatementFailed(error.code, error.message, sql);
}
