import { Socket } from "node:net";
import type { Client, ClientConfig, QueryResult } from "pg";
import { Defect } from "../../../kernel/errors.ts";
import type { RawRow } from "../database.ts";
import { statementOf } from "../query/statement.ts";
import type { SqlValue } from "../schema/table.ts";
import { makeSerial } from "../sqlite/serial.ts";
import { flushesCommits } from "./durability.ts";
import { ConnectionLost, isLoss, isReadOnly, isTimeout } from "./errors.ts";
import type { Primary } from "./primary.ts";
import type { Pulse } from "./pulse.ts";

/** The client-side timeout of a query, in milliseconds; the server's statement timeout is shorter. */
export const answerMilliseconds = 40_000;
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
    #timeout = answerMilliseconds;

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
      const callback = given.at(-1) as ((...answer: unknown[]) => void) | undefined;
      if (callback === undefined) return this.#ask({ text });
      const values = Array.isArray(given[0]) ? (given[0] as SqlValue[]) : [];
      const isPrepared = !isShared && /^\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE)\b/i.test(text);
      const answer = this.#ask({
        text,
        values,
        ...(isPrepared ? { name: statementOf(text, values).name } : {}),
      });
      answer.then(
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
      if (isBegin) this.#timeout = answerMilliseconds;
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
