import type { Options } from "sequelize";
import type { RawRow } from "../database.ts";
import { driverError } from "../driver-error.ts";
import { outcomeUnknown, StatementFailed, StoreUnavailable, unavailable } from "../errors.ts";
import { statementOf, type Session } from "../query/statement.ts";
import type { SqlValue } from "../schema/table.ts";
import { makeUsage } from "../write/usage.ts";
import {
  answerMilliseconds,
  sessionOf,
  storeClient,
  type ClientOptions,
  type StoreClient,
} from "./client.ts";
import { ConnectionLost, isEnd, isServerError, RolledBackByServer, translate } from "./errors.ts";
import { readAsSqliteDoes } from "./types.ts";
import { parsePostgresUrl } from "./url.ts";

export interface PoolOptions extends ClientOptions {
  /** The application name that the server shows for the connections. */
  readonly name: string;
  readonly connections: number;
}

/** A pool of connections. Callers are served in order of arrival. It throws the store's errors. */
export interface Pool {
  /** Runs a SELECT; calls `begin` just before it is sent. */
  read(sql: string, values: readonly SqlValue[], begin: () => void): Promise<RawRow[]>;
  /**
   * Runs `fn` in a transaction and commits it.
   * @throws RolledBackByServer if the server rolled back for a reason that may have gone, or lost the connection before
   *   COMMIT was sent
   */
  transaction<T>(fn: (session: Session) => Promise<T>): Promise<T>;
  /** Waits for callers and serves no more. */
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
/** The longest timeout that Node has, in milliseconds: a caller waits for its turn as long as the queue is. */
const noLimit = 2 ** 31 - 1;

/** A connection was opened while the server changed, so that it may lead to the former one. */
class Outdated extends Error {}

export async function makePool(options: PoolOptions): Promise<Pool> {
  const { BaseError, ConnectionError, QueryTypes, Sequelize } = await import("sequelize");
  const { default: driver } = await import("pg");
  const { primary, pulse, mayWrite, settings } = options;
  const open = new Set<StoreClient>();
  const usage = makeUsage(options.connections + waitingLimit);

  // The typings lack keepDefaultTimezone.
  const given: Options & { keepDefaultTimezone: boolean } = {
    dialect: "postgres",
    dialectModule: Object.create(driver, {
      Client: { value: storeClient(driver.Client, options) },
    }) as object,
    logging: false,
    // A setting of the session would stay on a connection that a pooler gives to others.
    keepDefaultTimezone: primary.isShared,
    pool: {
      max: options.connections,
      min: 0,
      idle: idleMilliseconds,
      acquire: noLimit,
      validate: (client?: unknown) => (client as StoreClient).isUsable(),
    },
    retry: { max: 1 },
    dialectOptions: {
      application_name: options.name,
      keepAlive: true,
      connectionTimeoutMillis: connectMilliseconds,
      query_timeout: answerMilliseconds,
    },
  };
  const sequelize = new Sequelize(primary.url(), given);
  sequelize.addHook("beforeConnect", (config) => {
    if (pulse.isSilent()) throw unavailable("The database does not answer", null);
    const { user, password, database, hosts } = parsePostgresUrl(primary.url());
    const [{ host, port }] = hosts;
    // For an absent part, which is null, pg takes its own default.
    Object.assign(config, { host, port, username: user, password, database });
  });
  sequelize.addHook("afterConnect", async (connection) => {
    const client = connection as StoreClient;
    try {
      if (!client.isUsable()) throw new Outdated();
      const admitted = await primary.admit(client);
      if (admitted.generation === null) throw new Outdated();
      client.generation = admitted.generation;
      open.add(client);
      client.on("end", () => open.delete(client));
      client.couldWrite = mayWrite && admitted.mayWrite;
      readAsSqliteDoes(client, driver.types.builtins);
      if (!primary.isShared) await client.query(sessionOf(settings, mayWrite));
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
  });
  primary.whenMoved(() => {
    for (const client of open) client.cut("the database moved to another server");
  });

  /** True for errors of statements, which were sent; all others come from opening a connection. */
  const isOfStatement = (error: unknown) =>
    error instanceof BaseError && !(error instanceof ConnectionError);

  /** Returns the store's error, or one after which the statements may run again because they have no effect. */
  function failed(error: unknown, sql: string): unknown {
    if (!isOfStatement(error)) return error;
    const cause = driverError(error);
    const ours = translate(cause, sql, mayWrite);
    if (!(cause instanceof ConnectionLost)) return ours;
    return new RolledBackByServer("the connection was lost", ours);
  }

  /** Opens connections for `run` until it has begun; before that, nothing of the caller's was sent. */
  async function connected<T>(run: () => Promise<T>, hasBegun: (error: unknown) => boolean) {
    for (let openings = 1; ; openings += 1) {
      if (pulse.isSilent()) throw unavailable("The database does not answer", null);
      try {
        return await run();
      } catch (error) {
        if (error instanceof StoreUnavailable || hasBegun(error)) throw error;
        const cause = error instanceof ConnectionLost ? error.cause : error;
        const isEnded = cause instanceof Outdated || (isServerError(cause) && isEnd(cause));
        if (isEnded && openings < openingsMax) continue;
        throw unavailable("The database cannot be reached", cause);
      }
    }
  }

  /** The values as Sequelize binds them. It would replace the NUL of a text, which PostgreSQL refuses. */
  function bound(sql: string, values: readonly SqlValue[]): { readonly bind?: SqlValue[] } {
    statementOf(sql, values);
    if (values.some((value) => typeof value === "string" && value.includes("\0"))) {
      throw new StatementFailed("22021", "a text contains the character U+0000", sql);
    }
    return values.length === 0 ? {} : { bind: [...values] };
  }

  async function inTransaction<T>(fn: (session: Session) => Promise<T>): Promise<T> {
    const state = {
      phase: "begin" as "begin" | "work" | "commit",
      undone: null as RolledBackByServer | null,
    };

    async function statement<R>(sql: string, run: () => Promise<R>): Promise<R> {
      try {
        return await run();
      } catch (error) {
        const ours = failed(error, sql);
        if (ours instanceof RolledBackByServer) state.undone ??= ours;
        throw ours;
      }
    }

    async function run(): Promise<T> {
      return sequelize.transaction(async (transaction) => {
        state.phase = "work";
        const result = await fn({
          all: (sql, values) =>
            statement(sql, () => {
              const type = QueryTypes.SELECT;
              return sequelize.query<RawRow>(sql, { ...bound(sql, values), type, transaction });
            }),
          run: (sql, values) =>
            statement(sql, () => {
              const type = QueryTypes.BULKUPDATE;
              return sequelize.query(sql, { ...bound(sql, values), type, transaction });
            }),
        });
        state.phase = "commit";
        return result;
      });
    }

    try {
      return await connected(run, (error) => state.phase !== "begin" || isOfStatement(error));
    } catch (error) {
      // The function of a write may have replaced the error of a statement.
      if (state.phase === "work") throw state.undone ?? error;
      if (state.phase === "begin") throw failed(error, "BEGIN");
      const cause = driverError(error);
      // A read has changed nothing, and runs again.
      if (!mayWrite && cause instanceof ConnectionLost)
        throw new RolledBackByServer(cause.message, cause);
      const ours = translate(cause, "COMMIT", mayWrite);
      throw mayWrite && ours instanceof StoreUnavailable ? outcomeUnknown(ours) : ours;
    }
  }

  async function read(sql: string, values: readonly SqlValue[], begin: () => void) {
    const options = { ...bound(sql, values), type: QueryTypes.SELECT, logging: begin } as const;
    try {
      return await connected(() => sequelize.query<RawRow>(sql, options), isOfStatement);
    } catch (error) {
      throw failed(error, sql);
    }
  }

  return {
    read: (sql, values, begin) =>
      usage.during(() => {
        if (!primary.isShared) return read(sql, values, begin);
        return inTransaction((session) => {
          begin();
          return session.all(sql, values);
        });
      }),
    transaction: (fn) => usage.during(() => inTransaction(fn)),
    async close() {
      await usage.end();
      await sequelize.close();
    },
  };
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
