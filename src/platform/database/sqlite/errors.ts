import { StatementFailed, UniqueViolation, unavailable } from "../errors.ts";
import { columnName, declaredTables } from "../schema/table.ts";

interface SqliteError extends Error {
  readonly code: string;
}

/** Reasons outside the statement: the file is locked, full, missing or damaged. */
const reasons: Readonly<Record<string, string>> = {
  SQLITE_BUSY: "Another process has kept the store locked",
  SQLITE_LOCKED: "Another process has kept the store locked",
  SQLITE_FULL: "The disk that holds the store is full",
  SQLITE_IOERR: "The disk that holds the store failed to read or write",
  SQLITE_CANTOPEN: "The store's file cannot be opened",
  SQLITE_READONLY: "The store's file is read-only",
  SQLITE_NOMEM: "The machine has no memory left",
  SQLITE_CORRUPT: "The store's file is damaged: restore a backup with till restore",
  SQLITE_NOTADB: "The store's file is not a SQLite database",
  SQLITE_PROTOCOL: "The store's file could not be locked",
};

export function isSqliteError(error: unknown): error is SqliteError {
  return (
    error instanceof Error &&
    "errno" in error &&
    "code" in error &&
    String(error.code).startsWith("SQLITE_")
  );
}

/** Translates a driver's error into one of the store's errors; returns any other error unchanged. */
export function translate(error: unknown, sql: string): unknown {
  if (!isSqliteError(error)) return error;
  const reason = reasons[error.code];
  if (reason !== undefined) return unavailable(reason, error);
  const unique = /UNIQUE constraint failed: (.+)$/.exec(error.message)?.[1];
  if (unique !== undefined) return violated(unique);
  return new StatementFailed(error.code, error.message.replace(/^SQLITE_\w+: /, ""), sql);
}

/** SQLite names the columns (`wallets.network, wallets.address`), or the index if it is on an expression. */
function violated(text: string): UniqueViolation {
  const byName = /^index '(.+)'$/.exec(text)?.[1];
  if (byName !== undefined) {
    const owner = declaredTables().find(({ indexes }) =>
      indexes.some(({ name }) => name === byName),
    );
    return new UniqueViolation(owner?.name ?? "", byName);
  }
  const [tableName = ""] = text.split(".");
  const named = text.split(", ").map((column) => column.slice(tableName.length + 1));
  const isOn = (properties: readonly string[]) =>
    properties.map(columnName).join() === named.join();
  const table = declaredTables().find(({ name }) => name === tableName);
  const index = table?.indexes.find(({ unique, columns }) => unique === true && isOn(columns));
  const isPrimaryKey = table === undefined || isOn(table.primaryKey);
  return new UniqueViolation(tableName, isPrimaryKey ? `${tableName}_pkey` : (index?.name ?? text));
}
