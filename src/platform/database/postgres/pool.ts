import type { Client } from "pg";
import type { Options } from "sequelize";
import { StoreUnavailable, tooManyWaiting, unavailable } from "../errors.ts";
import { makeUsage } from "../write/usage.ts";
import type { Pulse } from "./pulse.ts";
import {
  answerMilliseconds,
  makeBorrowedConnection,
  sessionOf,
  type BorrowedConnection,
} from "./client.ts";
import { isEnd, isServerError } from "./errors.ts";
import { cutConnection, type Primary } from "./primary.ts";
import { readAsSqliteDoes } from "./types.ts";
import { parsePostgresUrl } from "./url.ts";

export interface PoolOptions {
  /** The application name that the server shows for the connections. */
  readonly name: string;
  readonly connections: number;
  /** Whether its connections are for writes; all others are read-only. */
  readonly mayWrite: boolean;
  /** Settings such as `jit = off`, for every transaction. Behind a shared pooler the caller applies them to each. */
  readonly settings: readonly string[];
  /** Shared by all pools of a server. */
  readonly pulse: Pulse;
  /** The server of all pools. */
  readonly primary: Primary;
}

export interface Pool {
  /** Lends a connection while `fn` runs; callers are served in order of arrival. */
  use<T>(fn: (connection: BorrowedConnection) => Promise<T>): Promise<T>;
  /** Waits for borrowed connections and lends no more. */
  close(): Promise<void>;
}

/** The timeout for opening a connection, in milliseconds. */
const connectMilliseconds = 4_000;
/** How often a connection is opened for a caller while the server changes. */
const openingsMax = 3;
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
  const { primary, pulse, mayWrite, settings } = options;
  /** The generation of each connection. */
  const generations = new WeakMap<Client, number>();
  /** The connections that could write when they were opened. */
  const writable = new WeakSet<Client>();
  const borrowed = new Set<Client>();
  const isCurrent = (client: Client) => generations.get(client) === primary.generation();

  /**
   * Listens for errors from the start. Sequelize attaches its listener only a moment after connecting; a server that
   * goes down in that moment would end this process. With the listener, the client's next query fails instead.
   */
  class ListeningClient extends driver.Client {
    constructor(...given: ConstructorParameters<typeof Client>) {
      super(...given);
      const generation = primary.generation();
      generations.set(this, generation);
      this.on("error", () => {
        primary.retire(generations.get(this) ?? generation);
      });
    }
  }

  // The typings lack keepDefaultTimezone.
  const given: Options & { keepDefaultTimezone: boolean } = {
    dialect: "postgres",
    dialectModule: Object.create(driver, { Client: { value: ListeningClient } }) as object,
    logging: false,
    // A setting of the session would stay on a connection that a pooler gives to others.
    keepDefaultTimezone: primary.isShared,
    pool: {
      max: options.connections,
      min: 0,
      idle: idleMilliseconds,
      acquire: connectMilliseconds + 1_000,
      validate: (client?: unknown) => isOpen(client as Client) && isCurrent(client as Client),
    },
    dialectOptions: {
      application_name: options.name,
      keepAlive: true,
      connectionTimeoutMillis: connectMilliseconds,
      query_timeout: answerMilliseconds,
    },
  };
  const sequelize = new Sequelize(primary.url(), given);
  sequelize.addHook("beforeConnect", (config) => {
    const { user, password, database, hosts } = parsePostgresUrl(primary.url());
    const [{ host, port }] = hosts;
    // An absent part stays pg's own default.
    const given = { host, port, username: user, password, database };
    Object.assign(
      config,
      Object.fromEntries(Object.entries(given).filter(([, to]) => to !== null)),
    );
  });
  sequelize.addHook("afterConnect", async (connection) => {
    const client = connection as Client;
    try {
      if (!isCurrent(client)) throw new Outdated();
      const admitted = await primary.admit(client);
      if (admitted.generation === null) throw new Outdated();
      generations.set(client, admitted.generation);
      if (admitted.mayWrite) writable.add(client);
      readAsSqliteDoes(client, driver.types.builtins);
      if (!primary.isShared) await client.query(sessionOf(settings, mayWrite));
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
  });
  primary.whenMoved(() => {
    for (const client of borrowed) cutConnection(client, "the database moved to another server");
  });
  const manager = sequelize.connectionManager as unknown as ConnectionManager;
  const gate = makeGate(options.connections);
  const usage = makeUsage();

  async function acquire(): Promise<Client> {
    for (let openings = 1; ; openings += 1) {
      try {
        return await manager.getConnection({});
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        // Nothing of the caller's was sent yet.
        const isEnded = error instanceof Outdated || (isServerError(error) && isEnd(error));
        if (isEnded && openings < openingsMax) continue;
        throw unavailable("The database cannot be reached", error);
      }
    }
  }

  async function lend<T>(fn: (connection: BorrowedConnection) => Promise<T>): Promise<T> {
    await gate.enter();
    try {
      if (pulse.isSilent()) throw unavailable("The database does not answer", null);
      const client = await acquire();
      borrowed.add(client);
      const connection = makeBorrowedConnection(client, {
        mayWrite,
        couldWrite: mayWrite && writable.has(client),
        pulse,
        isShared: primary.isShared,
        onLost() {
          primary.retire(generations.get(client) ?? 0);
        },
      });
      try {
        return await fn(connection);
      } finally {
        borrowed.delete(client);
        if (connection.isUsable() && isCurrent(client)) manager.releaseConnection(client);
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

/** A connection was opened while the server changed, so that it may lead to the former one. */
class Outdated extends Error {}

/** Sequelize's own check, which a pool with a check of its own replaces. */
function isOpen(client: Client): boolean {
  const { _invalid, _ending } = client as unknown as Record<"_invalid" | "_ending", unknown>;
  return _invalid !== true && _ending !== true;
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
