import { createHash } from "node:crypto";
import type { Client } from "pg";
import type { RawRow } from "../database.ts";
import { makeSerial } from "../serial.ts";
import { statementOf, type Session } from "../statement.ts";
import type { SqlValue } from "../table.ts";
import { isServerError, storeUnavailable, translate } from "./errors.ts";

export interface PoolOptions {
  readonly url: string;
  readonly name: string;
  readonly connections: number;
  /** Statements that every new connection runs first. */
  readonly settings: readonly string[];
}

/** A connection lent by the pool. Its errors are ours. */
export interface Lent extends Session {
  /** A statement without values, such as COMMIT; gives the server's word for what it did. */
  exec(sql: string): Promise<string>;
}

export interface Pool {
  use<T>(fn: (connection: Lent) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** How long it may take to open a connection. */
const connectMilliseconds = 4_000;
/** How long an unused connection is kept. */
const idleMilliseconds = 60_000;
/** A server that does not answer at all is given up after this; its own statement timeout is shorter. */
const answerMilliseconds = 40_000;
/** Callers waiting for a connection, at most; more than this is refused at once. */
const waitingLimit = 20_000;

const integerTypes = { int8: 20, bool: 16 };

/** The part of Sequelize's connection manager that hands out pg's clients. */
interface ConnectionManager {
  getConnection(options: object): Promise<Client>;
  releaseConnection(client: Client): void;
  destroyConnection(client: Client): Promise<void>;
}

export async function makePool(options: PoolOptions): Promise<Pool> {
  const { Sequelize } = await import("sequelize");
  const { default: driver } = await import("pg");
  const sequelize = new Sequelize(options.url, {
    dialect: "postgres",
    dialectModule: driver,
    logging: false,
    pool: {
      max: options.connections,
      min: 0,
      idle: idleMilliseconds,
      acquire: 2 * connectMilliseconds,
    },
    dialectOptions: {
      application_name: options.name,
      keepAlive: true,
      connectionTimeoutMillis: connectMilliseconds,
      query_timeout: answerMilliseconds,
    },
  });
  sequelize.addHook("afterConnect", async (connection) => {
    const client = connection as Client;
    client.setTypeParser(integerTypes.int8, parseInteger);
    // As SQLite answers, so that a condition that is selected reads the same on both.
    client.setTypeParser(integerTypes.bool, (text: string) => (text === "t" ? 1 : 0));
    await client.query(options.settings.join("; "));
  });
  const manager = sequelize.connectionManager as unknown as ConnectionManager;
  const gate = makeGate(options.connections);

  return {
    async use(fn) {
      await gate.enter();
      try {
        const client = await acquire(manager);
        const connection = makeLent(client);
        try {
          return await fn(connection);
        } finally {
          if (connection.isUsable()) manager.releaseConnection(client);
          else await manager.destroyConnection(client).catch(() => undefined);
        }
      } finally {
        gate.leave();
      }
    },
    close: () => sequelize.close(),
  };
}

async function acquire(manager: ConnectionManager): Promise<Client> {
  try {
    return await manager.getConnection({});
  } catch (error) {
    throw storeUnavailable("The database cannot be reached", error);
  }
}

function makeLent(client: Client): Lent & { isUsable(): boolean } {
  const inOrder = makeSerial();
  let isUsable = true;

  function query(text: string, name: string | null, values: readonly SqlValue[]) {
    return new Promise<{ rows: RawRow[]; rowCount: number | null; command: string }>(
      (resolve, reject) => {
        inOrder((done) => {
          const statement = name === null ? { text } : { name, text, values: [...values] };
          client.query<RawRow>(statement).then(
            (result) => {
              done();
              resolve(result);
            },
            (error: unknown) => {
              done();
              if (!isServerError(error) || error.code.startsWith("57P")) isUsable = false;
              reject(translate(error, text) as Error);
            },
          );
        });
      },
    );
  }

  return {
    isUsable: () => isUsable,
    async all(sql, values) {
      statementOf(sql, values);
      return (await query(sql, nameOf(sql), values)).rows;
    },
    async run(sql, values) {
      statementOf(sql, values);
      return (await query(sql, nameOf(sql), values)).rowCount ?? 0;
    },
    exec: async (sql) => (await query(sql, null, [])).command,
  };
}

const names = new Map<string, string>();
const nameLimit = 4_000;

/** The name that a text is prepared under on every connection. */
function nameOf(sql: string): string {
  let name = names.get(sql);
  if (name === undefined) {
    name = createHash("sha256").update(sql).digest("hex").slice(0, 32);
    if (names.size >= nameLimit) names.clear();
    names.set(sql, name);
  }
  return name;
}

function parseInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`the stored integer ${text} is not below 2^53`);
  return value;
}

/** Lets as many in as there are connections, in the order they came: Sequelize's pool would give up on long queues. */
function makeGate(places: number): { enter(): Promise<void>; leave(): void } {
  const waiting: (() => void)[] = [];
  let free = places;
  return {
    async enter() {
      if (free > 0) {
        free -= 1;
        return;
      }
      if (waiting.length >= waitingLimit)
        throw storeUnavailable("Too many requests wait for the database", null);
      await new Promise<void>((resolve) => waiting.push(resolve));
    },
    leave() {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}
