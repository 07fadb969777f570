import type { Database as RawConnection, RunResult, Statement as Prepared } from "sqlite3";
import type { RawRow } from "../database.ts";
import { makeSerial } from "./serial.ts";
import { statementOf, type Session } from "../query/statement.ts";
import type { SqlValue } from "../schema/table.ts";

/** The maximum number of prepared statements per connection; the least recently used is dropped first. */
const preparedLimit = 500;

export interface Connection extends Session {
  /** Runs a statement without values, such as a pragma or COMMIT; it is prepared like any other. */
  exec(sql: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Wraps a connection that Sequelize opened. Each statement is prepared once, and statements run in the order in which
 * they were issued: node-sqlite3 guarantees no order between two prepared statements. Errors are those of the driver.
 */
export function makeConnection(raw: RawConnection): Connection {
  const statements = makeStatements(raw);
  const inOrder = makeSerial();

  function execute<T>(
    sql: string,
    start: (statement: Prepared, finish: (error: Error | null, value: T) => void) => void,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      inOrder((done) => {
        statements.use(sql, (prepareError, statement) => {
          if (prepareError !== null) {
            done();
            reject(prepareError);
            return;
          }
          start(statement, (error, value) => {
            done();
            if (error === null) resolve(value);
            else reject(error);
          });
        });
      });
    });
  }

  // `all` instead of `get`: node-sqlite3 leaves a statement that was read with `get` open, and with it its snapshot.
  const rows = (sql: string, values: readonly SqlValue[]): Promise<RawRow[]> =>
    execute(sql, (statement, finish) => {
      statement.all(values, (error: Error | null, found: RawRow[]) => {
        finish(error, found);
      });
    });

  const changes = (sql: string, values: readonly SqlValue[]): Promise<number> =>
    execute(sql, (statement, finish) => {
      statement.run(values, function (this: RunResult, error: Error | null) {
        finish(error, this.changes);
      });
    });

  return {
    all: (sql, values) => rows(statementOf(sql, values).sqliteSql, values),
    run: async (sql, values) => {
      const statement = statementOf(sql, values);
      if (statement.isReturning) return (await rows(statement.sqliteSql, values)).length;
      return changes(statement.sqliteSql, values);
    },
    exec: async (sql) => {
      await rows(sql, []);
    },
    close: () =>
      new Promise((resolve, reject) => {
        inOrder((done) => {
          statements.end();
          raw.close((error) => {
            done();
            if (error === null) resolve();
            else reject(error);
          });
        });
      }),
  };
}

/** The prepared statements of a connection; the least recently used come first. */
function makeStatements(raw: RawConnection) {
  const prepared = new Map<string, Prepared>();

  function keep(sql: string, statement: Prepared): void {
    prepared.set(sql, statement);
    if (prepared.size <= preparedLimit) return;
    for (const [oldest, unused] of prepared) {
      prepared.delete(oldest);
      unused.finalize();
      return;
    }
  }

  return {
    /** Calls back with the prepared statement, or with the error of its preparation. */
    use(sql: string, callback: (error: Error | null, statement: Prepared) => void): void {
      const known = prepared.get(sql);
      if (known !== undefined) {
        prepared.delete(sql);
        prepared.set(sql, known);
        callback(null, known);
        return;
      }
      const statement = raw.prepare(sql, (error: Error | null) => {
        if (error === null) keep(sql, statement);
        callback(error, statement);
      });
    },
    end(): void {
      for (const statement of prepared.values()) statement.finalize();
      prepared.clear();
    },
  };
}
