import { within } from "../../../kernel/clock.ts";
import { Defect } from "../../../kernel/errors.ts";
import type { Dialect, RowChange, StoreLogger, Tx, WriteContext, Written } from "../database.ts";
import { givenField, givenValues } from "../query/json-rows.ts";
import type { RowCache } from "./row-cache.ts";
import { sharedLock } from "./locks.ts";
import { makeReader, statementOf, type Session } from "../query/statement.ts";
import {
  columns,
  decodeRows,
  encodeColumns,
  encodeRow,
  insertIfAbsentStatement,
  insertRowsStatement,
  insertStatement,
  selectStatement,
  shapeOf,
  updateStatement,
  type ShapeColumn,
} from "../schema/statements.ts";
import { declarationOrder, type RowOf, type SqlValue, type Table } from "../schema/table.ts";

/** The result of a write, and the work that its commit completes. */
export interface WriteResult<T> {
  readonly result: T;
  readonly appended: EncodedRows;
  readonly afterCommit: readonly (() => void)[];
}

/** The open transaction of a write. */
export interface OpenTransaction {
  readonly dialect: Dialect;
  readonly session: Session;
  /** The rows that the transaction keeps; the writes that share it share them. */
  readonly cache: RowCache;
  /** The time limit of the write, in milliseconds. */
  readonly writeMilliseconds: number;
}

const none: readonly SqlValue[] = [];

/** The bytes of a row beside its texts: those of its numbers, its key and its indexes. */
const rowBytes = 200;

/**
 * Runs a write on an open transaction: `fn`, then the context's `finish`. A failed statement fails the write even if
 * `fn` caught its error: PostgreSQL cannot continue after one, so SQLite behaves alike.
 */
export async function runWrite<T>(
  { dialect, session, cache, writeMilliseconds }: OpenTransaction,
  context: WriteContext,
  fn: (tx: Tx) => Promise<T>,
): Promise<WriteResult<T>> {
  const open = openSession(session, cache, context.spend !== undefined);
  const leftovers = { appended: new Map(), afterCommit: [] };
  const tx = makeTx(dialect, open, cache, context, leftovers);
  try {
    const work = async () => {
      const given = await fn(tx);
      await context.finish?.(tx, given);
      await context.spend?.(tx, writtenBy(open.writtenBytes(), leftovers.appended));
      return given;
    };
    const ms = context.writeMilliseconds ?? writeMilliseconds;
    const result = await within(ms, work(), () => {
      throw new Defect(`a write took longer than ${String(ms)} ms`);
    });
    await open.end();
    open.throwFailure();
    return { result, ...leftovers };
  } finally {
    await open.end();
  }
}

function writtenBy(bytes: number, appended: EncodedRows): Written {
  const rows = [...appended.values()].flat();
  return {
    bytes: rows.reduce((sum, values) => sum + rowBytes + bytesOf(values), bytes),
    appended: new Map([...appended].map(([{ name }, its]) => [name, its.length])),
  };
}

function bytesOf(values: readonly SqlValue[]): number {
  return values.reduce<number>(
    (sum, value) => (typeof value === "string" ? sum + Buffer.byteLength(value) : sum),
    0,
  );
}

interface OpenSession extends Session {
  /** The texts of the statements that wrote, in bytes; 0 unless they are counted. */
  writtenBytes(): number;
  mustBeOpen(): void;
  /** Whether a statement has changed rows. */
  hasChanged(): boolean;
  /** Refuses further statements, and waits for statements that were started but not awaited. */
  end(): Promise<void>;
  /** Throws the error of the first failed statement, if any. */
  throwFailure(): void;
}

function openSession(session: Session, cache: RowCache, isCounting: boolean): OpenSession {
  let isOpen = true;
  let writtenBytes = 0;
  let pending = 0;
  let hasChanged = false;
  let whenIdle: (() => void) | undefined;
  const failures: unknown[] = [];

  function mustBeOpen(): void {
    if (!isOpen) throw new Defect("a tx was used after its write had ended");
  }

  async function watched<R>(statement: () => Promise<R>): Promise<R> {
    mustBeOpen();
    pending += 1;
    try {
      return await statement();
    } catch (error) {
      failures.push(error);
      throw error;
    } finally {
      pending -= 1;
      if (pending === 0) whenIdle?.();
    }
  }

  function willChange(sql: string, values: readonly SqlValue[]): void {
    cache.willChange(sql, values);
    if (isCounting) writtenBytes += bytesOf(values);
  }

  return {
    mustBeOpen,
    writtenBytes: () => writtenBytes,
    hasChanged: () => hasChanged,
    all: (sql, values) =>
      watched(async () => {
        const { isSelect } = statementOf(sql, values);
        if (!isSelect) willChange(sql, values);
        const rows = await session.all(sql, values);
        if (!isSelect && rows.length > 0) hasChanged = true;
        return rows;
      }),
    run: (sql, values) =>
      watched(async () => {
        willChange(sql, values);
        const changed = await session.run(sql, values);
        if (changed > 0) hasChanged = true;
        return changed;
      }),
    async end() {
      isOpen = false;
      if (pending > 0) await new Promise<void>((resolve) => (whenIdle = resolve));
    },
    throwFailure() {
      if (failures.length > 0) throw failures[0] as Error;
    },
  };
}

interface Leftovers {
  readonly appended: EncodedRows;
  readonly afterCommit: (() => void)[];
}

function makeTx(
  dialect: Dialect,
  session: OpenSession,
  cache: RowCache,
  context: WriteContext,
  { appended, afterCommit }: Leftovers,
): Tx {
  const locking = dialect === "postgres" ? " FOR UPDATE" : "";

  async function lock<T extends Table>(
    table: T,
    rest: string,
    values: readonly SqlValue[] = none,
  ): Promise<RowOf<T>[]> {
    const sql = selectStatement(table, rest) + locking;
    return decodeRows(table, await session.all(sql, values));
  }

  const reader = makeReader(dialect, (sql, values) => session.all(sql, values));
  return {
    ...reader,
    context,
    isExclusive: dialect === "sqlite",
    lock,
    async lockShared<R>(sql: string, values: readonly SqlValue[]) {
      const locked = sql + sharedLock[dialect];
      return (await cache.read(locked, values, () => session.all(locked, values))) as readonly R[];
    },
    answers: (question, asked) => cache.answers(reader, question, asked),
    shared: (make) => cache.shared(make),
    lockOne: async (table, rest, values) => (await lock(table, rest, values))[0] ?? null,
    run: (sql, values = none) => session.run(sql, values),
    async insert(table, row) {
      await session.run(insertStatement(table), encodeRow(table, row));
    },
    async insertIfAbsent(table, row) {
      const added = await session.run(insertIfAbsentStatement(table), encodeRow(table, row));
      return added === 1;
    },
    async update(table, set, where, values = none) {
      const statement = updateStatement(table, set, where, values);
      return session.run(statement.sql, statement.values);
    },
    ...manyOf(dialect, session),
    append(table, row) {
      session.mustBeOpen();
      addRows(appended, table, [encodeRow(table, row)]);
    },
    hasChanged: () => appended.size > 0 || session.hasChanged(),
    afterCommit(action) {
      session.mustBeOpen();
      afterCommit.push(action);
    },
  };
}

/** The writes of many rows with one statement. */
function manyOf(
  dialect: Dialect,
  session: OpenSession,
): Pick<Tx, "insertMany" | "updateMany" | "updateManyReturning" | "upsertMany" | "deleteMany"> {
  return {
    async insertMany(table, rows) {
      const encoded = rows.map((row) => encodeRow(table, row));
      await insertRows(dialect, session, new Map([[table, encoded]]));
    },
    async updateMany(table, changes) {
      if (changes.length === 0) return 0;
      const { sql, values } = updateManyStatement(dialect, table, changes, []);
      return session.run(sql, values);
    },
    async updateManyReturning(table, returning, changes) {
      if (changes.length === 0) return [];
      const { sql, values } = updateManyStatement(dialect, table, changes, returning);
      return decodeRows(table, await session.all(sql, values));
    },
    async upsertMany(table, rows) {
      if (rows.length === 0) return;
      const { sql, values } = upsertManyStatement(dialect, table, rows);
      await session.run(sql, values);
    },
    async deleteMany(table, keys) {
      if (keys.length === 0) return [];
      const { sql, values } = deleteManyStatement(dialect, table, keys);
      return decodeRows(table, await session.all(sql, values));
    },
  };
}

/** Runs the actions that follow a commit. A failing one is only logged, because its write has succeeded. */
export function runAfterCommit(actions: readonly (() => void)[], logger: StoreLogger): void {
  for (const action of actions) {
    try {
      action();
    } catch (error) {
      logger.error({ err: error }, "an action after a commit failed");
    }
  }
}

/** Encoded rows by table, with values in the order of the table's columns. */
export type EncodedRows = Map<Table, SqlValue[][]>;

/**
 * The numbers of rows per INSERT on SQLite, besides every number up to the smallest: only these few, because every
 * number needs a prepared statement of its own, but enough for one statement per table in most commits.
 */
const sqliteRows = [64, 32, 16];
/** The maximum number of rows per INSERT on PostgreSQL, which limits the size of its single parameter. */
const postgresRows = 1_000;

/** Appends rows to those of a table. */
export function addRows(to: EncodedRows, table: Table, rows: readonly SqlValue[][]): void {
  const there = to.get(table);
  if (there === undefined) to.set(table, [...rows]);
  else there.push(...rows);
}

/** Inserts all rows with few statements, tables in the order of their declaration. */
export async function insertRows(
  dialect: Dialect,
  session: Session,
  rows: EncodedRows,
): Promise<void> {
  // A table is declared after those that it references.
  const tables = [...rows].sort(
    ([left], [right]) => declarationOrder(left) - declarationOrder(right),
  );
  if (dialect === "postgres") await insertInPostgres(session, tables);
  else for (const [table, its] of tables) await insertInSqlite(session, table, its);
}

async function insertInSqlite(
  session: Session,
  table: Table,
  rows: readonly SqlValue[][],
): Promise<void> {
  let start = 0;
  while (start < rows.length) {
    const left = rows.length - start;
    const count = sqliteRows.find((size) => size <= left) ?? left;
    const sql = insertRowsStatement(table, count);
    await session.run(sql, rows.slice(start, start + count).flat());
    start += count;
  }
}

async function insertInPostgres(
  session: Session,
  tables: readonly (readonly [Table, readonly SqlValue[][]])[],
): Promise<void> {
  const longest = Math.max(0, ...tables.map(([, rows]) => rows.length));
  for (let start = 0; start < longest; start += postgresRows) {
    const chunks = tables.flatMap(([table, rows]) => {
      const chunk = rows.slice(start, start + postgresRows);
      return chunk.length === 0 ? [] : [{ table, json: JSON.stringify(chunk) }];
    });
    const sql = insertIntoAll(chunks.map(({ table }) => table));
    await session.run(
      sql,
      chunks.map(({ json }) => json),
    );
  }
}

const texts = new Map<string, string>();

/** Combines the inserts into several tables in one statement, to save round trips. */
function insertIntoAll(tables: readonly Table[]): string {
  const key = tables.map(({ name }) => name).join();
  let sql = texts.get(key);
  if (sql === undefined) {
    const inserts = tables.map((table, index) => insertJsonStatement(table, index + 1));
    const last = inserts.pop() ?? "";
    const others = inserts.map((insert, index) => `part_${String(index)} AS (${insert})`);
    sql = others.length === 0 ? last : `WITH ${others.join(", ")} ${last}`;
    texts.set(key, sql);
  }
  return sql;
}

// Statements for many rows, which are bound as one JSON array of arrays. Their texts do not depend on the number of
// rows.

interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Returns an INSERT for PostgreSQL of any number of rows. */
function insertJsonStatement(table: Table, parameter: number): string {
  const all = shapeOf(table).columns;
  return `INSERT INTO ${table.name} (${namesOf(all)}) SELECT ${fieldsOf(all)} FROM ${givenValues("postgres", parameter)}`;
}

/** Returns an UPDATE that finds rows by their own values and sets each to its own. */
function updateManyStatement<T extends Table>(
  dialect: Dialect,
  table: T,
  changes: readonly RowChange<T>[],
  returning: readonly (keyof RowOf<T>)[],
): Statement {
  const shape = shapeOf(table);
  const [keys, set] = [columnsOf(table, changes[0]?.where), columnsOf(table, changes[0]?.set)];
  const all = [...keys, ...set];
  const rows = changes.map(({ where, set: to }) => {
    if (!hasExactly(keys, where) || !hasExactly(set, to)) {
      throw new Defect(`the changes of ${table.name} do not name the same columns`);
    }
    return [...encodeColumns(table, keys, where), ...encodeColumns(table, set, to)];
  });
  const key = `${dialect} ${namesOf(keys)} ${namesOf(set)} ${returning.join()}`;
  let sql = shape.updates.get(key);
  if (sql === undefined) {
    const fields = all.map(({ declared }, index) => givenField(declared, index, "given."));
    const found = keys.map(({ name }, index) => `${table.name}.${name} = ${fields[index] ?? ""}`);
    const sets = set.map(({ name }, index) => `${name} = ${fields[keys.length + index] ?? ""}`);
    const back = shape.columns
      .filter(({ property }) => returning.includes(property))
      .map(({ property, name }) => `${table.name}.${name} AS "${property}"`);
    sql =
      `UPDATE ${table.name} SET ${sets.join(", ")} FROM ${givenAs(dialect)} WHERE ${found.join(" AND ")}` +
      (back.length === 0 ? "" : ` RETURNING ${back.join(", ")}`);
    shape.updates.set(key, sql);
  }
  return { sql, values: [JSON.stringify(rows)] };
}

/** Returns an INSERT of rows that replaces those with the same primary key. */
function upsertManyStatement<T extends Table>(
  dialect: Dialect,
  table: T,
  rows: readonly RowOf<T>[],
): Statement {
  const all = shapeOf(table).columns;
  const isKey = ({ property }: ShapeColumn) => table.primaryKey.includes(property);
  const sets = all
    .filter((column) => !isKey(column))
    .map(({ name }) => `${name} = excluded.${name}`);
  // Without WHERE, SQLite reads ON CONFLICT as the condition of a join.
  const sql = `INSERT INTO ${table.name} (${namesOf(all)}) SELECT ${fieldsOf(all)} FROM ${givenValues(dialect, 1)}
    WHERE true ON CONFLICT (${namesOf(all.filter(isKey))}) DO UPDATE SET ${sets.join(", ")}`;
  return { sql, values: [JSON.stringify(rows.map((row) => encodeRow(table, row)))] };
}

/** Returns a DELETE of the rows that have one of some combinations of values; it returns them. */
function deleteManyStatement<T extends Table>(
  dialect: Dialect,
  table: T,
  keys: readonly Partial<RowOf<T>>[],
): Statement {
  const named = columnsOf(table, keys[0]);
  const rows = keys.map((key) => {
    if (!hasExactly(named, key)) {
      throw new Defect(`the keys of ${table.name} do not name the same columns`);
    }
    return encodeColumns(table, named, key);
  });
  const from = `DELETE FROM ${table.name}`;
  const names = named.map(({ name }) => `${table.name}.${name}`);
  const found =
    dialect === "sqlite"
      ? `WHERE (${names.join(", ")}) IN (SELECT ${fieldsOf(named)} FROM ${givenValues(dialect, 1)})`
      : `USING ${givenAs(dialect)} WHERE ${named
          .map(
            ({ declared }, index) =>
              `${names[index] ?? ""} = ${givenField(declared, index, "given.")}`,
          )
          .join(" AND ")}`;
  return {
    sql: `${from} ${found} RETURNING ${columns(table, table.name)}`,
    values: [JSON.stringify(rows)],
  };
}

function columnsOf(table: Table, given: object | undefined): readonly ShapeColumn[] {
  const properties = Object.keys(given ?? {});
  const named = shapeOf(table).columns.filter(({ property }) => properties.includes(property));
  if (named.length === 0 || named.length !== properties.length) {
    throw new Defect(`${table.name} does not have all of the columns ${properties.join(", ")}`);
  }
  return named;
}

function hasExactly(named: readonly ShapeColumn[], given: object): boolean {
  return (
    Object.keys(given).length === named.length && named.every(({ property }) => property in given)
  );
}

const givenAs = (dialect: Dialect): string =>
  `${givenValues(dialect, 1)} AS ${dialect === "sqlite" ? "given" : "given (value)"}`;

function namesOf(of: readonly ShapeColumn[]): string {
  return of.map(({ name }) => name).join(", ");
}

function fieldsOf(of: readonly ShapeColumn[]): string {
  return of.map(({ declared }, index) => givenField(declared, index)).join(", ");
}
