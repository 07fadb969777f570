import { setTimeout as delay } from "node:timers/promises";
import type { Options } from "sequelize";
import { once } from "../../../kernel/memo.ts";
import type { SqlValue } from "../schema/table.ts";
import { insertRows, runAfterCommit, runWrite } from "../write/transaction.ts";
import type { Database, RawRow, StoreLimits, StoreLogger } from "../database.ts";
import {
  busy,
  driverError,
  outcomeUnknown,
  StatementFailed,
  StoreUnavailable,
  unavailable,
} from "../errors.ts";
import type { Nesting } from "../open.ts";
import { makeReader, statementOf, type Session } from "../query/statement.ts";
import { shareReads } from "../query/shared-reads.ts";
import { makeRowCache } from "../write/row-cache.ts";
import { makeUsage } from "../write/usage.ts";
import {
  replyMilliseconds,
  ConnectionLost,
  isEnd,
  isServerError,
  readAsSqliteDoes,
  RolledBackByServer,
  sessionOf,
  storeClient,
  translate,
  type ClientOptions,
  type StoreClient,
} from "./client.ts";
import { openPrimary } from "./primary.ts";
import { parsePostgresUrl } from "./url.ts";

/** The part of the connections that writes use. Reads have the others, so that they never wait for writes. */
const writersPart = 5 / 8;
/** The maximum number of attempts after a deadlock or a serialization failure. */
const attemptLimit = 10;
/** The maximum number of attempts while connections are lost: a statement that kills the server must not do so ten times. */
const attemptsAfterLoss = 3;
const retryMilliseconds = 5;

const settings = [
  // Compiling a plan takes some 20 ms, more than a page of a list may cost altogether.
  "jit = off",
  "statement_timeout = '30s'",
  "lock_timeout = '15s'",
  // The locks of a server that is paused in a transaction, which has no other reason to be idle for as long.
  "idle_in_transaction_session_timeout = '5s'",
];

/** Opens at most `connections` connections, at least one for writes and one for reads, and one to watch the server. */
export async function openPostgres(
  location: { readonly url: string; readonly connections: number; readonly schema: string | null },
  logger: StoreLogger,
  { writeMilliseconds }: StoreLimits,
  nesting: Nesting,
): Promise<Database> {
  const { url, connections, schema } = location;
  const all = [...settings, ...(schema === null ? [] : [`search_path = ${schema}`])];
  const writerConnections = Math.max(1, Math.floor(connections * writersPart));
  const primary = await openPrimary(url, logger);
  const pulse = makePulse(() => knock(primary.url()));
  const pools = { pulse, primary, settings: all };
  const writers = await makePool({
    ...pools,
    name: "till write",
    connections: writerConnections,
    mayWrite: true,
  });
  const readers = await makePool({
    ...pools,
    name: "till read",
    connections: connections - writerConnections,
    mayWrite: false,
  });
  const usage = makeUsage();
  const read = shareReads((sql, values, begin) => repeated(() => readers.read(sql, values, begin)));

  return {
    ...makeReader("postgres", async (sql, values) => {
      nesting.refuseRead(sql);
      return usage.during(() => read(sql, values));
    }),
    async write(context, fn) {
      nesting.refuseWrite();
      const bound = nesting.bind(fn);
      const outcome = await repeated(() =>
        writers.transaction(async (session) => {
          const cache = makeRowCache();
          const transaction = { dialect: "postgres", session, cache, writeMilliseconds } as const;
          const written = await runWrite(transaction, context, bound);
          await insertRows("postgres", session, written.appended);
          return written;
        }),
      );
      runAfterCommit(outcome.afterCommit, logger);
      return outcome.result;
    },
    close: once(async () => {
      await Promise.all([writers.close(), usage.end().then(() => readers.close())]);
      pulse.stop();
      await primary.stop();
    }),
  };
}

async function repeated<T>(run: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof RolledBackByServer)) throw error;
      const isLost = error.cause instanceof StoreUnavailable;
      if (isLost && count >= attemptsAfterLoss) throw error.cause;
      if (count >= attemptLimit)
        throw busy("Too many concurrent writes changed the same rows", error);
      await delay(retryMilliseconds * count);
    }
  }
}

/**
 * Notices that the server accepts statements and answers none: a machine that is paused, or unplugged without a word.
 * Waiting statements are then given up instead of waiting for their timeout, and new ones are refused until the server
 * answers again.
 */
export interface Pulse {
  /** Waits for the answer to a statement. `giveUp` makes it fail. */
  during<T>(reply: Promise<T>, giveUp: () => void): Promise<T>;
  isSilent(): boolean;
  /** Asks the server no more. Called once nothing waits. */
  stop(): void;
}

/** Times in milliseconds. */
interface PulseLimits {
  /** After this time without any answer the server is asked for a new connection. */
  readonly quietMs: number;
  /** The time that the server has for the new connection, or for any other answer. */
  readonly probeMs: number;
  readonly checkMs: number;
  /** If the time for the probe ends later than this, this process itself was paused, and the probe proves nothing. */
  readonly lateMs: number;
}

/** Together less than the five seconds after which callers expect an answer. */
const defaultLimits: PulseLimits = { quietMs: 1_000, probeMs: 3_000, checkMs: 250, lateMs: 500 };

/**
 * @param probe opens and ends a connection; returns false if the server cannot be reached. A slow statement proves
 * nothing, because it may wait for a lock.
 */
export function makePulse(probe: () => Promise<boolean>, limits = defaultLimits): Pulse {
  const waiting = new Set<() => void>();
  let answeredAt = 0;
  let isSilent = false;
  let isProbing = false;
  let checking: NodeJS.Timeout | null = null;

  function answered(): void {
    answeredAt = performance.now();
    isSilent = false;
  }

  async function ask(): Promise<void> {
    const askedAt = performance.now();
    const timeout = delay(limits.probeMs, false, { ref: false });
    // A network that is down for a moment loses nothing, so the time is waited for.
    const probed = probe().then(
      (isReached) => isReached || timeout,
      () => true,
    );
    const isAnswered = await Promise.race([probed, timeout]);
    if (isAnswered) answered();
    const isLate = performance.now() - askedAt > limits.probeMs + limits.lateMs;
    // Answers that have arrived while this process was busy are read first.
    await new Promise(setImmediate);
    if (answeredAt >= askedAt || isLate) return;
    isSilent = true;
    for (const giveUp of waiting) giveUp();
  }

  function stop(): void {
    if (checking !== null) clearInterval(checking);
    checking = null;
  }

  function check(): void {
    if (waiting.size === 0 && !isSilent) {
      stop();
      return;
    }
    if (isProbing || performance.now() - answeredAt < limits.quietMs) return;
    isProbing = true;
    void ask().finally(() => {
      isProbing = false;
    });
  }

  return {
    isSilent: () => isSilent,
    stop,
    async during(reply, giveUp) {
      if (waiting.size === 0 && !isSilent) answeredAt = performance.now();
      checking ??= setInterval(check, limits.checkMs).unref();
      waiting.add(giveUp);
      try {
        const result = await reply;
        answered();
        return result;
      } finally {
        waiting.delete(giveUp);
      }
    },
  };
}

interface PoolOptions extends ClientOptions {
  /** The application name that the server shows for the connections. */
  readonly name: string;
  readonly connections: number;
}

/** A pool of connections. Callers are served in order of arrival. It throws the store's errors. */
interface Pool {
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

async function makePool(options: PoolOptions): Promise<Pool> {
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
      query_timeout: replyMilliseconds,
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
