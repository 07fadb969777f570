// kill -9 at random moments under load.
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../../support/until.ts";
import { openGround, type Dialect } from "./ground.ts";
import { startLoad, type Answer } from "./load.ts";
import { report } from "./report.ts";
import { settle } from "./settle.ts";

const kills = Number(process.env["PROVE_KILLS"] ?? "50");
/** Each server runs for a random time between these, in milliseconds. */
const runMs = { least: 200, most: 3_000 };

export async function proveKills(dialect: Dialect): Promise<void> {
  const ground = await openGround("kill -9", dialect);
  try {
    const load = startLoad(ground);
    const recovery: number[] = [];
    for (let count = 0; count < kills; count += 1) {
      await delay(runMs.least + Math.random() * (runMs.most - runMs.least));
      const server = ground.servers.pop();
      await server?.kill();
      const killedAt = performance.now();
      ground.servers.push(await ground.serve());
      recovery.push((await firstSuccess(load.answers, killedAt)) / 1_000);
    }
    await load.stop();
    report(ground, await settle(ground, load), { recovery, notes: [`${String(kills)} kills`] });
  } finally {
    await ground.end();
  }
}

/** Waits for the first success of a request that began after a moment; returns its distance in milliseconds. */
export async function firstSuccess(answers: readonly Answer[], since: number): Promise<number> {
  const find = () =>
    answers.find(({ startedAt, status }) => startedAt >= since && status >= 200 && status < 400);
  const first = await until("a success", find, (answer) => answer !== undefined, 120_000);
  return (first?.endedAt ?? NaN) - since;
}
