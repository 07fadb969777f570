// PostgreSQL stops answering, ends and comes back, and cuts connections in the middle of transactions.
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { familyOf, startPostgres, type PostgresServer } from "../../support/store/postgres.ts";
import { firstSuccess } from "./kills.ts";
import { isAlive, openGround, type Dialect, type Ground } from "./ground.ts";
import { startLoad, type Load } from "./load.ts";
import { report } from "./report.ts";
import { settle } from "./settle.ts";
import {
  canReplicate,
  startMovingAddress,
  startStandby,
  type MovingAddress,
  type Standby,
} from "../../support/store/standby.ts";

const seconds = Number(process.env["PROVE_SECONDS"] ?? "60");
/** The promises of docs/faults.md, in milliseconds. */
const refusedWithinMs = 5_000;
const recoveredWithinMs = 10_000;
/** The time from the move of the address until everything is on the new primary, in milliseconds. */
const followedWithinMs = 5_000;
const calmMs = 3_000;
const cutEveryMs = 100;
const cuttingMs = 10_000;
/** The time until somebody notices that the server is gone, in milliseconds. */
const unnoticedMs = 5_000;

type Finish = () => Promise<void> | void;

interface Outage {
  readonly name: string;
  /** Prepares the fault under load; returns false, and says so, where a program is missing. */
  prepare?(ground: Ground): Promise<boolean>;
  /** Starts PostgreSQL, if this outage needs one of its own. */
  readonly startPostgres?: () => Promise<PostgresServer>;
  /** The time within which the last request after the fault fails, in milliseconds; no limit by default. */
  readonly failsAtMostMs?: number;
  /** Begins the fault and returns how it ends. */
  begin(ground: Ground): Promise<Finish> | Finish;
  readonly lastsMs: number;
}

/** The server is lost with its disk, and a standby that has all acknowledged commits takes its address. */
function failover(): Outage {
  let standby: Standby | null = null;
  return {
    name: "PostgreSQL fails over to a standby",
    lastsMs: unnoticedMs,
    async prepare({ postgres }) {
      if (postgres === null) return false;
      if (!canReplicate(postgres)) {
        console.log("missing: pg_basebackup and pg_ctl");
        return false;
      }
      standby = await startStandby(postgres);
      return true;
    },
    begin() {
      standby?.killServer();
      return async () => {
        await standby?.takeOver();
      };
    },
  };
}

/**
 * The standby becomes the primary and the server its standby, as an operator does it for maintenance. The address of
 * the database leads to the former primary for some time, which answers reads, and then to the new one.
 */
function switchover(): Outage {
  let standby: Standby | null = null;
  let address: MovingAddress | null = null;
  return {
    name: "PostgreSQL switches over behind a moving address",
    lastsMs: unnoticedMs,
    failsAtMostMs: followedWithinMs,
    async startPostgres() {
      const server = await startPostgres({ fsync: true });
      const moving = await startMovingAddress(Number(new URL(server.url("postgres")).port));
      address = moving;
      const url = (database: string) =>
        `postgres://postgres@127.0.0.1:${String(moving.port)}/${database}`;
      const stop = async () => {
        await standby?.stop();
        await moving.close();
        await server.stop();
      };
      return { ...server, url, stop };
    },
    async prepare({ postgres }) {
      if (postgres === null) return false;
      if (!canReplicate(postgres)) {
        console.log("missing: pg_basebackup and pg_ctl");
        return false;
      }
      standby = await startStandby(postgres);
      return true;
    },
    async begin() {
      await standby?.exchange();
      return () => {
        address?.moveTo(standby?.port ?? 0);
      };
    },
  };
}

const outages: readonly Outage[] = [
  {
    name: "PostgreSQL does not answer",
    lastsMs: seconds * 1_000,
    begin({ postgres }) {
      const pids = familyOf(postgres?.pid() ?? 0);
      for (const pid of pids) process.kill(pid, "SIGSTOP");
      return () => {
        for (const pid of pids.toReversed()) process.kill(pid, "SIGCONT");
      };
    },
  },
  {
    name: "PostgreSQL is killed",
    lastsMs: seconds * 1_000,
    begin({ postgres }) {
      // Immediate shutdown, which leaves the recovery to the next start.
      process.kill(postgres?.pid() ?? 0, "SIGQUIT");
      return async () => {
        await postgres?.halt();
        await postgres?.start();
      };
    },
  },
  {
    name: "PostgreSQL cuts connections",
    lastsMs: cuttingMs,
    async begin({ postgres }) {
      const admin = new pg.Client({ connectionString: postgres?.url("postgres") });
      await admin.connect();
      const cutting = setInterval(() => {
        void admin.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' AND random() < 0.5`,
        );
      }, cutEveryMs);
      return async () => {
        clearInterval(cutting);
        await admin.end();
      };
    },
  },
  failover(),
  switchover(),
];

export async function proveOutages(dialect: Dialect): Promise<void> {
  if (dialect === "sqlite") return;
  for (const outage of outages) {
    const { startPostgres: start } = outage;
    const ground = await openGround(
      outage.name,
      dialect,
      start === undefined ? {} : { startPostgres: start },
    );
    try {
      await prove(ground, outage);
    } finally {
      await ground.end();
    }
  }
}

async function prove(ground: Ground, outage: Outage): Promise<void> {
  const load = startLoad(ground);
  const isPrepared = (await outage.prepare?.(ground)) ?? true;
  if (!isPrepared) return load.stop();
  await delay(calmMs);
  const begunAt = performance.now();
  const finish = await outage.begin(ground);
  await delay(outage.lastsMs);
  await finish();
  const endedAt = performance.now();
  const recoveredMs = await firstSuccess(load.answers, endedAt);
  await delay(calmMs + (outage.failsAtMostMs ?? 0));
  await load.stop();
  const lastFailureMs = Math.max(
    0,
    ...load.answers
      .filter(({ startedAt, status }) => startedAt > endedAt && (status === 0 || status >= 400))
      .map(({ endedAt: failedAt }) => failedAt - endedAt),
  );
  const slowestMs = slowestRefusal(load, begunAt, endedAt);
  const refused = load.answers.filter(({ status }) => status === 503).length;
  const faults = [
    ...(ground.servers.every(isAlive) ? [] : ["the server has ended"]),
    ...(slowestMs > refusedWithinMs ? ["a request waited too long for its 503"] : []),
    ...(lastFailureMs > (outage.failsAtMostMs ?? Infinity)
      ? ["requests failed too long after the fault"]
      : []),
    ...(recoveredMs > recoveredWithinMs ? ["the server recovered too late"] : []),
  ];
  const notes = [
    `${String(refused)} times 503`,
    `the slowest after ${(slowestMs / 1_000).toFixed(1)} s`,
    `the last failure ${(lastFailureMs / 1_000).toFixed(1)} s after the fault`,
  ];
  const recovery = [recoveredMs / 1_000];
  report(ground, await settle(ground, load), { recovery, notes, faults });
}

/** Returns the longest wait for an answer other than a success, of the requests in a time, in milliseconds. */
function slowestRefusal({ answers }: Load, from: number, to: number): number {
  const refusals = answers.filter(
    ({ startedAt, endedAt, status }) =>
      endedAt > from && startedAt < to && (status === 0 || status >= 400),
  );
  return Math.max(
    0,
    ...refusals.map(({ startedAt, endedAt }) => endedAt - Math.max(startedAt, from)),
  );
}
