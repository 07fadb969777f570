import { Defect } from "../../../kernel/errors.ts";
import { addRows, insertRows, type EncodedRows } from "./bulk-insert.ts";
import type { Dialect, Tx, WriteContext, Written } from "../database.ts";
import type { KeptRows } from "./kept-rows.ts";
import { sharedLock } from "./locks.ts";
import { makeReader } from "../query/reader.ts";
import {
  deleteManyStatement,
  updateManyStatement,
  upsertManyStatement,
} from "../schema/many-rows.ts";
import {
  decodeRows,
  encodeRow,
  insertIfAbsentStatement,
  insertStatement,
  selectStatement,
  updateStatement,
} from "../schema/statements.ts";
import { statementOf, type Session } from "../query/statement.ts";
import type { RowOf, SqlValue, Table } from "../schema/table.ts";

/** The result of a write, and the work that its commit completes. */
export interface WriteResult<T> {
  readonly result: T;
  readonly appended: EncodedRows;
  readonly afterCommit: readonly (() => void)[];
}

/** The open transaction of a write. */
export interface Place {
  readonly dialect: Dialect;
  readonly session: Session;
  /** The rows that the transaction keeps; the writes that share it share them. */
  readonly kept: KeptRows;
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
  { dialect, session, kept, writeMilliseconds }: Place,
  context: WriteContext,
  fn: (tx: Tx) => Promise<T>,
): Promise<WriteResult<T>> {
  const open = openSession(session, kept, context.spend !== undefined);
  const leftovers = { appended: new Map(), afterCommit: [] };
  const tx = makeTx(dialect, open, kept, context, leftovers);
  try {
    const result = await inTime(context.writeMilliseconds ?? writeMilliseconds, async () => {
      const given = await fn(tx);
      await context.finish?.(tx, given);
      await context.spend?.(tx, writtenBy(open.writtenBytes(), leftovers.appended));
      return given;
    });
    await open.end();
    open.throwFailure();
    return { result, ...leftovers };
  } finally {
    await open.end();
  }
}

async function inTime<T>(milliseconds: number, fn: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Defect(`a write took longer than ${String(milliseconds)} ms`));
    }, milliseconds);
  });
  try {
    return await Promise.race([fn(), tooLate]);
  } finally {
    clearTimeout(timer);
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

function openSession(session: Session, kept: KeptRows, isCounting: boolean): OpenSession {
  let isOpen = true;
  let writtenBytes = 0;
  let pending = 0;
  let hasChanged = false;
  let settled: (() => void) | undefined;
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
      if (pending === 0) settled?.();
    }
  }

  function willChange(sql: string, values: readonly SqlValue[]): void {
    kept.willChange(sql, values);
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
      if (pending > 0) await new Promise<void>((resolve) => (settled = resolve));
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
  kept: KeptRows,
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
    async keep<R>(sql: string, values: readonly SqlValue[]) {
      const locked = sql + sharedLock[dialect];
      return (await kept.read(locked, values, () => session.all(locked, values))) as readonly R[];
    },
    answers: (question, asked) => kept.answers(reader, question, asked),
    shared: (make) => kept.shared(make),
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
