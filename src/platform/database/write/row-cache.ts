import type { Question, RawRow, Reader } from "../database.ts";
import { statementOf } from "../query/statement.ts";
import type { SqlValue } from "../schema/table.ts";

/** The memory of a transaction, for the writes that share it. */
export interface RowCache {
  /** Returns the rows that an identical SELECT kept earlier; otherwise runs it. */
  read(
    sql: string,
    values: readonly SqlValue[],
    run: () => Promise<RawRow[]>,
  ): Promise<readonly RawRow[]>;
  /** Returns the answers, in order. Asks for those together that are not known. */
  answers<Q extends object, A>(
    reader: Reader,
    question: Question<Q, A>,
    asked: readonly Q[],
  ): Promise<readonly A[]>;
  /** Whether an answer is known. */
  isKnown(question: Question<object, unknown>, asked: object): boolean;
  /** Returns the transaction's own object of a kind, which `make` creates when it is first asked for. */
  shared<T extends object>(make: () => T): T;
  /** Forgets the rows and answers of the tables that a statement of this transaction changes; called before it runs. */
  willChange(sql: string, values: readonly SqlValue[]): void;
}

interface CachedRows {
  /** The names in the SELECT, those of its tables among them. */
  readonly names: ReadonlySet<string>;
  readonly rows: readonly RawRow[];
}

/** Creates the memory of one transaction. */
export function makeRowCache(): RowCache {
  const cached = new Map<string, CachedRows>();
  const answered = new Map<Question<object, unknown>, Map<object, unknown>>();
  const objects = new Map<() => object, object>();
  let changes = 0;
  return {
    async read(sql, values, run) {
      const key = `${sql}\n${JSON.stringify(values)}`;
      const known = cached.get(key);
      if (known !== undefined) return known.rows;
      const changesBefore = changes;
      const rows = await run();
      // A missing row is not locked: another transaction may insert it.
      if (rows.length > 0 && changes === changesBefore) {
        cached.set(key, { names: statementOf(sql, values).names, rows });
      }
      return rows;
    },
    async answers<Q extends object, A>(
      reader: Reader,
      question: Question<Q, A>,
      asked: readonly Q[],
    ) {
      // A change in the meantime replaces this map, so that outdated answers are not remembered.
      const known = answered.get(question) ?? new Map<object, unknown>();
      answered.set(question, known);
      const open = asked.filter((each) => !known.has(each));
      if (open.length > 0) {
        const found = await question.ask(reader, open);
        for (const [index, each] of open.entries()) known.set(each, found[index]);
      }
      return asked.map((each) => known.get(each) as A);
    },
    isKnown: (question, asked) => answered.get(question)?.has(asked) === true,
    shared<T extends object>(make: () => T) {
      const object = objects.get(make) ?? make();
      objects.set(make, object);
      return object as T;
    },
    willChange(sql, values) {
      changes += 1;
      const { changedTables } = statementOf(sql, values);
      if (changedTables.length === 0) {
        cached.clear();
        answered.clear();
      }
      for (const [key, { names }] of cached) {
        if (changedTables.some((table) => names.has(table))) cached.delete(key);
      }
      for (const question of answered.keys()) {
        if (changedTables.includes(question.table.name)) answered.delete(question);
      }
    },
  };
}
