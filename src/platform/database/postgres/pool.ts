import type { Client } from "pg";
import { tooManyWaiting, unavailable } from "../errors.ts";
import { makeUsage } from "../usage.ts";
import { answerMilliseconds, makeLent, type Lent } from "./client.ts";
import { readAsSqliteDoes } from "./types.ts";

export interface PoolOptions {
  readonly url: string;
  /** What the server calls the connections. */
  readonly name: string;
  readonly connections: number;
  /** Statements that every new connection runs first. */
  readonly settings: readonly string[];
}

export interface Pool {
  /** Lends a connection while `fn` runs; callers take turns. */
  use<T>(fn: (connection: Lent) => Promise<T>): Promise<T>;
  /** Waits for those who have a connection, and lends no more. */
  close(): Promise<void>;
}

/** How long it may take to open a connection. */
const connectMilliseconds = 4_000;
/** How long an unused connection is kept. */
const idleMilliseconds = 60_000;
/** Callers that may wait for a connection; more are refused at once. */
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
    await client.query(options.settings.join("; "));
  });
  const manager = sequelize.connectionManager as unknown as ConnectionManager;
  const gate = makeGate(options.connections);
  const usage = makeUsage();

  async function lend<T>(fn: (connection: Lent) => Promise<T>): Promise<T> {
    await gate.enter();
    try {
      const client = await acquire(manager);
      const lent = makeLent(client);
      try {
        return await fn(lent);
      } finally {
        if (lent.isUsable()) manager.releaseConnection(client);
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
 * Sequelize listens to a client for errors only a moment after it is connected. A server that goes down in that moment
 * would end this process; so that the client's next query fails instead, somebody listens from the start.
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

interface Gate {
  enter(): Promise<void>;
  leave(): void;
}

/** Lets as many in as there are places, in the order they came: Sequelize's pool would give up on a long queue. */
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
