import { LRUCache } from "lru-cache";
import type { Database as RawConnection, Statement as Prepared } from "sqlite3";
import type { RawRow } from "../database.ts";
import { driverError } from "../errors.ts";
import { makeSerial } from "./serial.ts";
import { statementOf, type Session } from "../query/statement.ts";
import type { SqlValue } from "../schema/table.ts";

/** The maximum number of prepared statements per connection; the least recently used is dropped first. */
const preparedLimit = 500;

/** A connection to a SQLite file. Its errors are those of the driver. */
export interface Connection extends Session {
  /** Runs a statement without values, such as a pragma or COMMIT. */
  exec(sql: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens an existing file with a Sequelize instance of its own, which has exactly one connection. */
export async function connect(path: string): Promise<Connection> {
  const { QueryTypes, Sequelize } = await import("sequelize");
  const { default: driver } = await import("sqlite3");
  const sequelize = new Sequelize({
    dialect: "sqlite",
    // Sequelize calls no hook of a connection to SQLite, so its driver is the place to prepare statements.
    dialectModule: Object.create(driver, {
      Database: { value: preparing(driver.Database) },
    }) as object,
    storage: path,
    dialectOptions: { mode: driver.OPEN_READWRITE },
    logging: false,
    // The store itself waits for locks.
    retry: { max: 1 },
  });
  const bound = (values: readonly SqlValue[]) => (values.length === 0 ? {} : { bind: [...values] });

  async function all(sql: string, values: readonly SqlValue[]): Promise<RawRow[]> {
    // Of a statement that begins with INSERT INTO, Sequelize returns no rows.
    const { isSelect, sqliteText } = statementOf(sql, values);
    const text = isSelect ? sqliteText : `/* rows */ ${sqliteText}`;
    try {
      return await sequelize.query<RawRow>(text, { ...bound(values), type: QueryTypes.SELECT });
    } catch (error) {
      throw driverError(error);
    }
  }

  async function run(sql: string, values: readonly SqlValue[]): Promise<number> {
    const { isReturning, sqliteText } = statementOf(sql, values);
    if (isReturning) return (await all(sql, values)).length;
    try {
      // Of all types, only the bulk ones return the number of changed rows for every kind of statement.
      return await sequelize.query(sqliteText, { ...bound(values), type: QueryTypes.BULKUPDATE });
    } catch (error) {
      throw driverError(error);
    }
  }

  await sequelize.authenticate().catch((error: unknown) => {
    throw driverError(error);
  });
  return {
    all,
    run,
    async exec(sql) {
      try {
        await sequelize.query(sql);
      } catch (error) {
        throw driverError(error);
      }
    },
    close: () => sequelize.close(),
  };
}

type Callback = (this: unknown, ...answer: unknown[]) => void;

/**
 * Returns a class of connections that prepare each statement once and run statements in the order in which they were
 * issued: node-sqlite3 guarantees no order between two prepared statements.
 */
function preparing(Database: typeof RawConnection): typeof RawConnection {
  return class extends Database {
    readonly #prepared = new LRUCache<string, Prepared>({
      max: preparedLimit,
      dispose: (statement) => statement.finalize(),
    });
    readonly #inOrder = makeSerial();

    // `all` instead of `get`: node-sqlite3 leaves a statement that was read with `get` open, and with it its snapshot.
    override all(sql: string, ...given: unknown[]): this {
      this.#execute(sql, given, (statement, values, answered) => {
        statement.all(values, answered);
      });
      return this;
    }

    override run(sql: string, ...given: unknown[]): this {
      this.#execute(sql, given, (statement, values, answered) => {
        statement.run(values, answered);
      });
      return this;
    }

    /**
     * Sequelize calls this around each statement. It makes an error for every one, of which it reads the stack: half of
     * the time that it takes, for a stack that `driverError` leaves out.
     */
    override serialize(callback: () => void): void {
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = 0;
      try {
        callback();
      } finally {
        Error.stackTraceLimit = stackTraceLimit;
      }
    }

    override close(callback?: (error: Error | null) => void): void {
      this.#inOrder((done) => {
        this.#prepared.clear();
        super.close((error) => {
          done();
          callback?.(error);
        });
      });
    }

    /**
     * Sequelize gives values by `$1`, `$2`, … and a callback, or nothing for a pragma of its own. They are bound in their
     * order: by name it takes longer than everything else that Sequelize does.
     */
    #execute(
      sql: string,
      [values = {}, callback]: readonly unknown[],
      start: (statement: Prepared, values: unknown[], answered: Callback) => void,
    ): void {
      this.#inOrder((done) => {
        this.#prepare(sql, (error, statement) => {
          const answered: Callback = function (this: unknown, ...answer) {
            done();
            if (typeof callback === "function") Reflect.apply(callback, this, answer);
          };
          if (error === null) start(statement, Object.values(values as object), answered);
          else answered.call(statement, error);
        });
      });
    }

    #prepare(sql: string, callback: (error: Error | null, statement: Prepared) => void): void {
      const known = this.#prepared.get(sql);
      if (known !== undefined) {
        callback(null, known);
        return;
      }
      const statement = this.prepare(sql, (error: Error | null) => {
        if (error !== null) this.#prepared.delete(sql);
        callback(error, statement);
      });
      this.#prepared.set(sql, statement);
    }
  };
}
