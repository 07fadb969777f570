export type {
  Database,
  Dialect,
  Foreseen,
  Question,
  RawRow,
  Reader,
  Tx,
  WriteContext,
} from "./database.ts";
export { databaseNames } from "./database.ts";
export { databaseVersion, openForReading } from "./read-only.ts";
export { NestedWrite, StatementFailed, StoreUnavailable, UniqueViolation } from "./errors.ts";
export { currentVersion, hasTable, oldestTill, type Migration } from "./schema/migrate.ts";
export type { StoreLimits } from "./limits.ts";
export { durabilityThatIsOff, type DurabilitySetting } from "./postgres/durability.ts";
export { openDatabase, type StoreOptions } from "./open.ts";
export { migrate, newestVersion, oldestVersion, pendingMigrations } from "./schema.ts";
export { columns, decodeRows } from "./schema/statements.ts";
export { decodeSum, signedSums, sumOfAmounts } from "./query/sum-amounts.ts";
export {
  amount,
  columnName,
  declaredTables,
  decodeAmount,
  decodeSignedAmount,
  encodeAmount,
  flag,
  integer,
  json,
  signedAmount,
  table,
  text,
  time,
  type Column,
  type RowOf,
  type SqlValue,
  type Table,
} from "./schema/table.ts";
