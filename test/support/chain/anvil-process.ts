import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { whenThisProcessIsGone } from "../programs/guard.ts";
import { patienceMs } from "../until.ts";

export interface AnvilProcess {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const platforms: Readonly<Record<string, string>> = {
  "linux-x64": "linux-amd64",
  "linux-arm64": "linux-arm64",
  "darwin-x64": "darwin-amd64",
  "darwin-arm64": "darwin-arm64",
  "win32-x64": "win32-amd64",
};

/** Finds the native program, or the reason why it is missing. */
function findBinary(): { path: string } | { reason: string } {
  const machine = `${process.platform}-${process.arch}`;
  const platform = platforms[machine];
  if (platform === undefined) return { reason: `anvil is not made for ${machine}` };
  const file = process.platform === "win32" ? "anvil.exe" : "anvil";
  try {
    const own = createRequire(import.meta.url);
    // The package with the native program is a dependency of the wrapper package.
    const wrapper = createRequire(own.resolve("@foundry-rs/anvil/package.json"));
    return { path: wrapper.resolve(`@foundry-rs/anvil-${platform}/bin/${file}`) };
  } catch {
    return {
      reason: `the package @foundry-rs/anvil-${platform} is not installed (npm ci --include=optional)`,
    };
  }
}

let unavailable: string | null | undefined;

/** Returns the reason why anvil cannot run here, for the title of a skipped suite; null if it can. */
export function anvilUnavailableReason(): string | null {
  if (unavailable === undefined) {
    const binary = findBinary();
    if ("reason" in binary) {
      unavailable = binary.reason;
    } else {
      const tried = spawnSync(binary.path, ["--version"], {
        encoding: "utf8",
        timeout: patienceMs,
      });
      const complaint = tried.error?.message ?? tried.stderr.trim();
      unavailable = tried.status === 0 ? null : `anvil does not run on this machine: ${complaint}`;
    }
  }
  return unavailable;
}

/**
 * Runs the native program with arguments that make it listen on a port of 127.0.0.1, and waits until it does. It is
 * killed when this process is gone, however that ended.
 */
export async function spawnAnvil(commandLine: readonly string[]): Promise<AnvilProcess> {
  const binary = findBinary();
  if ("reason" in binary) throw new Error(binary.reason);
  const folder = mkdtempSync(join(tmpdir(), "till-anvil-"));
  const output = join(folder, "output.txt");
  const file = openSync(output, "w");
  // Output goes to a file, never to an inherited pipe, which a node that outlives its parent would keep open.
  const child = spawn(binary.path, commandLine, { stdio: ["ignore", file, file] });
  closeSync(file);
  const died = new Promise<void>((resolve) => {
    child.once("exit", () => {
      resolve();
    });
  });
  const guard = whenThisProcessIsGone(
    'kill -KILL "$1"; rm -rf "$2"',
    String(child.pid ?? ""),
    folder,
  );
  child.once("exit", () => {
    guard.dismiss();
  });

  async function stop(): Promise<void> {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await died;
    }
    rmSync(folder, { recursive: true, force: true });
  }

  try {
    return { url: await listening(child, output), pid: child.pid ?? 0, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits for the line that contains the assigned port. */
async function listening(child: ChildProcess, output: string): Promise<string> {
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline) {
    const text = readFileSync(output, "utf8");
    const port = /^Listening on 127\.0\.0\.1:(\d+)/m.exec(text)?.[1];
    if (port !== undefined) return `http://127.0.0.1:${port}`;
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      throw new Error(`anvil ended before it listened: ${text.trim().slice(-500)}`);
    }
    await delay(5);
  }
  throw new Error("anvil did not listen in time");
}
