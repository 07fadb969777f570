import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import type { Instant } from "../../../../src/kernel/clock.ts";
import type { StoreOptions } from "../../../../src/platform/database/open.ts";
import { secret } from "../../../support/secret.ts";
import { compiledProgram } from "../../../support/programs/built.ts";
import { endWithThisProcess } from "../../../support/programs/guard.ts";

const program = new URL("killable-run.ts", import.meta.url);

export interface Ended {
  /** The signal that killed the process; null if it exited. */
  readonly signal: string | null;
  readonly stdout: string;
}

/** Runs all due billing at a time in a separate process, which is killed at its `killAt`th statement; 0: never. */
export function billInProcess(place: StoreOptions, now: Instant, killAt: number): Promise<Ended> {
  return runProcess(place, now, killAt, {});
}

/** Changes an organization's plan in a separate process, which is killed at its `killAt`th statement; 0: never. */
export function changePlanInProcess(
  place: StoreOptions,
  now: Instant,
  killAt: number,
  change: { readonly organizationId: string; readonly plan: string },
): Promise<Ended> {
  return runProcess(place, now, killAt, {
    CHANGE_PLAN: `${change.organizationId} ${change.plan}`,
  });
}

async function runProcess(
  place: StoreOptions,
  now: Instant,
  killAt: number,
  settings: Readonly<Record<string, string>>,
): Promise<Ended> {
  const where: Record<string, string> =
    "url" in place ? { DATABASE_URL: place.url } : { TILL_DATA_DIR: dirname(place.sqliteFile) };
  const child = spawn(process.execPath, [compiledProgram(program)], {
    env: {
      PATH: process.env["PATH"] ?? "",
      TILL_SECRET: secret,
      TILL_NETWORKS: "sandbox",
      TILL_BILLING: "on",
      TILL_SANDBOX_BLOCK_MS: "0",
      ...where,
      ...settings,
      KILL_AT: String(killAt),
      CLOCK_ADDED: String(now - Date.now()),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  endWithThisProcess(child);
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
  const [, signal] = (await once(child, "close")) as [number | null, string | null];
  return { signal, stdout };
}
