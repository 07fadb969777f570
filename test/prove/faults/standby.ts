// A standby of PostgreSQL that replicates synchronously, and takes the place of its server when that was killed.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { freePort } from "../../support/programs/proxy.ts";
import { familyOf, type PostgresServer } from "../../support/store/postgres.ts";
import { until } from "../../support/until.ts";

export interface Standby {
  /** Kills the server, and all of its processes, with SIGKILL. */
  killServer(): void;
  /** Starts the standby's data at the server's address, as the new server. */
  takeOver(): Promise<void>;
}

/** True if the programs of this PostgreSQL can make a standby. */
export function canReplicate({ programs }: PostgresServer): boolean {
  return ["pg_basebackup", "pg_ctl"].every((name) => existsSync(join(programs, name)));
}

/**
 * Copies a running server and follows it. From then on the server acknowledges a commit only after the standby has
 * flushed it.
 */
export async function startStandby(postgres: PostgresServer): Promise<Standby> {
  const folder = join(postgres.folder, "standby");
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const run = (name: string, given: readonly string[]) => {
    const place = { cwd: postgres.folder, ...user, encoding: "utf8" } as const;
    const ended = spawnSync(join(postgres.programs, name), given, place);
    if (ended.status !== 0) throw new Error(`${name} failed: ${ended.stderr}`);
  };
  const server = postgres.url("postgres");
  run("pg_basebackup", ["-D", folder, "-d", server, "-R", "-X", "stream", "-c", "fast"]);
  const port = String(await freePort());
  const addresses = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="];
  const child = spawn(
    join(postgres.programs, "postgres"),
    ["-D", folder, "-p", port, "-c", "max_connections=300", ...addresses],
    { cwd: postgres.folder, ...user, stdio: "ignore" },
  );
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  await admin.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
  await admin.query("SELECT pg_reload_conf()");
  const states = async () =>
    (await admin.query<{ state: string }>("SELECT sync_state AS state FROM pg_stat_replication"))
      .rows;
  await until("the standby's first answer", states, (rows) =>
    rows.some(({ state }) => state === "sync"),
  );
  await admin.end();
  return {
    killServer() {
      for (const pid of familyOf(postgres.pid())) process.kill(pid, "SIGKILL");
    },
    async takeOver() {
      run("pg_ctl", ["promote", "-w", "-D", folder]);
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGINT");
      await ended;
      renameSync(join(postgres.folder, "data"), join(postgres.folder, "lost"));
      renameSync(folder, join(postgres.folder, "data"));
      await postgres.start();
      // The new server has no standby that could acknowledge its commits.
      const owner = new pg.Client({ connectionString: server });
      await owner.connect();
      await owner.query("ALTER SYSTEM RESET synchronous_standby_names");
      await owner.query("SELECT pg_reload_conf()");
      await owner.end();
    },
  };
}
