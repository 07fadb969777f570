import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { StoreOptions } from "../../../src/platform/database/open.ts";
import { builtProgram } from "./built.ts";
import { endWithThisProcess } from "./guard.ts";
import { secret } from "../secret.ts";
import { till } from "./till.ts";

export interface Finished {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A `till serve` server in a separate process. */
export interface RunningServer {
  readonly url: string;
  readonly child: ChildProcess;
  /** Sends SIGKILL, so that nothing is cleaned up. */
  kill(): Promise<void>;
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
}

/** The program as operators run it: an installation in its own folder, on SQLite or on a given database. */
export interface Installation {
  readonly folder: string;
  /** Its settings by environment variable, for commands that the test runs in its own process. */
  readonly env: Readonly<Record<string, string>>;
  /** A command of `till`, in the process of the test. */
  run(args: readonly string[], input?: string): Promise<Finished>;
  /** Its log goes to a file descriptor, or else into the error of a start that fails. */
  serve(settings?: Readonly<Record<string, string>>, log?: number): Promise<RunningServer>;
  remove(): Promise<void>;
}

/** Creates the folder; the caller runs `till init`. */
export async function makeInstallation(
  settings: Readonly<Record<string, string>>,
  place?: StoreOptions,
): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), "till program "));
  const store =
    place !== undefined && "url" in place ? { DATABASE_URL: place.url, TILL_SECRET: secret } : {};
  const children = new Set<ChildProcess>();
  const env = {
    TILL_DATA_DIR: join(folder, "data of till"),
    TILL_PORT: "0",
    // Tests make no requests to public sources of rates.
    TILL_RATES: "off",
    ...store,
    ...settings,
  };

  function start(more: Readonly<Record<string, string>> = {}, log: number | "pipe" = "pipe") {
    const child = spawn(process.execPath, [builtProgram(), "serve"], {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", ...env, ...more },
      stdio: ["pipe", "pipe", log],
    });
    endWithThisProcess(child);
    children.add(child);
    child.once("exit", () => children.delete(child));
    return child;
  }

  return {
    folder,
    env,

    async run(args, input = "") {
      const { code, ...said } = await till(args, { env, stdin: input });
      return { status: code, ...said };
    },

    async serve(more, logTo) {
      const child = start(more, logTo);
      let log = "";
      child.stderr?.on("data", (chunk: Buffer) => (log += chunk.toString("utf8")));
      const ended = once(child, "exit") as Promise<[number | null]>;
      if (child.stdout === null) throw new Error("the server has no output");
      for await (const line of createInterface({ input: child.stdout })) {
        const url = /^Till is ready at (\S+)$/.exec(line)?.[1];
        if (url === undefined) continue;
        return {
          url,
          child,
          async kill() {
            child.kill("SIGKILL");
            await ended;
          },
          async stop() {
            child.kill("SIGTERM");
            return (await ended)[0];
          },
        };
      }
      throw new Error(`till serve ended before it was ready: ${log}`);
    },

    async remove() {
      const gone = [...children].map((child) => once(child, "exit"));
      for (const child of children) child.kill("SIGKILL");
      // Waits for all processes, so that none writes to the folder while it is removed, or to the database that is used
      // next.
      await Promise.all(gone);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
