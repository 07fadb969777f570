// The clock of the machine jumps while a server serves, and jumps back.
import { setTimeout as delay } from "node:timers/promises";
import { day, hour } from "../../../src/kernel/clock.ts";
import { password } from "../../support/programs/till.ts";
import { firstSuccess } from "./kills.ts";
import { isAlive, openGround, type Dialect, type Ground } from "./ground.ts";
import { startLoad } from "./load.ts";
import { makeFaults, type Faults } from "./preload.ts";
import { report } from "./report.ts";
import { settle } from "./settle.ts";

const allJumps = [
  { name: "an hour ahead", ms: hour },
  { name: "an hour back", ms: -hour },
  { name: "40 days ahead", ms: 40 * day },
  { name: "40 days back", ms: -40 * day },
];
/** PROVE_JUMPS chooses by the first letters of names, separated by commas. */
const jumps = allJumps.filter(({ name }) =>
  (process.env["PROVE_JUMPS"] ?? "").split(",").some((wanted) => name.startsWith(wanted)),
);
const calmMs = 3_000;
const jumpedMs = 10_000;
const mineEveryMs = 2_000;
/** For payments that are under way when the clock jumps. */
const breathMs = 1_500;
const recoveredWithinMs = 10_000;
/** Keys of idempotent requests are forgotten after this time (docs/guides/errors.md). */
const keyLifeMs = day;

export async function proveClockJumps(dialect: Dialect): Promise<void> {
  for (const { name, ms } of jumps) {
    const faults = makeFaults("no file");
    if (faults === null) return;
    // The blocks of a network do not follow the clock of a server.
    const settings = { ...faults.env, TILL_SANDBOX_BLOCK_MS: "0" };
    const ground = await openGround(`the clock jumps ${name}`, dialect, { settings });
    try {
      await prove(ground, faults, ms);
    } finally {
      await ground.end();
      faults.remove();
    }
  }
}

async function prove(ground: Ground, faults: Faults, ms: number): Promise<void> {
  const broken: string[] = [];
  const session = await logIn(ground);
  let isRight = true;
  // A payment while the server's clock is wrong waits in the inbox: its block is not within the invoice's time.
  const load = startLoad(ground, () => isRight);
  const stopMining = mineSteadily(ground);
  const recovery: number[] = [];
  await delay(calmMs);
  isRight = false;
  await delay(breathMs);
  for (const offset of [ms, 0]) {
    faults.shiftClock(offset);
    const jumpedAt = performance.now();
    recovery.push((await firstSuccess(load.answers, jumpedAt)) / 1_000);
    if (offset >= hour) broken.push(...(await expectExpired(session)));
    await delay(breathMs);
    isRight = offset === 0;
    await delay(jumpedMs);
    const ready = await fetch(`${session.url}/readyz`);
    if (ready.status !== 200)
      broken.push(`/readyz is ${String(ready.status)}: ${await ready.text()}`);
  }
  await load.stop();
  if (!ground.servers.every(isAlive)) broken.push("the server has ended");
  if (Math.max(...recovery) * 1_000 > recoveredWithinMs)
    broken.push("the server recovered too late");
  const startedAt = performance.now();
  const figures = await settle(ground, load, { repeatsAll: ms < keyLifeMs });
  await stopMining();
  const settled = (performance.now() - startedAt) / 1_000;
  const notes = [
    `${String(figures.delayed)} events delayed by the jump`,
    `all work done ${settled.toFixed(1)} s after the clock was right`,
  ];
  report(ground, figures, { recovery, notes, faults: broken });
}

/** Makes blocks by command, with a clock that is right. */
function mineSteadily({ shop }: Ground): () => Promise<void> {
  const ending = new AbortController();
  const mining = (async () => {
    while (!ending.signal.aborted) {
      await shop.run(["sandbox", "mine", "2"]);
      await delay(mineEveryMs);
    }
  })();
  return () => {
    ending.abort();
    return mining;
  };
}

interface Session {
  readonly url: string;
  readonly accessToken: string;
}

async function logIn({ servers }: Ground): Promise<Session> {
  const url = servers[0]?.url ?? "";
  const answer = await fetch(`${url}/v1/auth/login`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email: "ada@example.com", password }),
  });
  const { accessToken } = (await answer.json()) as { accessToken: string };
  return { url, accessToken };
}

/** An access token lives for less than an hour. */
async function expectExpired({ url, accessToken }: Session): Promise<string[]> {
  const headers = { Authorization: `Bearer ${accessToken}` };
  const { status } = await fetch(`${url}/v1/me`, { headers });
  return status === 401 ? [] : [`an expired access token was answered with ${String(status)}`];
}
