// The store follows the server that takes writes: a real server with standbys, behind an address that moves.
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import pg from "pg";
import { openDatabase, openForReading } from "../../../src/platform/database/open.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { describeOnPostgres } from "../../support/store/describe-on-postgres.ts";
import { startPostgres, type PostgresServer } from "../../support/store/postgres.ts";
import {
  canReplicate,
  startMovingAddress,
  startStandby,
  type MovingAddress,
  type Standby,
} from "../../support/store/standby.ts";
import { testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { account, accounts, createAccounts } from "./accounts.ts";

/** So many calls in a row that the new server has answered show that all use it. `npm run prove:faults` has the seconds. */
const settledCalls = 200;

const portOf = (url: string) => Number(new URL(url).port);

async function on<R extends object>(url: string, sql: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** An outcome of a call, with its place among all begins and ends of calls. */
interface Outcome {
  readonly startedAt: number;
  readonly endedAt: number;
  /** The server that answered a read, the row that was written, or null if the store was unavailable. */
  readonly answer: string | null;
  readonly isWrite: boolean;
}

/** Reads and writes without a pause, so that no connection is ever idle for long. */
function startTraffic(db: Database, callers: number) {
  const outcomes: Outcome[] = [];
  let isEnding = false;
  let rows = 0;
  let order = 0;
  const wrong: unknown[] = [];
  async function one(isWrite: boolean): Promise<string | null> {
    try {
      if (isWrite) {
        rows += 1;
        const id = `row-${String(rows)}`;
        await db.write(testContext, (tx) => tx.insert(accounts, account(id)));
        return id;
      }
      const [row] = await db.all<{ port: string; nonce: string }>(
        `SELECT current_setting('port') AS "port", $1 AS "nonce"`,
        [String(Math.random())],
      );
      return row?.port ?? "";
    } catch (error) {
      if ((error as { code?: string }).code !== "store_unavailable") wrong.push(error);
      await delay(10);
      return null;
    }
  }
  async function call(isWrite: boolean): Promise<void> {
    while (!isEnding) {
      const startedAt = (order += 1);
      const answer = await one(isWrite);
      outcomes.push({ startedAt, endedAt: (order += 1), answer, isWrite });
    }
  }
  const calls = Array.from({ length: callers }, (_, place) => call(place % 2 === 0));
  return {
    outcomes,
    wrong,
    /** The place of the next begin or end of a call. */
    now: () => order + 1,
    /** Resolves after so many further outcomes. */
    async pass(count: number): Promise<void> {
      const before = outcomes.length;
      await until(
        "calls",
        () => outcomes.length,
        (length) => length >= before + count,
      );
    },
    /** Resolves once the last calls have all succeeded, the reads on this server. */
    async settleOn(port: number): Promise<void> {
      const last = () => outcomes.slice(-settledCalls);
      await until(
        "calls that all succeed on the new server",
        last,
        (given) =>
          given.length === settledCalls &&
          given.every(({ answer, isWrite }) =>
            isWrite ? answer !== null : answer === String(port),
          ),
      );
    },
    async end() {
      isEnding = true;
      await Promise.all(calls);
    },
  };
}

describeOnPostgres("a store on PostgreSQL whose primary changes", () => {
  let first: PostgresServer;
  let second: Standby;
  let address: MovingAddress;
  let db: Database;

  beforeEach(async function () {
    if (process.env["TEST_DATABASE_URL"] !== undefined) this.skip();
    first = await startPostgres();
    if (!canReplicate(first)) this.skip();
    await on(first.url("postgres"), "CREATE DATABASE till");
    address = await startMovingAddress(portOf(first.url("till")));
    db = await openDatabase({ url: `postgres://postgres@127.0.0.1:${String(address.port)}/till` });
    await createAccounts(db);
    second = await startStandby(first, { isSynchronous: false });
  });

  afterEach(async () => {
    await db.close();
    await address.close();
    await second.stop();
    await first.stop();
  });

  it("uses only the new one if the address moves, though the former one still answers", async () => {
    const traffic = startTraffic(db, 8);
    await traffic.pass(settledCalls);
    second.promote();
    address.moveTo(second.port);
    await traffic.settleOn(second.port);
    const settledAt = traffic.now();
    await traffic.pass(settledCalls);
    await traffic.end();
    const late = traffic.outcomes.filter(({ startedAt }) => startedAt >= settledAt);
    const reads = late.filter(({ isWrite }) => !isWrite);
    expect(new Set(reads.map(({ answer }) => answer))).to.deep.equal(
      new Set([String(second.port)]),
    );
    const written = new Set((await db.find(accounts, "")).map(({ id }) => id));
    const writes = late.filter(({ isWrite }) => isWrite);
    expect(writes).to.have.length.above(0);
    expect(writes.filter(({ answer }) => answer === null || !written.has(answer))).to.deep.equal(
      [],
    );
    // Once the new one has answered, the former one does not: nothing that was seen disappears again.
    const newest = Math.min(
      ...traffic.outcomes
        .filter(({ answer }) => answer === String(second.port))
        .map(({ endedAt }) => endedAt),
    );
    const stale = traffic.outcomes.filter(
      ({ startedAt, answer, isWrite }) =>
        startedAt > newest && !isWrite && answer !== null && answer !== String(second.port),
    );
    expect(stale).to.deep.equal([]);
    expect(traffic.wrong).to.deep.equal([]);
  });

  it("refuses reads and writes on a server that became a standby, and goes on when the address moves", async () => {
    const traffic = startTraffic(db, 8);
    await traffic.pass(settledCalls);
    await second.exchange();
    const restartedAt = traffic.now();
    // The address leads to the former primary, which is a standby now.
    await traffic.pass(settledCalls);
    const movedAt = traffic.now();
    address.moveTo(second.port);
    await traffic.settleOn(second.port);
    await traffic.end();
    const { outcomes } = traffic;
    const meanwhile = outcomes.filter(
      ({ startedAt, endedAt }) => startedAt > restartedAt && endedAt < movedAt,
    );
    expect(meanwhile).not.to.deep.equal([]);
    expect(meanwhile.filter(({ answer }) => answer !== null)).to.deep.equal([]);
    expect(traffic.wrong).to.deep.equal([]);
    // Everything that was acknowledged is on the new one.
    const written = new Set((await db.find(accounts, "")).map(({ id }) => id));
    const lost = outcomes.filter(
      ({ isWrite, answer }) => isWrite && answer !== null && !written.has(answer),
    );
    expect(lost).to.deep.equal([]);
  });

  it("repeats a write whose connection is lost before COMMIT, and a read", async () => {
    await db.find(accounts, "");
    let runs = 0;
    await db.write(testContext, async (tx) => {
      runs += 1;
      await tx.insert(accounts, account("once"));
      if (runs > 1) return;
      await on(
        first.url("till"),
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'till' AND pid <> pg_backend_pid()",
      );
      await tx.findOne(accounts, "WHERE id = $1", ["once"]);
    });
    expect(runs).to.equal(2);
    expect((await db.find(accounts, "")).map(({ id }) => id)).to.deep.equal(["once"]);
  });

  it("closes every connection of before, also unused ones, after one was ended by the server", async () => {
    const pids = async (use: "read" | "write") =>
      (
        await on<{ pid: number }>(
          first.url("till"),
          `SELECT pid FROM pg_stat_activity WHERE application_name = 'till ${use}' ORDER BY pid`,
        )
      ).map(({ pid }) => pid);
    const callers = Array.from({ length: 6 }, (_, place) => place);
    const read = () =>
      Promise.all(callers.map((place) => db.all("SELECT pg_sleep(0.05), $1 AS n", [place])));
    const write = (name: string) =>
      Promise.all(
        callers.map((place) =>
          db.write(testContext, (tx) => tx.insert(accounts, account(`${name} ${String(place)}`))),
        ),
      );
    await read();
    await write("before");
    const before = { read: await pids("read"), write: await pids("write") };
    expect(before.read.length).to.be.above(3);
    expect(before.write).not.to.deep.equal([]);
    const [ended = 0] = before.read;
    await on(first.url("till"), `SELECT pg_terminate_backend(${String(ended)})`);
    await until(
      "the end",
      () => pids("read"),
      (now) => !now.includes(ended),
    );
    await read();
    const reading = await pids("read");
    expect(reading.length).to.be.above(3);
    expect(before.read.filter((pid) => reading.includes(pid))).to.deep.equal([]);
    // Connections for writes are closed when writes ask for them.
    await write("after");
    const writing = await pids("write");
    expect(writing).not.to.deep.equal([]);
    expect(before.write.filter((pid) => writing.includes(pid)).length).to.be.below(
      before.write.length,
    );
  });

  it("takes of several hosts the one that is not in recovery, and follows when that changes", async () => {
    const hosts = `127.0.0.1:${String(second.port)},127.0.0.1:${String(portOf(first.url("till")))}`;
    const url = `postgres://postgres@${hosts}/till?target_session_attrs=read-write`;
    const port = "SELECT current_setting('port') AS port";
    const reader = await openForReading({ url });
    expect(await reader.all(port)).to.deep.equal([{ port: String(portOf(first.url("till"))) }]);
    await reader.close();
    const both = await openDatabase({ url });
    try {
      expect(await both.all(port)).to.deep.equal([{ port: String(portOf(first.url("till"))) }]);
      await both.write(testContext, (tx) => tx.insert(accounts, account("first")));
      await second.exchange();
      const moved = await until(
        "the move",
        () => both.all(port).catch(String),
        (rows) => typeof rows !== "string",
      );
      expect(moved).to.deep.equal([{ port: String(second.port) }]);
      await both.write(testContext, (tx) => tx.insert(accounts, account("second")));
    } finally {
      await both.close();
    }
  });
});
