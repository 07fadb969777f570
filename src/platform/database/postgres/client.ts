import { Socket } from "node:net";
import type { Client, ClientConfig, QueryResult, types } from "pg";
import { Defect } from "../../../kernel/errors.ts";
import type { RawRow } from "../database.ts";
import {
  busy,
  StatementFailed,
  unavailable,
  UniqueViolation,
  writeOutsideTransaction,
} from "../errors.ts";
import { statementOf } from "../query/statement.ts";
import type { SqlValue } from "../schema/table.ts";
import { makeSerial } from "../sqlite/serial.ts";
import { flushesCommits } from "./durability.ts";
import type { Primary } from "./primary.ts";
import type { Pulse } from "./open.ts";

/** The client-side timeout of a query, in milliseconds; the server's statement timeout is shorter. */
export const replyMilliseconds = 40_000;
/** The query timeout of migrations, in milliseconds. */
const patientMilliseconds = 24 * 3_600_000;

/** pg's typings lack the timeout of a single query. */
interface Query {
  readonly text: string;
  readonly name?: string;
  readonly values?: unknown[];
  readonly query_timeout: number;
}

/** The common options of a pool's connections. */
export interface ClientOptions {
  /** False for connections on which every transaction is read-only. */
  readonly mayWrite: boolean;
  /** Settings such as `jit = off`, for every transaction. */
  readonly settings: readonly string[];
  /** Gives up statements that a silent server does not answer. */
  readonly pulse: Pulse;
  readonly primary: Primary;
}

export type StoreClient = InstanceType<ReturnType<typeof storeClient>>;

/**
 * Returns the class of a pool's connections, which Sequelize opens and runs statements on. It runs them one after another, because
 * pg requires that, prepares them, and remembers whether the connection may be used again.
 */
export function storeClient(
  Plain: typeof Client,
  { mayWrite, settings, pulse, primary }: ClientOptions,
) {
  const { isShared } = primary;
  // Behind a pooler that gives connections to others, only transactions have settings.
  const begin = isShared ? transactionOf(settings, mayWrite) : "BEGIN";

  return class extends Plain {
    /** That of the server to which the connection leads. */
    generation = primary.generation();
    /** False if the server refused writes from the start, so that a refusal does not mean a change. */
    couldWrite = false;
    readonly #socket: Socket;
    readonly #inOrder = makeSerial();
    #isOpen = true;
    #isUsable = true;
    #timeout = replyMilliseconds;

    constructor(config: ClientConfig) {
      const socket = new Socket();
      super({ ...config, stream: () => socket });
      this.#socket = socket;
      // Sequelize listens only a moment after connecting. A server that goes down in that moment would end this process.
      this.on("error", () => {
        this.#lose();
      });
      this.on("end", () => {
        this.#isOpen = false;
      });
      Object.assign(this, { query: this.#query.bind(this) });
    }

    /** Whether the pool may lend the connection. */
    isUsable(): boolean {
      return this.#isOpen && this.#isUsable && this.generation === primary.generation();
    }

    /** Closes the connection at once. Its open and later statements fail with the reason. */
    cut(reason: string): void {
      this.#isOpen = false;
      this.#socket.destroy(new Error(reason));
    }

    /** In the forms in which Sequelize calls it: with a callback for the statements of the store. */
    #query(text: string, ...given: unknown[]): Promise<QueryResult<RawRow>> | undefined {
      const callback = given.at(-1) as ((...reply: unknown[]) => void) | undefined;
      if (callback === undefined) return this.#ask({ text });
      const values = Array.isArray(given[0]) ? (given[0] as SqlValue[]) : [];
      const isPrepared = !isShared && /^\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE)\b/i.test(text);
      const reply = this.#ask({
        text,
        values,
        ...(isPrepared ? { name: statementOf(text, values).name } : {}),
      });
      reply.then(
        (result) => {
          callback(null, result);
        },
        (error: unknown) => {
          callback(error);
        },
      );
      return undefined;
    }

    #ask(statement: Omit<Query, "query_timeout">): Promise<QueryResult<RawRow>> {
      return new Promise((resolve) => {
        this.#inOrder((done) => {
          resolve(this.#send(statement).finally(done));
        });
      });
    }

    async #send({ text, ...rest }: Omit<Query, "query_timeout">): Promise<QueryResult<RawRow>> {
      const isBegin = text === "START TRANSACTION;";
      if (isBegin) this.#timeout = replyMilliseconds;
      // The server rolls back what a lost connection leaves.
      if (text === "ROLLBACK;" && !this.#isOpen) return rolledBack;
      const statement: Query = {
        ...rest,
        text: isBegin ? begin : text,
        query_timeout: this.#timeout,
      };
      try {
        const result = await pulse.during(super.query<RawRow>(statement), () => {
          this.cut("the server does not answer");
        });
        if (text === "COMMIT;" && result.command !== "COMMIT") {
          throw new Defect("the server rolled back instead of committing");
        }
        // If the transaction lifts the server's timeout, the client lifts its own too.
        if (text.startsWith("SET LOCAL statement_timeout")) this.#timeout = patientMilliseconds;
        return result;
      } catch (error) {
        throw this.#failed(error);
      }
    }

    #failed(error: unknown): unknown {
      if (isLoss(error, this.couldWrite)) {
        this.#lose();
        return new ConnectionLost(error);
      }
      // The server may still be at work.
      if (isTimeout(error)) this.cut("the server answers too late");
      if (mayWrite && isReadOnly(error)) this.#isUsable = false;
      return error;
    }

    #lose(): void {
      this.#isOpen = false;
      primary.retire(this.generation);
      void this.end();
    }
  };
}

/** The answer to a ROLLBACK that needs no server. */
const rolledBack: QueryResult<RawRow> = {
  command: "ROLLBACK",
  rowCount: 0,
  oid: 0,
  fields: [],
  rows: [],
};

/** Returns SQL that applies settings, such as `jit = off`, to every transaction of a connection. */
export function sessionOf(settings: readonly string[], mayWrite: boolean): string {
  return [
    ...settings.map((setting) => `SET ${setting}`),
    mayWrite ? flushesCommits(false) : "SET default_transaction_read_only = on",
  ].join("; ");
}

/** Returns SQL that begins a transaction and applies settings to it alone. */
export function transactionOf(settings: readonly string[], mayWrite: boolean): string {
  return [
    mayWrite ? "BEGIN" : "BEGIN READ ONLY",
    ...settings.map((setting) => `SET LOCAL ${setting}`),
    ...(mayWrite ? [flushesCommits(true)] : []),
  ].join("; ");
}

/** Makes results equal to SQLite's: whole numbers as numbers, and selected conditions as 1 or 0. */
export function readAsSqliteDoes(client: Client, builtins: typeof types.builtins): void {
  client.setTypeParser(builtins.INT8, parseInteger);
  client.setTypeParser(builtins.BOOL, (text) => (text === "t" ? 1 : 0));
}

function parseInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Defect(`the integer ${text} is not below 2^53`);
  return value;
}

/** An error that the server reported. */
interface ServerError extends Error {
  readonly code: string;
  readonly severity: string;
  readonly constraint?: string;
  readonly table?: string;
}

/** SQLSTATE classes: connection exceptions, insufficient resources, operator intervention, system errors. */
const unavailableClasses = new Set(["08", "53", "57", "58"]);
/** SQLSTATEs of lock_timeout, statement_timeout and the two transaction timeouts. */
const busyCodes = new Set(["55P03", "57014", "25P03", "25P04"]);
const retriedCodes = new Set(["40001", "40P01"]);

export function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && "severity" in error && "code" in error;
}

/** True if the driver stopped waiting for an answer: the server may still be at work. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}

/**
 * True if the server ended the connection (SQLSTATE class 08 and 57P…, or no word at all) or does not take writes any
 * more. A transaction whose COMMIT was not sent is rolled back then.
 */
function isLoss(error: unknown, couldWrite: boolean): boolean {
  // A Defect comes from the type parsers of this program; the connection is still usable.
  if (error instanceof Defect || isTimeout(error)) return false;
  if (!isServerError(error)) return true;
  return isEnd(error) || (couldWrite && isReadOnly(error));
}

/** True if the server ended the connection with this error. */
export function isEnd({ code }: ServerError): boolean {
  return /^(?:08|57P)/.test(code);
}

/** True if the server refused a write because the transaction is read-only. */
function isReadOnly(error: unknown): boolean {
  return isServerError(error) && error.code === "25006";
}

/** The transaction was rolled back, for example because of a deadlock or a lost connection; the write may be retried. */
export class RolledBackByServer extends Error {
  override readonly name = "RolledBackByServer";

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}

/**
 * The connection broke, or its server takes no writes any more. A transaction whose COMMIT was not sent is rolled back.
 */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";

  constructor(cause: unknown) {
    super("the connection was lost", { cause });
  }
}

/**
 * Translates a driver's error into one of the store's errors.
 * @param mayWrite whether the connection is one for writes
 */
export function translate(error: unknown, sql: string, mayWrite: boolean): unknown {
  if (error instanceof Defect) return error;
  if (error instanceof ConnectionLost) return translate(error.cause, sql, mayWrite);
  if (!isServerError(error)) return unavailable("The connection to the database was lost", error);
  if (error.code === "23505") return new UniqueViolation(error.table ?? "", error.constraint ?? "");
  if (retriedCodes.has(error.code)) return new RolledBackByServer(error.message, error);
  if (isReadOnly(error)) {
    return mayWrite
      ? unavailable("The database is read-only", error)
      : writeOutsideTransaction(sql);
  }
  if (busyCodes.has(error.code)) return busy(`The database answered: ${error.message}`, error);
  if (unavailableClasses.has(error.code.slice(0, 2))) {
    return unavailable(`The database answered: ${error.message}`, error);
  }
  return new StatementFailed(error.code, error.message, sql);
}
