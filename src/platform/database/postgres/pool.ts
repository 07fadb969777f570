import type { Client } from "pg";
import { tooManyWaiting, unavailable } from "../errors.ts";
import { makeUsage } from "../write/usage.ts";
import type { Pulse } from "./pulse.ts";
import { answerMilliseconds, makeBorrowedConnection, type BorrowedConnection } from "./client.ts";
import { readAsSqliteDoes } from "./types.ts";

export interface PoolOptions {
  readonly url: string;
  /** The application name that the server shows for the connections. */
  readonly name: string;
  readonly connections: number;
  /** Whether its connections are for writes; all others are read-only. */
  readonly mayWrite: boolean;
  /** Statements that every new connection runs first. */
  readonly settings: readonly string[];
  /** Shared by all pools of a server. */
  readonly pulse: Pulse;
}

export interface Pool {
  /** Lends a connection while `fn` runs; callers are served in order of arrival. */
  use<T>(fn: (connection: BorrowedConnection) => Promise<T>): Promise<T>;
  /** Waits for borrowed connections and lends no more. */
  close(): Promise<void>;
}

/** The timeout for opening a connection, in milliseconds. */
const connectMilliseconds = 4_000;
/** How long an idle connection is kept, in milliseconds. */
const idleMilliseconds = 60_000;
/** The maximum number of callers that wait for a connection; further ones are refused at once. */
const waitingLimit = 20_000;

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
    dialectModule: Object.create(driver, { Client: { value: listening(driver.Client) } }) as object,
    logging: false,
    pool: {
      max: options.connections,
      min: 0,
      idle: idleMilliseconds,
      acquire: connectMilliseconds + 1_000,
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
    readAsSqliteDoes(client, driver.types.builtins);
    const readOnly = options.mayWrite ? [] : ["SET default_transaction_read_only = on"];
    await client.query([...options.settings, ...readOnly].join("; "));
  });
  const manager = sequelize.connectionManager as unknown as ConnectionManager;
  const gate = makeGate(options.connections);
  const usage = makeUsage();

  async function lend<T>(fn: (connection: BorrowedConnection) => Promise<T>): Promise<T> {
    await gate.enter();
    try {
      if (options.pulse.isSilent()) throw unavailable("The database does not answer", null);
      const client = await acquire(manager);
      const connection = makeBorrowedConnection(client, options.mayWrite, options.pulse);
      try {
        return await fn(connection);
      } finally {
        if (connection.isUsable()) manager.releaseConnection(client);
        else await manager.destroyConnection(client).catch(() => undefined);
      }
    } finally {
      gate.leave();
    }
  }

  return {
    use: (fn) => usage.during(() => lend(fn)),
    async close() {
      await usage.end();
      await sequelize.close();
    },
  };
}

/**
 * Returns a client class that listens for errors from the start. Sequelize attaches its listener only a moment after
 * connecting; a server that goes down in that moment would end this process. With the listener, the client's next query
 * fails instead.
 */
function listening(Plain: typeof Client): typeof Client {
  return class extends Plain {
    constructor(...options: ConstructorParameters<typeof Client>) {
      super(...options);
      this.on("error", () => undefined);
    }
  };
}

async function acquire(manager: ConnectionManager): Promise<Client> {
  try {
    return await manager.getConnection({});
  } catch (error) {
    throw unavailable("The database cannot be reached", error);
  }
}

/**
 * Opens a connection to the server and ends it. Returns false if the server cannot be reached. Any other failure proves
 * nothing against it: the server refused, or this process lacks a file or a name.
 */
export async function knock(url: string): Promise<boolean> {
  const { default: driver } = await import("pg");
  try {
    const client = new driver.Client({
      connectionString: url,
      application_name: "till pulse",
      connectionTimeoutMillis: connectMilliseconds,
    });
    client.on("error", () => undefined);
    try {
      await client.connect();
    } finally {
      await client.end();
    }
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && unreachable.has(error.code));
  }
}

const unreachable = new Set<unknown>(["EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ETIMEDOUT"]);

interface Gate {
  enter(): Promise<void>;
  leave(): void;
}

/**
 * Limits the number of concurrent callers, first come, first served. Sequelize's own pool would time out on a long
 * queue.
 */
function makeGate(places: number): Gate {
  const waiting: (() => void)[] = [];
  let free = places;
  return {
    async enter() {
      if (free > 0) {
        free -= 1;
        return;
      }
      if (waiting.length >= waitingLimit) throw tooManyWaiting();
      await new Promise<void>((resolve) => waiting.push(resolve));
    },
    leave() {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}
