import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { endWithThisProcess } from "../../support/programs/guard.ts";
import { until } from "../../support/until.ts";
import { giveAway, program, unprivileged } from "./unprivileged.ts";

/** A MariaDB server that only its own socket reaches. */
export interface MariaDb {
  readonly socket: string;
  sql(statement: string): string;
  /** Creates a database, empty or a copy of another. */
  create(name: string, template?: string): void;
  stop(): Promise<void>;
}

const debianPackage = "mariadb-server";

/** Starts a server with its data below `folder`, which belongs to the unprivileged user. */
export async function startMariaDb(folder: string): Promise<MariaDb> {
  const data = join(folder, "mariadb");
  const socket = join(data, "s");
  const log = join(folder, "mariadb.log");
  mkdirSync(data);
  giveAway(data);
  execFileSync(
    program("mariadb-install-db", debianPackage),
    [
      "--no-defaults",
      `--datadir=${data}`,
      "--auth-root-authentication-method=normal",
      "--skip-test-db",
    ],
    { cwd: data, ...unprivileged, stdio: "pipe" },
  );
  const child = spawn(
    program("mariadbd", debianPackage),
    [
      "--no-defaults",
      `--datadir=${data}`,
      `--socket=${socket}`,
      "--skip-networking",
      `--pid-file=${join(data, "pid")}`,
      // A temporary server has nothing to lose.
      "--innodb-flush-log-at-trx-commit=0",
      "--innodb-flush-method=nosync",
    ],
    { cwd: data, ...unprivileged, stdio: ["ignore", "ignore", openSync(log, "a")] },
  );
  endWithThisProcess(child);
  const ended = once(child, "exit");
  const client = (name: string, words: readonly string[], input?: Buffer) =>
    execFileSync(
      program(name, "mariadb-client"),
      ["--no-defaults", `--socket=${socket}`, "--user=root", ...words],
      { input, maxBuffer: 2 ** 30, stdio: ["pipe", "pipe", "pipe"] },
    );
  const sql = (statement: string) =>
    client("mariadb", ["--batch", "--skip-column-names", "--execute", statement]).toString();
  const answers = () => {
    if (child.exitCode !== null) throw new Error(`MariaDB ended: ${readFileSync(log, "utf8")}`);
    try {
      return sql("SELECT 1") !== "";
    } catch {
      return false;
    }
  };
  await until("MariaDB", answers, (does) => does);
  return {
    socket,
    sql,
    create(name, template) {
      sql(`CREATE DATABASE ${name}`);
      if (template !== undefined) {
        client("mariadb", [name], client("mariadb-dump", ["--single-transaction", template]));
      }
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
