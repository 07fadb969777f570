import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { StoreOptions } from "../../src/platform/database/index.ts";
import { builtProgram } from "./built.ts";
import { endWithThisProcess } from "./guard.ts";

export interface Finished {
  readonly status: number | null;
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
  run(args: readonly string[], input?: string): Promise<Finished>;
  serve(settings?: Readonly<Record<string, string>>): Promise<RunningServer>;
  remove(): Promise<void>;
}

/** Creates the folder; the caller runs `till init`. */
export async function makeInstallation(
  settings: Readonly<Record<string, string>>,
  place?: StoreOptions,
): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), "till program "));
  const store =
    place !== undefined && "url" in place
      ? { DATABASE_URL: place.url, TILL_SECRET: "a secret of the tests, longer than 32 bytes" }
      : {};
  const children = new Set<ChildProcess>();
  const env = {
    TILL_DATA_DIR: join(folder, "data of till"),
    TILL_PORT: "0",
    // Tests make no requests to public sources of rates.
    TILL_RATES: "off",
    ...store,
    ...settings,
  };

  function start(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, [builtProgram(), ...args], {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", ...env, ...more },
      stdio: ["pipe", "pipe", "pipe"],
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
      const child = start(args);
      let stdout = "";
      let stderr = "";
      child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
      child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
      child.stdin.end(input);
      const [status] = (await once(child, "close")) as [number | null];
      return { status, stdout, stderr };
    },

    async serve(more) {
      const child = start(["serve"], more);
      let log = "";
      child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString("utf8")));
      const ended = once(child, "exit") as Promise<[number | null]>;
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
