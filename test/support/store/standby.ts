// A standby of PostgreSQL, which can take the place of its server, and an address that moves from one to the other.
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, connect, type AddressInfo } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { endWithThisProcess } from "../programs/guard.ts";
import { freePort } from "../programs/free-port.ts";
import { until } from "../until.ts";
import { familyOf, type PostgresServer } from "./postgres.ts";

export interface Standby {
  readonly port: number;
  /** Returns the URL of one of its databases. */
  url(database: string): string;
  /** Ends its recovery: from then on it takes writes. */
  promote(): void;
  /** Kills the server, and all of its processes, with SIGKILL. */
  killServer(): void;
  /** Starts the standby's data at the server's address, as the new server. */
  takeOver(): Promise<void>;
  /** Promotes it, after the server has ended; then starts the server again as the standby of this one. */
  exchange(): Promise<void>;
  stop(): Promise<void>;
}

/** True if the programs of this PostgreSQL can make a standby. */
export function canReplicate({ programs }: PostgresServer): boolean {
  return ["pg_basebackup", "pg_ctl"].every((name) => existsSync(join(programs, name)));
}

/**
 * Copies a running server and follows it. From then on, if it is synchronous, the server acknowledges a commit only
 * after the standby has flushed it.
 */
export async function startStandby(
  postgres: PostgresServer,
  { isSynchronous = true } = {},
): Promise<Standby> {
  const folder = mkdtempSync(join(postgres.folder, "standby-"));
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const run = (name: string, given: readonly string[]) => {
    const place = { cwd: postgres.folder, ...user, encoding: "utf8" } as const;
    const ended = spawnSync(join(postgres.programs, name), given, place);
    if (ended.status !== 0) throw new Error(`${name} failed: ${ended.stderr}`);
  };
  const data = join(folder, "data");
  if (user.uid !== undefined)
    spawnSync("chown", [`${String(user.uid)}:${String(user.gid)}`, folder]);
  const server = postgres.direct("postgres");
  run("pg_basebackup", ["-D", data, "-d", server, "-R", "-X", "stream", "-c", "fast"]);
  const port = await freePort();
  const url = (database: string) => `postgres://postgres@127.0.0.1:${String(port)}/${database}`;
  const addresses = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="];
  const child = spawn(
    join(postgres.programs, "postgres"),
    ["-D", data, "-p", String(port), "-c", "max_connections=300", ...addresses],
    { cwd: postgres.folder, ...user, stdio: "ignore" },
  );
  endWithThisProcess(child);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  if (isSynchronous) {
    await admin.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await admin.query("SELECT pg_reload_conf()");
  }
  const states = async () =>
    (
      await admin.query<{ state: string }>(
        "SELECT state || ' ' || sync_state AS state FROM pg_stat_replication",
      )
    ).rows;
  const wanted = isSynchronous ? "streaming sync" : "streaming async";
  await until("the standby's first answer", states, (rows) =>
    rows.some(({ state }) => state === wanted),
  );
  await admin.end();
  const promote = () => {
    run("pg_ctl", ["promote", "-w", "-D", data]);
  };
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGINT");
    await ended;
  };
  return {
    port,
    url,
    promote,
    stop,
    killServer() {
      for (const pid of familyOf(postgres.pid())) process.kill(pid, "SIGKILL");
    },
    async takeOver() {
      promote();
      await stop();
      renameSync(join(postgres.folder, "data"), join(postgres.folder, "lost"));
      renameSync(data, join(postgres.folder, "data"));
      await postgres.start();
      // The new server has no standby that could acknowledge its commits.
      const owner = new pg.Client({ connectionString: server });
      await owner.connect();
      await owner.query("ALTER SYSTEM RESET synchronous_standby_names");
      await owner.query("SELECT pg_reload_conf()");
      await owner.end();
    },
    async exchange() {
      await postgres.halt();
      promote();
      const former = join(postgres.folder, "data");
      writeFileSync(join(former, "standby.signal"), "");
      appendFileSync(
        join(former, "postgresql.auto.conf"),
        `\nsynchronous_standby_names = ''\nprimary_conninfo = 'host=127.0.0.1 port=${String(port)} user=postgres'\n`,
      );
      await postgres.start();
    },
  };
}

/** An address that leads to a server, and later to another one. Its open connections stay where they are. */
export interface MovingAddress {
  readonly port: number;
  moveTo(port: number): void;
  close(): Promise<void>;
}

export async function startMovingAddress(first: number): Promise<MovingAddress> {
  let target = first;
  const proxy = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    client.pipe(upstream).pipe(client);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    for (const socket of [client, upstream]) socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    moveTo(port) {
      target = port;
    },
    async close() {
      const closed = once(proxy, "close");
      proxy.close();
      await closed;
    },
  };
}
