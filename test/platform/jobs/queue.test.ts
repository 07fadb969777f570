import { expect } from "chai";
import { createIds } from "../../../src/kernel/id.ts";
import { day, hour, minute, second } from "../../../src/kernel/clock.ts";
import type { Database } from "../../../src/platform/database/index.ts";
import { createCron } from "../../../src/platform/jobs/cron.ts";
import {
  backoffMs,
  createJobs,
  createQueueWorker,
  type JobHandler,
  type NewJob,
} from "../../../src/platform/jobs/queue.ts";
import { jobs as jobTable } from "../../../src/platform/jobs/table.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { systemRandom } from "../../../src/platform/secrets/random.ts";
import { movingClock, type MovingClock } from "../../support/app.ts";
import { eachStore, testContext } from "../../support/stores.ts";

const neverStopped = new AbortController().signal;
const ids = createIds(systemRandom);

describe("the delay of a job", () => {
  it("doubles from five seconds to an hour", () => {
    expect([1, 2, 3, 4].map(backoffMs)).to.deep.equal([5, 10, 20, 40].map((n) => n * second));
    expect(backoffMs(40)).to.equal(hour);
  });
});

eachStore("a queue", (store) => {
  let db: Database;
  let clock: MovingClock;
  const nudged: string[] = [];
  const jobs = createJobs({ ids, nudge: (worker) => nudged.push(worker) });

  beforeEach(async () => {
    db = await store.open();
    clock = movingClock();
    nudged.length = 0;
  });

  function worker(run: JobHandler["run"], name = "greet") {
    const common = { db, clock, ids, logger: silentLogger, context: testContext };
    return createQueueWorker({ ...common, queue: "maintenance", handlers: [{ name, run }] });
  }

  function enqueue(job: Partial<NewJob> = {}): Promise<boolean> {
    return db.write(testContext, (tx) =>
      jobs.enqueue(tx, clock.now(), {
        queue: "maintenance",
        name: "greet",
        payload: { to: "Ada" },
        ...job,
      }),
    );
  }

  const rows = () => db.find(jobTable, "ORDER BY id");

  it("runs a job once, with its payload, and forgets it", async () => {
    const seen: unknown[] = [];
    const greeter = worker(({ payload, attempts }) => {
      seen.push([payload, attempts]);
      return Promise.resolve();
    });
    await enqueue();
    expect(nudged).to.deep.equal(["queue maintenance"]);
    await greeter.run(neverStopped);
    await greeter.run(neverStopped);
    expect(seen).to.deep.equal([[{ to: "Ada" }, 1]]);
    expect(await rows()).to.deep.equal([]);
  });

  it("adds nothing when the transaction that asked for it fails", async () => {
    const failing = db.write(testContext, async (tx) => {
      await jobs.enqueue(tx, clock.now(), { queue: "maintenance", name: "greet", payload: {} });
      throw new Error("no");
    });
    await failing.catch(() => undefined);
    expect(await rows()).to.deep.equal([]);
    expect(nudged).to.deep.equal([]);
  });

  it("holds one unfinished job of a key, and another once that is done", async () => {
    expect(await enqueue({ dedupeKey: "daily" })).to.equal(true);
    expect(await enqueue({ dedupeKey: "daily" })).to.equal(false);
    await worker(() => Promise.resolve()).run(neverStopped);
    expect(await enqueue({ dedupeKey: "daily" })).to.equal(true);
  });

  it("waits for a job's time", async () => {
    let runs = 0;
    const counter = worker(() => Promise.resolve(void (runs += 1)));
    await enqueue({ runAt: clock.now() + minute });
    await counter.run(neverStopped);
    expect(runs).to.equal(0);
    clock.advance(minute);
    await counter.run(neverStopped);
    expect(runs).to.equal(1);
  });

  it("tries a failed job again later, and parks it with its reason when it failed too often", async () => {
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

  it("hands back what it did not begin while a job still ended within the lease", async () => {
    for (let count = 0; count < 20; count += 1) await enqueue();
    let runs = 0;
    const slow = worker(() => {
      runs += 1;
      clock.advance(30 * second);
      return Promise.resolve();
    });
    await slow.run(neverStopped);
    const left = await rows();
    expect(runs).to.be.within(1, 8);
    expect(left).to.have.lengthOf(20 - runs);
    for (const job of left) {
      expect(job).to.include({ state: "ready", attempts: 0, leaseToken: null, leaseUntil: null });
      expect(job.runAt).to.be.at.most(clock.now());
    }
  });

  it("begins no job once the program stops, and leaves it as it was", async () => {
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

  it("parks a job that nobody knows, and goes on with the others", async () => {
    let runs = 0;
    await enqueue({ name: "unheard of" });
    await enqueue();
    await worker(() => Promise.resolve(void (runs += 1))).run(neverStopped);
    expect(runs).to.equal(1);
    expect((await rows()).map(({ name }) => name)).to.deep.equal(["unheard of"]);
  });

  it("gives each of 200 jobs to one of four workers", async () => {
    const done = new Map<string, number>();
    await db.write(testContext, async (tx) => {
      for (let n = 0; n < 200; n += 1) {
        await jobs.enqueue(tx, clock.now(), { queue: "maintenance", name: "greet", payload: n });
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

  it("refuses what a worker records whose lease has passed to another", async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const slow = worker(() => held);
    await enqueue();
    const late = slow.run(neverStopped);
    while ((await rows())[0]?.leaseToken == null) await new Promise(setImmediate);
    clock.advance(2 * minute);
    const second = worker(() => Promise.reject(new Error("again")));
    await second.run(neverStopped);
    release();
    await late;
    const [job] = await rows();
    expect(job).to.include({ attempts: 2, failedReason: "again" });
  });

  it("takes each time of a schedule once, whoever comes first, and missed times together", async () => {
    const tasks = [
      {
        name: "tidy",
        everyMs: hour,
        job: { queue: "maintenance", name: "greet", payload: {} },
      },
    ] as const;
    const cron = () => createCron({ db, clock, jobs, context: testContext, tasks });
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
