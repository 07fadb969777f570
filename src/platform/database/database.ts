import type { Actor } from "../../kernel/actor.ts";
import type { RowOf, SqlValue, Table } from "./table.ts";

export type Dialect = "sqlite" | "postgres";

/** A row as the driver gives it, before a table's columns decode it. */
export type RawRow = Readonly<Record<string, unknown>>;

/**
 * Reads the store. Statements are fixed text with `$1`, `$2`, … and bound values, the same on both databases, so that
 * each is prepared once. Column names in SQL are snake_case.
 */
export interface Reader {
  readonly dialect: Dialect;
  /** Any statement that gives rows; they come as the driver gives them. */
  all<R = RawRow>(sql: string, values?: readonly SqlValue[]): Promise<R[]>;
  /** Rows of one table: `rest` is what follows `SELECT … FROM table`, such as `WHERE id = $1 ORDER BY id LIMIT 10`. */
  find<T extends Table>(table: T, rest: string, values?: readonly SqlValue[]): Promise<RowOf<T>[]>;
  /** The first of them, or null. */
  findOne<T extends Table>(
    table: T,
    rest: string,
    values?: readonly SqlValue[],
  ): Promise<RowOf<T> | null>;
}

/** What a write is done under. It reaches every service, and the transaction carries it to audit and outbox. */
export interface WriteContext {
  readonly actor: Actor;
  /** The request that caused the write; null where there is none. */
  readonly requestId: string | null;
  /** The client's address; null where there is none. */
  readonly ip: string | null;
  /** How long the write may take, in milliseconds, where the store's own limit is too short for it. */
  readonly writeMilliseconds?: number;
  /**
   * Called once, inside the transaction, with what `fn` gave: here the answer kept for an Idempotency-Key is written,
   * so that it commits with the effect.
   */
  readonly finish?: (tx: Tx, result: unknown) => Promise<void> | void;
}

/**
 * An open transaction. It has no `write`, so that nesting cannot be written. A statement that fails fails the whole
 * write, even when its error was caught: `insertIfAbsent` is for rows that may be there. Of no use once the write ended.
 */
export interface Tx extends Reader {
  readonly context: WriteContext;
  /** Any statement that changes rows; gives how many it changed. */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>;
  /** `find` with the rows locked until the transaction ends (`FOR UPDATE` on PostgreSQL). Lock in a fixed order. */
  lock<T extends Table>(table: T, rest: string, values?: readonly SqlValue[]): Promise<RowOf<T>[]>;
  lockOne<T extends Table>(
    table: T,
    rest: string,
    values?: readonly SqlValue[],
  ): Promise<RowOf<T> | null>;
  insert<T extends Table>(table: T, row: RowOf<T>): Promise<void>;
  insertMany<T extends Table>(table: T, rows: readonly RowOf<T>[]): Promise<void>;
  /** Inserts unless a unique index refuses; true when it did. */
  insertIfAbsent<T extends Table>(table: T, row: RowOf<T>): Promise<boolean>;
  /**
   * Sets columns of the rows that `where` names (`WHERE id = $1 AND status = $2`); gives how many there were.
   * State the state that is expected in the condition: zero rows is a conflict.
   */
  update<T extends Table>(
    table: T,
    set: Partial<RowOf<T>>,
    where: string,
    values?: readonly SqlValue[],
  ): Promise<number>;
  /**
   * Adds a row that nothing reads before the commit (audit entries, events, kept answers). Such rows of all writes
   * that share a commit are written together just before it.
   */
  append<T extends Table>(table: T, row: RowOf<T>): void;
  /** Runs after the commit, and only then: for wake-ups, which may be lost. */
  afterCommit(action: () => void): void;
}

export interface Database extends Reader {
  /**
   * The only way to write: one call, one transaction, answered when it is on disk. `fn` may run again, so it has no
   * effect outside the store; no network call and no password hashing inside, and it is done within 30 s. A call inside
   * another throws NestedWrite, and a read that goes past the open tx a Defect. Errors: what `fn` throws;
   * UniqueViolation; StoreUnavailable (503), after which nothing may be taken for done.
   */
  write<T>(context: WriteContext, fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** Ends open work and lets the store go. */
  close(): Promise<void>;
}

/** Where the store tells what no caller is told. */
export interface StoreLogger {
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}
