import { noMetrics } from "../../../src/platform/metrics/metrics.ts";
import { day, hour, minute, second } from "../../../src/kernel/clock.ts";
import type { Database, Tx } from "../../../src/platform/database/database.ts";
import { createQueueWorker } from "../../../src/platform/jobs/queue-worker.ts";
import { createCron } from "../../../src/platform/jobs/cron.ts";
import { everyHour } from "../../../src/platform/jobs/cron-line.ts";
import {
  backoffMs,
  enqueueJob,
  type Enqueuing,
  type JobHandler,
  type NewJob,
} from "../../../src/platform/jobs/queue.ts";
import { jobs as jobTable } from "../../../src/platform/jobs/table.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { newIds } from "../../support/context.ts";
import { movingClock, stillClock, type MovingClock } from "../../support/clock.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import type { SeenStatement } from "../../lab/lists/statements.ts";
import { expect } from "chai";

const neverStopped = new AbortController().signal;
const ids = newIds();

describe("the delay of a job", () => {
  it("doubles from five seconds to an hour", () => {
    expect([1, 2, 3, 4].map(backoffMs)).to.deep.equal([5, 10, 20, 40].map((n) => n * second));
    expect(backoffMs(40)).to.equal(hour);
  });
});

eachStore("a queue", (store) => {
  let db: Database;
  let clock: MovingClock;
  const woken: string[] = [];
  const enqueuing: Enqueuing = { ids, running: { wake: (worker) => woken.push(worker) } };

  beforeEach(async () => {
    db = await store.open();
    clock = movingClock();
    woken.length = 0;
  });

  function begun(run: JobHandler["run"], name = "greet", leaseMs = minute, at = db) {
    const common = { db: at, clock, ids, logger: silentLogger, context: testContext, leaseMs };
    const handlers = [{ name, run }];
    return createQueueWorker({
      metrics: noMetrics,
      ...common,
      queue: "maintenance",
      handlers,
      wake: () => undefined,
    });
  }

  function worker(run: JobHandler["run"], name = "greet", at = db) {
    const made = begun(run, name, minute, at);
    return {
      /** Runs the worker and waits for the jobs that it started. */
      async run(signal: AbortSignal) {
        await made.run(signal);
        await made.drained();
      },
    };
  }

  function enqueue(job: Partial<NewJob> = {}): Promise<boolean> {
    return db.write(testContext, (tx) =>
      enqueueJob(tx, enqueuing, clock.now(), {
        queue: "maintenance",
        name: "greet",
        payload: { to: "Ada" },
        ...job,
      }),
    );
  }

  const rows = () => db.find(jobTable, "ORDER BY id");

  it("runs a job once with its payload, and deletes it", async () => {
    const seen: unknown[] = [];
    const greeter = worker(({ payload, attempts }) => {
      seen.push([payload, attempts]);
      return Promise.resolve();
    });
    await enqueue();
    expect(woken).to.deep.equal(["queue maintenance"]);
    await greeter.run(neverStopped);
    await greeter.run(neverStopped);
    expect(seen).to.deep.equal([[{ to: "Ada" }, 1]]);
    expect(await rows()).to.deep.equal([]);
  });

  it("adds no job if its transaction fails", async () => {
    const failing = db.write(testContext, async (tx) => {
      await enqueueJob(tx, enqueuing, clock.now(), {
        queue: "maintenance",
        name: "greet",
        payload: {},
      });
      throw new Error("no");
    });
    await failing.catch(() => undefined);
    expect(await rows()).to.deep.equal([]);
    expect(woken).to.deep.equal([]);
  });

  it("holds one unfinished job per dedupe key, and accepts another when it is done", async () => {
    expect(await enqueue({ dedupeKey: "daily" })).to.equal(true);
    expect(await enqueue({ dedupeKey: "daily" })).to.equal(false);
    await worker(() => Promise.resolve()).run(neverStopped);
    expect(await enqueue({ dedupeKey: "daily" })).to.equal(true);
  });

  it("runs a job not before its time", async () => {
    let runs = 0;
    const counter = worker(() => Promise.resolve(void (runs += 1)));
    await enqueue({ runAt: clock.now() + minute });
    await counter.run(neverStopped);
    expect(runs).to.equal(0);
    clock.advance(minute);
    await counter.run(neverStopped);
    expect(runs).to.equal(1);
  });

  it("retries a failed job later, and marks it failed with its reason after the last attempt", async () => {
    // Only the test moves this clock, so that a paused machine ends no lease and no delay.
    clock = stillClock(clock.now());
    const failing = worker(() => Promise.reject(new Error("the receiver is away")));
    await enqueue();
    for (let attempt = 1; attempt <= 12; attempt += 1) {
      await failing.run(neverStopped);
      await failing.run(neverStopped);
      const [job] = await rows();
      expect(job?.attempts).to.equal(attempt);
      clock.advance(hour);
    }
    const [parked] = await rows();
    expect(parked).to.include({ state: "failed", failedReason: "the receiver is away" });
    await failing.run(neverStopped);
    expect((await rows())[0]?.attempts).to.equal(12);
  });

  it("keeps its jobs while it is alive, and is not blocked by a slow job", async () => {
    // Only the test moves this clock, so that a paused machine ends no lease and no delay.
    clock = stillClock(clock.now());
    let release = (): void => undefined;
    const slow = new Promise<void>((resolve) => (release = resolve));
    const leaseMs = 600;
    const first = begun(
      ({ payload }) => (payload === 0 ? slow : Promise.resolve()),
      "greet",
      leaseMs,
    );
    for (let n = 0; n < 20; n += 1) await enqueue({ payload: n });
    const others = async () => {
      await first.run(neverStopped);
      return rows();
    };
    await until("the others", others, (left) => left.length === 1);
    let taken = 0;
    const other = worker(() => Promise.resolve(void (taken += 1)));
    for (let renewal = 0; renewal < 6; renewal += 1) {
      const [before] = await rows();
      clock.advance(leaseMs / 2);
      await other.run(neverStopped);
      expect(taken).to.equal(0);
      await until(
        "a sign of life",
        rows,
        ([job]) => (job?.leaseUntil ?? 0) > (before?.leaseUntil ?? Infinity),
      );
    }
    release();
    await first.drained();
    expect(await rows()).to.deep.equal([]);
  });

  it("claims no more jobs than it runs at once, and leaves the others to other processes", async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let begins = 0;
    const first = begun(() => {
      begins += 1;
      return held;
    });
    for (let n = 0; n < 11; n += 1) await enqueue();
    await first.run(neverStopped);
    await first.run(neverStopped);
    expect(begins).to.equal(8);
    let taken = 0;
    await worker(() => Promise.resolve(void (taken += 1))).run(neverStopped);
    expect(taken).to.equal(3);
    release();
    await first.drained();
    expect(await rows()).to.deep.equal([]);
  });

  it("aborts a job whose lease was lost, and discards its outcome", async () => {
    const leaseMs = 1_500;
    const reasons: string[] = [];
    const first = begun(
      ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            reasons.push((signal.reason as Error).name);
            resolve();
          });
        }),
      "greet",
      leaseMs,
    );
    await enqueue();
    await first.run(neverStopped);
    // This process pauses until another takes over; it may renew its lease once before.
    let taken = 0;
    const second = worker(() => {
      taken += 1;
      return Promise.reject(new Error("again"));
    });
    while (taken === 0) {
      clock.advance(leaseMs);
      await second.run(neverStopped);
    }
    await first.drained();
    expect(reasons).to.deep.equal(["JobLost"]);
    const [job] = await rows();
    expect(job).to.include({ attempts: 2, failedReason: "again", leaseToken: null });
  });

  it("fails a job whose last attempt ended with its process", async () => {
    await enqueue();
    await db.write(testContext, (tx) =>
      tx.run("UPDATE jobs SET attempts = 12, lease_token = 'gone', run_at = $1, lease_until = $1", [
        clock.now(),
      ]),
    );
    let runs = 0;
    await worker(() => Promise.resolve(void (runs += 1))).run(neverStopped);
    const [job] = await rows();
    expect(job).to.include({ state: "failed", failedReason: "lease_lost", attempts: 12 });
    expect(job?.failedAt).to.be.within(clock.now() - minute, clock.now());
    expect(runs).to.equal(0);
  });

  it("does not wait behind jobs whose last attempt ended with their processes", async () => {
    for (let count = 0; count < 12; count += 1) await enqueue();
    await db.write(testContext, (tx) => tx.run("UPDATE jobs SET attempts = 12"));
    let runs = 0;
    const queue = begun(() => Promise.resolve(void (runs += 1)));
    // More jobs are due than one run claims: it asks to be run again at once.
    expect(await queue.run(neverStopped)).to.equal(true);
    await enqueue();
    while (await queue.run(neverStopped));
    await queue.drained();
    expect(runs).to.equal(1);
    expect((await rows()).map(({ state }) => state)).to.deep.equal(Array(12).fill("failed"));
  });

  it("stores failure reasons in a form that every database accepts", async () => {
    await enqueue();
    await worker(() => Promise.reject(new Error("a\0b".repeat(2_000)))).run(neverStopped);
    const [job] = await rows();
    expect(job?.failedReason).to.equal("ab".repeat(1_000));
  });

  it("starts no job after the program begins to stop, and leaves it unchanged", async () => {
    for (let count = 0; count < 12; count += 1) await enqueue();
    const stopping = new AbortController();
    let runs = 0;
    const stopped = worker(() => {
      runs += 1;
      stopping.abort();
      return Promise.resolve();
    });
    await stopped.run(stopping.signal);
    expect(runs).to.be.within(1, 8);
    expect((await rows()).map(({ attempts }) => attempts)).to.deep.equal(
      Array.from({ length: 12 - runs }, () => 0),
    );
  });

  it("fails a job without a handler, and continues with the others", async () => {
    let runs = 0;
    await enqueue({ name: "unheard of" });
    await enqueue();
    await worker(() => Promise.resolve(void (runs += 1))).run(neverStopped);
    expect(runs).to.equal(1);
    expect((await rows()).map(({ name }) => name)).to.deep.equal(["unheard of"]);
  });

  it("runs each of 200 jobs in exactly one of four workers", async () => {
    const done = new Map<string, number>();
    await db.write(testContext, async (tx) => {
      for (let n = 0; n < 200; n += 1) {
        await enqueueJob(tx, enqueuing, clock.now(), {
          queue: "maintenance",
          name: "greet",
          payload: n,
        });
      }
    });
    const count = worker(({ id }) => {
      done.set(id, (done.get(id) ?? 0) + 1);
      return Promise.resolve();
    });
    const drain = async () => {
      while ((await rows()).length > 0) await count.run(neverStopped);
    };
    await Promise.all([drain(), drain(), drain(), drain()]);
    expect(done.size).to.equal(200);
    expect([...done.values()].every((times) => times === 1)).to.equal(true);
  });

  it("claims and deletes a batch with an index, however many jobs wait", async () => {
    const at = clock.now();
    const many = Array.from({ length: 10_000 }, (_, n) => ({
      id: ids.next("job", at),
      queue: "maintenance",
      name: "greet",
      payload: { n },
      dedupeKey: null,
      organizationId: null,
      state: "ready" as const,
      runAt: at,
      attempts: 0,
      maxAttempts: 12,
      leaseUntil: null,
      leaseToken: null,
      failedReason: null,
      failedAt: null,
      createdAt: at,
    }));
    await db.write(testContext, (tx) => tx.insertMany(jobTable, many));
    const asked: SeenStatement[] = [];
    const noting = (tx: Tx): Tx => ({
      ...tx,
      all: (sql, values = []) => {
        asked.push({ sql, values });
        return tx.all(sql, values);
      },
      run: (sql, values = []) => {
        asked.push({ sql, values });
        return tx.run(sql, values);
      },
    });
    const noted: Database = {
      ...db,
      write: (context, fn) => db.write(context, (tx) => fn(noting(tx))),
    };
    await worker(() => Promise.resolve(), "greet", noted).run(neverStopped);
    expect(asked).to.have.length(2);
    expect(await rows()).to.have.length(many.length - 8);
    const explain = db.dialect === "sqlite" ? "EXPLAIN QUERY PLAN" : "EXPLAIN";
    const expectByIndex = async () => {
      const plans = await Promise.all(
        asked.map(({ sql, values }) => db.all(`${explain} ${sql}`, values)),
      );
      const [claiming, forgetting] = plans.map((steps) => JSON.stringify(steps));
      expect(claiming).to.include("jobs_ready");
      expect(claiming).not.to.match(/Sort|TEMP B-TREE|Seq Scan|SCAN jobs/);
      expect(forgetting).not.to.match(/Seq Scan on jobs|SCAN jobs/);
    };
    // With the databases' own plans: before statistics exist for the new rows, and after, which PostgreSQL collects in
    // its own time.
    await expectByIndex();
    if (db.dialect === "sqlite") return;
    await db.write(testContext, (tx) => tx.run("ANALYZE jobs"));
    await expectByIndex();
  });

  it("discards the outcomes of a worker whose lease has passed to another", async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let begin = (): void => undefined;
    const hasBegun = new Promise<void>((resolve) => (begin = resolve));
    const slow = worker(() => {
      begin();
      return held;
    });
    await enqueue();
    const late = slow.run(neverStopped);
    // A claimed job whose lease ended before it started is not an attempt.
    await hasBegun;
    clock.advance(2 * minute);
    const second = worker(() => Promise.reject(new Error("again")));
    await second.run(neverStopped);
    release();
    await late;
    const [job] = await rows();
    expect(job).to.include({ attempts: 2, failedReason: "again" });
  });

  it("enqueues each scheduled time once, by whichever process comes first, and missed times once together", async () => {
    const tasks = [
      {
        name: "tidy",
        line: everyHour,
        job: { queue: "maintenance", name: "greet", payload: {} },
      },
    ] as const;
    // Far from the next scheduled time.
    clock = movingClock(Date.UTC(2031, 0, 31, 12, 30));
    const cron = () =>
      createCron({ app: { ...enqueuing, db, clock }, context: testContext, tasks });
    const [first, second] = [cron(), cron()];
    await Promise.all([first.run(neverStopped), second.run(neverStopped)]);
    expect(await rows()).to.have.length(1);
    await worker(() => Promise.resolve()).run(neverStopped);
    await first.run(neverStopped);
    expect(await rows()).to.have.length(0);
    clock.advance(3 * day);
    await second.run(neverStopped);
    expect(await rows()).to.have.length(1);
  });
});
