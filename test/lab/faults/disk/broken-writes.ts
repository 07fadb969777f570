// The disk fails: every flush answers EIO, or every write is cut in half and then answers EIO.
import { setTimeout as delay } from "node:timers/promises";
import { startPostgres } from "../../../support/store/postgres.ts";
import { firstSuccess } from "../kills.ts";
import { openGround, type Dialect, type Ground } from "../ground.ts";
import { startLoad } from "../load.ts";
import { makeFaults, type Faults } from "../preload.ts";
import { report } from "../report.ts";
import { settle } from "../settle.ts";

const calmMs = 2_000;
const faultMs = 5_000;

/** The files that fail: the store of SQLite, or the write-ahead log of PostgreSQL. */
const paths = { sqlite: "till.db", postgres: "pg_wal" };

const kinds = [
  {
    name: "no flush succeeds",
    turn: (faults: Faults, on: boolean) => {
      faults.failFlushes(on);
    },
  },
  {
    name: "no write is complete",
    turn: (faults: Faults, on: boolean) => {
      faults.failWrites(on);
    },
  },
];

export async function proveBrokenWrites(dialect: Dialect): Promise<void> {
  for (const { name, turn } of kinds) {
    const faults = makeFaults(paths[dialect]);
    if (faults === null) return;
    const ground = await openGround(name, dialect, {
      ...(dialect === "sqlite" ? { settings: faults.env } : {}),
      startPostgres: () => startWith(faults),
    });
    try {
      await prove(ground, faults, (on) => {
        turn(faults, on);
      });
    } finally {
      await ground.end();
      faults.remove();
    }
  }
}

/** PostgreSQL inherits this process's environment. */
async function startWith(faults: Faults) {
  Object.assign(process.env, faults.env);
  try {
    return await startPostgres({ fsync: true });
  } finally {
    for (const name of Object.keys(faults.env)) Reflect.deleteProperty(process.env, name);
  }
}

async function prove(ground: Ground, faults: Faults, turn: (on: boolean) => void): Promise<void> {
  const load = startLoad(ground);
  await delay(calmMs);
  turn(true);
  const begunAt = performance.now();
  await delay(faultMs);
  const endedAt = performance.now();
  turn(false);
  // PostgreSQL ends itself when a flush fails, and cannot recover while it fails.
  if (ground.postgres !== null) {
    await ground.postgres.halt();
    await ground.postgres.start();
  }
  const turnedAt = performance.now();
  const recovery = [(await firstSuccess(load.answers, turnedAt)) / 1_000];
  await delay(calmMs);
  await load.stop();
  const meanwhile = load.answers.filter(
    ({ startedAt, endedAt: at }) => startedAt > begunAt && at < endedAt,
  );
  const successes = meanwhile.filter(({ status }) => status >= 200 && status < 400).length;
  const refused = meanwhile.filter(({ status }) => status === 503).length;
  const broken = [
    ...(successes > 0 ? [`${String(successes)} successes while nothing was on disk`] : []),
    ...(faults.hits() === 0 ? ["no call failed: the fault did not reach the store"] : []),
  ];
  // The next process reads what is on disk.
  await ground.servers.pop()?.kill();
  ground.servers.push(await ground.serve());
  const notes = [`${String(faults.hits())} calls failed`, `${String(refused)} times 503`];
  report(ground, await settle(ground, load), { recovery, notes, faults: broken });
}
