import { systemActor, type Actor } from "../../kernel/actor.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { RowOf, SqlValue, Table } from "./schema/table.ts";

/** Time limits of the store, in milliseconds. */
export interface StoreLimits {
  /** For another process to release SQLite's lock. */
  readonly busyMilliseconds: number;
  /** For one write: a longer one is stuck, and blocks its rows or, on SQLite, all other writes. */
  readonly writeMilliseconds: number;
}

export const defaultLimits: StoreLimits = { busyMilliseconds: 15_000, writeMilliseconds: 30_000 };

/**
 * The number of writes that a background worker runs concurrently. SQLite commits all waiting writes together; on
 * PostgreSQL, writes of one kind wait for each other's rows, and more of them would only wait longer.
 */
export const concurrentWrites: Readonly<Record<Dialect, number>> = { sqlite: 16, postgres: 4 };

export type Dialect = "sqlite" | "postgres";

/** The names of the databases, as they are written. */
export const databaseNames: Readonly<Record<Dialect, string>> = {
  sqlite: "SQLite",
  postgres: "PostgreSQL",
};

/** A row from the driver, before a table's columns decode it. */
export type RawRow = Readonly<Record<string, unknown>>;

/**
 * Reads the store. Statements are constant text with placeholders `$1`, `$2`, … and bound values, the same on both
 * databases, so that each is prepared once. Column names in SQL are snake_case.
 */
export interface Reader {
  readonly dialect: Dialect;
  /** Runs a statement that returns rows, which are not decoded. */
  all<R = RawRow>(sql: string, values?: readonly SqlValue[]): Promise<R[]>;
  /** Returns decoded rows of a table. `rest` follows `SELECT … FROM table`: `WHERE id = $1 ORDER BY id LIMIT 10`. */
  find<T extends Table>(table: T, rest: string, values?: readonly SqlValue[]): Promise<RowOf<T>[]>;
  /** Returns the first row of `find`, or null. */
  findOne<T extends Table>(
    table: T,
    rest: string,
    values?: readonly SqlValue[],
  ): Promise<RowOf<T> | null>;
}

/** The context of a write. Every function that writes receives it, and the transaction passes it to the journal. */
export interface WriteContext {
  readonly actor: Actor;
  /** The id of the request that caused the write; null for background work. */
  readonly requestId: string | null;
  /** The client's IP address; null for background work. */
  readonly ip: string | null;
  /** A time limit for this write in milliseconds, if the store's own is too short. */
  readonly writeMilliseconds?: number;
  /**
   * Called once inside the transaction with the result of `fn`. It stores the response of an Idempotency-Key, which so
   * commits together with the effect.
   */
  readonly finish?: (tx: Tx, result: unknown) => Promise<void> | void;
  /** Called at the end of the transaction with what it has written. It throws to refuse that. */
  readonly spend?: (tx: Tx, written: Written) => Promise<void>;
}

/** The volume of a transaction. */
export interface Written {
  /** The texts of all values, in bytes, and `rowBytes` for each row that it appended. */
  readonly bytes: number;
  /** The number of rows that it appended, such as new invoices, by the name of their table. */
  readonly appended: ReadonlyMap<string, number>;
}

/** A question to the store that the writes of one commit can ask together. */
export interface Question<Asked extends object, Answer> {
  /** The answers are outdated when a statement changes this table. Appended rows do not change them. */
  readonly table: Table;
  /** Returns the answers in order, with a number of statements that does not depend on how many are asked. */
  ask(reader: Reader, asked: readonly Asked[]): Promise<readonly Answer[]>;
}

/** A question that a write will probably ask, so that writes that wait at the same time ask together. */
export interface Foreseen {
  readonly question: Question<object, unknown>;
  readonly asked: object;
}

/** A change of one row: the values by which it is found, and those that it gets. */
export interface RowChange<T extends Table> {
  /** Null finds no row. */
  readonly where: Partial<RowOf<T>>;
  readonly set: Partial<RowOf<T>>;
}

/**
 * An open transaction. It has no `write`, so writes cannot be nested. A statement that fails makes the whole write fail
 * even if its error was caught; use `insertIfAbsent` for rows that may exist. It is unusable after the write has ended.
 */
export interface Tx extends Reader {
  readonly context: WriteContext;
  /** Whether no other transaction can write until this one ends, as on SQLite. */
  readonly isExclusive: boolean;
  /** Runs a statement that changes rows; returns the number of changed rows. */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>;
  /**
   * `find` that locks the rows until the transaction ends (`FOR UPDATE` on PostgreSQL). Lock in a fixed order to avoid
   * deadlocks.
   */
  lock<T extends Table>(table: T, rest: string, values?: readonly SqlValue[]): Promise<RowOf<T>[]>;
  lockOne<T extends Table>(
    table: T,
    rest: string,
    values?: readonly SqlValue[],
  ): Promise<RowOf<T> | null>;
  /**
   * Runs a SELECT that finds rows by their primary keys, and keeps these rows unchanged by others until the transaction
   * ends (`FOR SHARE` on PostgreSQL). The writes that share a commit read the same rows once.
   */
  lockShared<R = RawRow>(sql: string, values: readonly SqlValue[]): Promise<readonly R[]>;
  /** Returns the answers to a question, in order; those that were asked ahead of the write are known. */
  answers<Q extends object, A>(
    question: Question<Q, A>,
    asked: readonly Q[],
  ): Promise<readonly A[]>;
  /**
   * Returns an object that the writes of one commit share, created by the first of them. It may contain traces of a
   * write that failed.
   */
  shared<T extends object>(make: () => T): T;
  insert<T extends Table>(table: T, row: RowOf<T>): Promise<void>;
  insertMany<T extends Table>(table: T, rows: readonly RowOf<T>[]): Promise<void>;
  /** Inserts a row unless a unique index refuses it; true if inserted. */
  insertIfAbsent<T extends Table>(table: T, row: RowOf<T>): Promise<boolean>;
  /**
   * Sets columns of the rows that match `where` (`WHERE id = $1 AND status = $2`); returns the number of rows. Include
   * the expected state in the condition: zero rows mean a conflict.
   */
  update<T extends Table>(
    table: T,
    set: Partial<RowOf<T>>,
    where: string,
    values?: readonly SqlValue[],
  ): Promise<number>;
  /**
   * Changes many rows in one statement, each to its own values. All changes name the same columns, and each finds
   * another row. Returns the number of rows that were found.
   */
  updateMany<T extends Table>(table: T, changes: readonly RowChange<T>[]): Promise<number>;
  /** `updateMany` that returns some columns of the changed rows. */
  updateManyReturning<T extends Table, K extends keyof RowOf<T> & string>(
    table: T,
    returning: readonly K[],
    changes: readonly RowChange<T>[],
  ): Promise<Pick<RowOf<T>, K>[]>;
  /** Inserts rows in one statement; those with the primary key of a stored row replace it. */
  upsertMany<T extends Table>(table: T, rows: readonly RowOf<T>[]): Promise<void>;
  /** Deletes the rows with these values (usually of the primary key) in one statement, and returns them. */
  deleteMany<T extends Table>(table: T, keys: readonly Partial<RowOf<T>>[]): Promise<RowOf<T>[]>;
  /**
   * Adds a row that nothing reads before the commit (audit entries, events, stored responses). All such rows of the
   * writes in a commit are inserted together just before it.
   */
  append<T extends Table>(table: T, row: RowOf<T>): void;
  /** Whether the transaction has changed or added a row so far. */
  hasChanged(): boolean;
  /** Runs an action after a successful commit. For wake-ups, which may be lost. */
  afterCommit(action: () => void): void;
}

export interface Database extends Reader {
  /**
   * The only way to write: one call is one transaction, and it resolves once the commit is on disk. `fn` may run more
   * than once, so it must have no effect outside the store, no network call and no password hashing; its time limit is
   * 30 s. It must contain no other call of `write`, which would wait for itself, and no read that bypasses its tx; in
   * tests both throw. Errors: those of `fn`, UniqueViolation, and StoreUnavailable (503), after which the write must not
   * be assumed to have succeeded. `foreseen` only saves statements.
   */
  write<T>(
    context: WriteContext,
    fn: (tx: Tx) => Promise<T>,
    foreseen?: Foreseen | null,
  ): Promise<T>;
  /** Waits for open work and closes the store. */
  close(): Promise<void>;
}

/** The log for failures that no caller receives. */
export interface StoreLogger {
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** Writes to the store without changing it, and returns the time until the commit was on disk, in milliseconds. */
export async function probeWrite(
  db: Database,
  clock: Clock,
  context: WriteContext,
): Promise<number> {
  const began = clock.now();
  await db.write(context, (tx) => tx.run("UPDATE meta SET value = value"));
  return clock.now() - began;
}

/** Returns the context for writes of the program; the label names the worker that writes. */
export function systemContext(label: string): WriteContext {
  return { actor: systemActor(label), requestId: null, ip: null };
}
