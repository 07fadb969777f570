// Counts the statements that this process sends to its databases, and the rows that they write.
import pg from "pg";
import sqlite3 from "sqlite3";

export interface StatementCounts {
  /** Including the ones that begin and end transactions. */
  readonly statements: number;
  /** Committed transactions. */
  readonly commits: number;
  /** Rows by kind of statement. An upsert counts as inserted. */
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
  /** Inserted, updated and deleted rows by table. */
  readonly byTable: Readonly<Record<string, number>>;
}

export interface StatementCounter {
  /** Returns the counts since the last call. */
  take(): StatementCounts;
  /** Leaves out, from now on, the statements that were counted so far, but those that begin and end transactions. */
  leaveOut(): void;
  /** Counts no longer. */
  stop(): void;
}

type Kind = "inserted" | "updated" | "deleted";
type Method = (this: never, ...given: never[]) => unknown;

const kinds: Readonly<Record<string, Kind>> = {
  "INSERT INTO": "inserted",
  UPDATE: "updated",
  "DELETE FROM": "deleted",
};
/** Finds the tables that a statement changes, without the SET of an upsert. */
const changes = /\b(INSERT INTO|UPDATE|DELETE FROM)\s+(?!SET\b)"?(\w+)/g;

/** Starts counting. Only one counter may count at a time. */
export function countStatements(): StatementCounter {
  let counts = empty();
  const seen = new Set<string>();
  let leftOut: ReadonlySet<string> = new Set();

  function note(sql: string, values: unknown, rowCount: number): void {
    if (leftOut.has(sql)) return;
    if (!/^(BEGIN|COMMIT)/.test(sql)) seen.add(sql);
    counts.statements += 1;
    if (/^COMMIT;?$/.test(sql)) counts.commits += 1;
    // FOR UPDATE is not followed by a table's name.
    const found = [...sql.matchAll(changes)].filter(
      ({ index }) => !sql.slice(0, index).endsWith("FOR "),
    );
    found.forEach(([, words = "", table = ""], place) => {
      const kind = kinds[words];
      if (kind === undefined) return;
      // One statement inserts into several tables, each from a JSON list; the driver reports only the last table's rows.
      const rows = found.length === 1 ? rowCount : listedRows(values, place);
      counts[kind] += rows;
      counts.byTable[table] = (counts.byTable[table] ?? 0) + rows;
    });
  }

  const restores = [
    ...(["all", "run"] as const).map((name) =>
      wrap(sqlite3.Statement.prototype, name, (plain) => {
        return function (this: { readonly sql: string }, ...given: unknown[]) {
          const { sql } = this;
          const callback = given.at(-1);
          if (typeof callback !== "function") return plain.apply(this as never, given as never[]);
          const noted = function (this: { changes?: number }, error: unknown, rows?: unknown[]) {
            note(sql, given[0], name === "run" ? (this.changes ?? 0) : (rows?.length ?? 0));
            callback.call(this, error, rows);
          };
          return plain.apply(this as never, [...given.slice(0, -1), noted] as never[]);
        };
      }),
    ),
    wrap(pg.Client.prototype, "query", (plain) => {
      return function (this: unknown, query: { text?: string; values?: unknown } | string) {
        const sent = plain.call(this as never, query as never);
        const text = typeof query === "string" ? query : (query.text ?? "");
        const values = typeof query === "string" ? [] : query.values;
        void Promise.resolve(sent as Promise<{ rowCount?: number | null } | undefined>).then(
          (result) => {
            note(text, values, result?.rowCount ?? 0);
          },
          () => {
            note(text, values, 0);
          },
        );
        return sent;
      };
    }),
  ];

  return {
    take() {
      const taken = counts;
      counts = empty();
      return taken;
    },
    leaveOut() {
      leftOut = new Set([...leftOut, ...seen]);
      counts = empty();
    },
    stop() {
      for (const restore of restores) restore();
    },
  };
}

function empty() {
  const byTable: Record<string, number> = {};
  return { statements: 0, commits: 0, inserted: 0, updated: 0, deleted: 0, byTable };
}

function listedRows(values: unknown, place: number): number {
  const text = Array.isArray(values) ? (values[place] as unknown) : undefined;
  const rows =
    typeof text === "string" && text.startsWith("[") ? (JSON.parse(text) as unknown) : [];
  return Array.isArray(rows) ? rows.length : 0;
}

/** Replaces a method; returns the function that puts it back. */
function wrap(prototype: object, name: string, make: (plain: Method) => Method): () => void {
  const methods = prototype as Record<string, Method>;
  const plain = methods[name];
  if (plain === undefined) throw new Error(`the driver has no method ${name}`);
  methods[name] = make(plain);
  return () => {
    methods[name] = plain;
  };
}
