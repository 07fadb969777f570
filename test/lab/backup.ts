// `npm run prove:backup`: backs up a store of PROVE_ROWS invoices (100,000) with `till backup`, on PostgreSQL, while 20
// customers a second are created. Prints the time and the memory of the backup, and the times of the writes before it and
// meanwhile. It fails if the backup or a write fails. PROVE_STORES=sqlite,postgres measures both databases.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { StoreOptions } from "../../src/platform/database/open.ts";
import type { Person, TestApp } from "../support/app.ts";
import { builtProgram } from "../support/programs/built.ts";
import { secret } from "../support/secret.ts";
import { startPostgres } from "../support/store/postgres.ts";
import { openLibrary } from "./lists/list-questions.ts";
import { quantile } from "./shop.ts";

const rows = Number(process.env["PROVE_ROWS"] ?? "100000");
const stores = (process.env["PROVE_STORES"] ?? "postgres").split(",");
const writesPerSecond = 20;
/** Writes that are measured before the backup, in milliseconds. */
const quietMs = 10_000;
const memoryCheckMs = 50;
/** The exit code of a backup that is complete, while checks of till db verify fail: the filled rows lack other rows. */
const foundFaults = 7;

async function measure(name: string, place: StoreOptions, folder: string): Promise<void> {
  const { app, merchant } = await openLibrary(place, rows);
  try {
    const before = writeSteadily(app, merchant);
    await delay(quietMs);
    console.log(`${name}, ${String(rows)} invoices: ${timesOf(await before.end())} before`);
    const meanwhile = writeSteadily(app, merchant);
    const file = join(folder, `${name}.tar`);
    const { seconds, mib } = await backUp(place, folder, file);
    const { size } = await stat(file);
    console.log(
      `  backed up and verified in ${seconds.toFixed(1)} s, ${mib.toFixed(0)} MiB of memory, a file of ${(size / 2 ** 20).toFixed(0)} MiB`,
    );
    console.log(`  ${timesOf(await meanwhile.end())} meanwhile`);
  } finally {
    await app.stop();
  }
}

function timesOf(times: readonly number[]): string {
  const sorted = times.toSorted((one, other) => one - other);
  return `${String(times.length)} writes, median ${quantile(sorted, 0.5).toFixed(0)} ms, p99 ${quantile(sorted, 0.99).toFixed(0)} ms`;
}

/** Creates customers at a steady pace. */
function writeSteadily(app: TestApp, { organizationId, token }: Person) {
  const ending = new AbortController();
  const writing = (async () => {
    const times: number[] = [];
    const underWay: Promise<void>[] = [];
    const begun = performance.now();
    for (let count = 0; !ending.signal.aborted; count += 1) {
      const at = begun + (count * 1_000) / writesPerSecond;
      if (at > performance.now()) await delay(at - performance.now());
      const asked = performance.now();
      const body = { name: `Customer ${String(count)}` };
      const path = `/v1/organizations/${organizationId}/customers`;
      const one = app
        .request("POST", path, { token, body })
        .then(({ status, text }) => {
          times.push(performance.now() - asked);
          if (status !== 201) throw new Error(`${String(status)} ${text}`);
        })
        .catch((error: unknown) => {
          console.error(`a write failed: ${String(error)}`);
          process.exitCode = 1;
        });
      underWay.push(one);
    }
    await Promise.all(underWay);
    return times;
  })();
  return {
    end() {
      ending.abort();
      return writing;
    },
  };
}

/** Runs `till backup` as a process of its own, and reads its memory while it runs. */
async function backUp(place: StoreOptions, folder: string, file: string) {
  const begun = performance.now();
  const child = spawn(process.execPath, [builtProgram(), "backup", file], {
    env: {
      PATH: process.env["PATH"] ?? "",
      TILL_NETWORKS: "sandbox",
      TILL_SECRET: secret,
      ...("url" in place
        ? { DATABASE_URL: place.url, TILL_DATA_DIR: join(folder, "data") }
        : { TILL_DATA_DIR: folder }),
    },
    stdio: ["ignore", "ignore", "ignore"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  let mib = 0;
  while (child.exitCode === null && child.signalCode === null) {
    const status = await readFile(`/proc/${String(child.pid)}/status`, "utf8").catch(() => "");
    mib = Math.max(mib, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
    await delay(memoryCheckMs);
  }
  const code = await ended;
  if (code !== 0 && code !== foundFaults) throw new Error(`till backup ended with ${String(code)}`);
  return { seconds: (performance.now() - begun) / 1_000, mib };
}

console.log(`load average at the start: ${(loadavg()[0] ?? 0).toFixed(1)}`);
const folder = await mkdtemp(join(tmpdir(), "till-prove-"));
try {
  if (stores.includes("sqlite")) {
    await measure("sqlite", { sqliteFile: join(folder, "till.db") }, folder);
  }
  if (stores.includes("postgres")) {
    const server = await startPostgres();
    try {
      await measure("postgres", { url: server.url("postgres") }, folder);
    } finally {
      await server.stop();
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
