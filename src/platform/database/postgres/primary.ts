import { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { within } from "../../../kernel/clock.ts";
import { once } from "../../../kernel/memo.ts";
import type { StoreLogger } from "../database.ts";
import { StoreUnavailable, unavailable } from "../errors.ts";
import { nameOfPostgres, urlsOfHosts } from "./url.ts";

/** A server's answer about itself. */
interface Sighting {
  /** Whether it replays the changes of another server, so that it takes none and its rows may be outdated. */
  readonly isInRecovery: boolean;
  /** Whether a transaction of the connection may write. */
  readonly isReadOnly: boolean;
  /** The time of its start in seconds, as text: another one for each server, and after a restart. */
  readonly startedAt: string;
  /** The process that answered. */
  readonly backend: number;
}

/**
 * The server that takes the store's writes. Its address may lead to another one later, while connections to the former
 * one stay open and answer. Connections have the number of a generation, which is raised when the server changes or a
 * connection breaks; those of an earlier generation must not be used.
 */
export interface Primary {
  /** The address of the server, of several hosts that of the one that was found last. */
  url(): string;
  /** Whether a pooler gives connections of the server to others between two transactions. */
  readonly isShared: boolean;
  generation(): number;
  /** Raises the generation after a connection broke or was refused writes, unless it was of an earlier generation. */
  retire(generation: number): void;
  /**
   * Asks the server of a connection who it is, and raises the generation if it is another one than before. Returns the
   * generation of the connection, which is null if the server changed meanwhile, and whether it may write.
   * @throws StoreUnavailable if the server is in recovery
   */
  admit(
    client: Client,
  ): Promise<{ readonly generation: number | null; readonly mayWrite: boolean }>;
  /** Calls `cut` whenever the server has changed, also in the middle of statements. */
  whenMoved(cut: () => void): void;
  /** Ends the connection on which the server is asked. */
  stop(): Promise<void>;
}

/** Times in milliseconds. */
interface PrimaryLimits {
  /** The time between two questions to the server. */
  readonly askMs: number;
  /** The time for a connection, and for a reply, while another server may have taken the place of a dead one. */
  readonly replyMs: number;
  /** The time for the first connection to each host. */
  readonly connectMs: number;
}

const defaultLimits: PrimaryLimits = { askMs: 1_000, replyMs: 1_000, connectMs: 4_000 };
/**
 * After so many questions the connection is replaced, because a new one goes where the address leads at that time. Every
 * connection costs the server a process and, with log_connections, a line in its log.
 */
const questionsPerConnection = 3;
/** The rounds in which the processes behind two connections are compared. */
const comparisons = 5;
/** The time for the end of a connection, in milliseconds. */
const goodbyeMs = 1_000;

const question = `SELECT CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END AS recovering,
  CASE WHEN current_setting('transaction_read_only') = 'on' THEN 1 ELSE 0 END AS limited,
  CAST(EXTRACT(EPOCH FROM pg_postmaster_start_time()) AS text) AS started, pg_backend_pid() AS backend`;

async function ask(client: Client): Promise<Sighting> {
  const { rows } = await client.query<Record<string, unknown>>(question);
  const [{ recovering, limited, started, backend } = {}] = rows;
  return {
    isInRecovery: Number(recovering) === 1,
    isReadOnly: Number(limited) === 1,
    startedAt: String(started),
    backend: Number(backend),
  };
}

interface Reached {
  readonly client: Client;
  /** The index of its host in the address. */
  readonly index: number;
  readonly sighting: Sighting;
  /** Whether a pooler answers in the server's place: it gives its clients other numbers of processes. */
  readonly isPooled: boolean;
}

/** How to connect outside of the pools. */
interface Reach {
  /** The application name that the server shows. */
  readonly name: string;
  /** The time for the connection, in milliseconds. */
  readonly connectMs: number;
  /** The time for each answer, in milliseconds. */
  readonly replyMs?: number;
  /** The index of the host that is tried first. */
  readonly index?: number;
}

/**
 * Connects to the server of an address. Of several hosts, takes the first that is not in recovery; a single one may be
 * in recovery.
 * @throws Error of the driver, or one that names the hosts if none of several takes writes
 */
export async function reach(url: string, how: Reach): Promise<Reached> {
  const urls = urlsOfHosts(url);
  const { index = 0 } = how;
  if (urls.length === 1) return reachHost(urls[0], 0, how);
  const current = await reachHost(urls[index] ?? urls[0], index, how).catch(() => null);
  if (current?.sighting.isInRecovery === false) return current;
  if (current !== null) drop(current.client);
  // At the same time, because each host that is down takes the whole time.
  const found = await Promise.allSettled(
    urls.map((one, at) =>
      at === index ? Promise.reject(new Error("was tried")) : reachHost(one, at, how),
    ),
  );
  const reached = found.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const first = reached.find(({ sighting }) => !sighting.isInRecovery);
  for (const other of reached) if (other !== first) drop(other.client);
  if (first !== undefined) return first;
  throw new Error(`no host of ${nameOfPostgres(url)} can be reached and takes writes`);
}

/** The sockets of the connections, which have to be closed even if the server answers no more. */
const sockets = new WeakMap<Client, Socket>();

async function reachHost(url: string, index: number, how: Reach): Promise<Reached> {
  const { default: driver } = await import("pg");
  const socket = new Socket();
  const client = new driver.Client({
    connectionString: url,
    stream: () => socket,
    application_name: how.name,
    connectionTimeoutMillis: how.connectMs,
    ...(how.replyMs === undefined ? {} : { query_timeout: how.replyMs }),
    keepAlive: true,
  });
  sockets.set(client, socket);
  // Without a listener, the error of an idle connection would end the process.
  client.on("error", () => undefined);
  try {
    await client.connect();
    const sighting = await ask(client);
    // pg's typings lack the number of the process.
    const processId = "processID" in client ? client.processID : null;
    return { client, index, sighting, isPooled: sighting.backend !== processId };
  } catch (error) {
    drop(client);
    throw error;
  }
}

/**
 * Connects to the primary and asks it once a second, on a connection of its own, whether it still is that.
 * @throws StoreUnavailable if no host of the address can be reached
 */
export async function openPrimary(
  url: string,
  logger: StoreLogger,
  limits = defaultLimits,
): Promise<Primary> {
  const urls = urlsOfHosts(url);
  const ending = new AbortController();
  const cuts: (() => void)[] = [];
  let index = 0;
  let generation = 1;
  /** The start of the server in use; null while it is in recovery. */
  let known: string | null = null;
  let pooled: { readonly client: Client; questions: number } | null = null;

  function raise(): void {
    generation += 1;
  }

  function see({ isInRecovery, startedAt }: Sighting): void {
    const now = isInRecovery ? null : startedAt;
    if (now === known) return;
    known = now;
    raise();
    logger.warn(
      { server: nameOfPostgres(urls[index] ?? url), isInRecovery },
      isInRecovery
        ? "the database server takes no writes any more: its connections are closed"
        : "another database server takes the writes: connections to the former one are closed",
    );
    for (const cut of cuts) cut();
  }

  async function connect(connectMs: number): Promise<Reached> {
    if (pooled !== null) drop(pooled.client);
    pooled = null;
    const { replyMs } = limits;
    const reached = await reach(url, { name: "till probe", connectMs, replyMs, index });
    index = reached.index;
    pooled = { client: reached.client, questions: 1 };
    return reached;
  }

  async function inspect(): Promise<Sighting> {
    if (pooled !== null && pooled.questions < questionsPerConnection) {
      pooled.questions += 1;
      const sighting = await ask(pooled.client).catch(() => null);
      // In recovery, it may no longer be where the address leads.
      if (sighting?.isInRecovery === false) return sighting;
    }
    return (await connect(limits.replyMs)).sighting;
  }

  async function watch(): Promise<void> {
    while (!ending.signal.aborted) {
      await delay(limits.askMs, null, { ref: false, signal: ending.signal });
      const asked = generation;
      // A server that cannot be reached is for the pools to notice: it changes no other connection.
      const sighting = await inspect().catch(() => null);
      // An answer from before a change proves nothing about the time after it.
      if (sighting !== null && asked === generation) see(sighting);
    }
  }

  async function start(): Promise<boolean> {
    const { sighting, client, isPooled } = await connect(limits.connectMs);
    known = sighting.isInRecovery ? null : sighting.startedAt;
    if (!isPooled || !(await isGivenToOthers(client, urls[index] ?? urls[0], limits))) return false;
    logger.warn(
      { server: nameOfPostgres(url) },
      "a connection pooler in transaction mode (PgBouncer or the like) is in front of PostgreSQL: Till works, but prepares " +
        "no statements, and each read takes three. Set pool_mode = session for Till's database, or let DATABASE_URL lead to " +
        "PostgreSQL itself",
    );
    return true;
  }
  const isShared = await start().catch((error: unknown) => {
    if (pooled !== null) drop(pooled.client);
    throw error instanceof StoreUnavailable
      ? error
      : unavailable("The database cannot be reached", error);
  });
  const watching = watch().catch(() => undefined);
  return {
    url: () => urls[index] ?? urls[0],
    isShared,
    generation: () => generation,
    retire(of) {
      if (of === generation) raise();
    },
    async admit(client) {
      const asked = generation;
      const sighting = await ask(client);
      const isOfNow = asked === generation;
      if (isOfNow) see(sighting);
      if (!sighting.isInRecovery) {
        return { generation: isOfNow ? generation : null, mayWrite: !sighting.isReadOnly };
      }
      throw unavailable(
        "The database server is in recovery, so that it takes no writes and its rows may be outdated: DATABASE_URL must lead to the primary",
        null,
      );
    },
    whenMoved(cut) {
      cuts.push(cut);
    },
    stop: once(async () => {
      ending.abort();
      await watching;
      if (pooled !== null) await end(pooled.client);
    }),
  };
}

/**
 * Whether a pooler gives a connection of the server to another client while the first one keeps its own: then nothing
 * that is set for a session stays with it, and others get it.
 */
async function isGivenToOthers(
  client: Client,
  url: string,
  { connectMs, replyMs }: PrimaryLimits,
): Promise<boolean> {
  const other = await reachHost(url, 0, { name: "till probe", connectMs, replyMs });
  try {
    await other.client.query("BEGIN");
    await other.client.query("COMMIT");
  } catch (error) {
    drop(other.client);
    throw unavailable(
      "The connection pooler in front of PostgreSQL (PgBouncer or the like) allows no transactions: set pool_mode = session, or transaction, for Till's database, or let DATABASE_URL lead to PostgreSQL itself",
      error,
    );
  }
  try {
    const own = new Set<number>();
    const others = new Set<number>();
    for (let round = 0; round < comparisons; round += 1) {
      own.add((await ask(client)).backend);
      others.add((await ask(other.client)).backend);
    }
    return own.size > 1 || others.size > 1 || [...others].every((one) => own.has(one));
  } finally {
    drop(other.client);
  }
}

/** Ends a connection; one whose server does not answer is cut. */
async function end(client: Client): Promise<void> {
  const ended = client.end().catch(() => undefined);
  await within(goodbyeMs, ended, () => {
    sockets.get(client)?.destroy(new Error("the server does not answer"));
    return ended;
  });
}

function drop(client: Client): void {
  void end(client);
}
