// SIGTERM under load: every accepted request is answered, readiness fails first, and the exit code is 0 in time.
import { setTimeout as delay } from "node:timers/promises";
import { firstSuccess } from "./kills.ts";
import { openGround, type Dialect } from "./ground.ts";
import type { RunningServer } from "../../support/programs/program.ts";
import { startLoad } from "./load.ts";
import { report } from "./report.ts";
import { settle } from "./settle.ts";

const stops = Number(process.env["PROVE_STOPS"] ?? "10");
/** After this many milliseconds a server exits regardless (src/cli/serving.ts). */
const stopMsMax = 25_000;
const runMs = { least: 500, most: 3_000 };
/** The server's delay, and the interval at which the load asks for readiness as a proxy does, in milliseconds. */
const stopDelayMs = 1_500;
const readyCheckMs = 100;

export async function proveStops(dialect: Dialect): Promise<void> {
  const settings = { TILL_STOP_DELAY_MS: String(stopDelayMs) };
  const ground = await openGround("SIGTERM", dialect, { settings });
  const faults: string[] = [];
  try {
    const load = startLoad(ground);
    const recovery: number[] = [];
    const unready: number[] = [];
    let slowest = 0;
    for (let count = 0; count < stops; count += 1) {
      await delay(runMs.least + Math.random() * (runMs.most - runMs.least));
      const [server] = ground.servers;
      if (server === undefined) throw new Error("no server runs");
      const askedAt = performance.now();
      const stopped = server.stop();
      unready.push((await untilUnready(server)) - askedAt);
      ground.servers.pop();
      const code = await stopped;
      slowest = Math.max(slowest, performance.now() - askedAt);
      if (code !== 0) faults.push(`exit code ${String(code)}`);
      ground.servers.push(await ground.serve());
      recovery.push((await firstSuccess(load.answers, askedAt)) / 1_000);
    }
    await load.stop();
    const dropped = load.answers.filter(({ status }) => status === 0);
    if (dropped.length > 0) {
      const why = [...new Set(dropped.map(({ error }) => error))].join(", ");
      faults.push(`${String(dropped.length)} requests were not answered: ${why}`);
    }
    if (slowest > stopMsMax) faults.push("a stop took too long");
    const notes = [
      `${String(stops)} stops`,
      `${String(dropped.length)} without an answer`,
      `/readyz 503 within ${(Math.max(...unready) / 1_000).toFixed(1)} s`,
      `stopped within ${(slowest / 1_000).toFixed(1)} s`,
    ];
    report(ground, await settle(ground, load), { recovery, notes, faults });
  } finally {
    await ground.end();
  }
}

/** Resolves with the time at which `/readyz` is 503. Throws if the server refuses connections before. */
async function untilUnready(server: RunningServer): Promise<number> {
  for (;;) {
    const { status } = await fetch(`${server.url}/readyz`);
    if (status === 503) return performance.now();
    await delay(readyCheckMs);
  }
}
