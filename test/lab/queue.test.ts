// Processes that share a queue: nothing is done twice, and late outcomes of a process that paused are refused. Reduced
// here; `npm run prove:queue` runs it in full, with rates.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { systemClock } from "../../src/kernel/clock.ts";
import { createIds } from "../../src/kernel/id.ts";
import type { Database } from "../../src/platform/database/database.ts";
import type { StoreOptions } from "../../src/platform/database/open.ts";
import { createBackground } from "../../src/platform/jobs/background.ts";
import { createQueueWorker } from "../../src/platform/jobs/queue-worker.ts";
import { cronRuns, jobs as jobTable } from "../../src/platform/jobs/table.ts";
import { silentLogger } from "../../src/platform/logger/index.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";
import { noMetrics } from "../../src/platform/metrics/metrics.ts";
import { compiledProgram } from "../support/programs/built.ts";
import { describeOnPostgres } from "../support/store/describe-on-postgres.ts";
import { endWithThisProcess } from "../support/programs/guard.ts";
import { eachStore, testContext, type TestStore } from "../support/store/stores.ts";
import { until } from "../support/until.ts";

const isWhole = process.env["TILL_PROVE"] !== undefined;
const jobCount = isWhole ? 10_000 : 1_000;
const processCount = 4;
const program = new URL("queue-process.ts", import.meta.url);

/** Adds jobs, a few hundred per transaction. */
async function addJobs(db: Database, count: number, name: string): Promise<void> {
  const ids = createIds(systemRandom);
  const now = Date.now();
  const rows = Array.from({ length: count }, (_, n) => ({
    id: ids.next("job", now),
    queue: "maintenance",
    name,
    payload: { n },
    dedupeKey: null,
    organizationId: null,
    state: "ready" as const,
    runAt: now,
    attempts: 0,
    maxAttempts: 12,
    leaseUntil: null,
    leaseToken: null,
    failedReason: null,
    failedAt: null,
    createdAt: now,
  }));
  for (let at = 0; at < count; at += 500) {
    await db.write(testContext, (tx) => tx.insertMany(jobTable, rows.slice(at, at + 500)));
  }
}

describeOnPostgres("processes that share a queue", () => {
  const children: ChildProcess[] = [];
  let folder = "";

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "till-queue-"));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null) continue;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function start(place: StoreOptions, name: string, notes: string, leaseMs: number) {
    const args = [compiledProgram(program), JSON.stringify(place), notes, String(leaseMs), name];
    const child = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "inherit"],
    });
    endWithThisProcess(child);
    children.push(child);
    await once(child.stdout, "data");
    return child;
  }

  eachStore("of jobs", (store: TestStore) => {
    if (store.dialect === "sqlite") return;

    it(`do each of ${String(jobCount)} jobs once, and enqueue each scheduled time once`, async () => {
      const place = await store.place("migrated");
      const db = await store.open(place);
      await addJobs(db, jobCount, "count");
      const notes = join(folder, "shared");
      const names = Array.from({ length: processCount }, (_, n) => `process${String(n)}`);
      const startedAt = Date.now();
      await Promise.all(names.map((name) => start(place, name, notes, 60_000)));
      const left = async () => (await db.find(jobTable, "WHERE payload <> '{}'")).length;
      await until("all jobs", left, (count) => count === 0);
      const seconds = (Date.now() - startedAt) / 1_000;
      const noted = async () => (await readFile(notes, "utf8")).trim().split("\n");
      const lines = await until("a tick", noted, ({ length }) => length > jobCount);
      const runs = await db.find(cronRuns, "");
      const done = lines.map((line) => line.split(" ")[2]);
      expect(new Set(done).size).to.equal(done.length);
      const ticks = done.length - jobCount;
      expect(ticks).to.be.at.most(runs.length);
      const shares = names.map((name) => lines.filter((line) => line.startsWith(name)).length);
      // A thousand jobs may be done by the first process before another one has started.
      if (isWhole) {
        expect(shares.filter((share) => share > 0)).to.have.length(processCount);
        console.log(
          `      ${String(jobCount)} jobs by ${String(processCount)} processes in ${seconds.toFixed(1)} s with their starts; shares ${shares.join(", ")}; ${String(ticks)} ticks of ${String(runs.length)} times`,
        );
      }
    });

    it("refuse the outcomes of a process that paused beyond its lease", async () => {
      const place = await store.place("migrated");
      const db = await store.open(place);
      const notes = join(folder, "stopped");
      const stopped = await start(place, "stopped", notes, 1_000);
      await addJobs(db, 1, "linger");
      const noted = async () => (await readFile(notes, "utf8").catch(() => "")).split("\n");
      const sees = (words: string) =>
        until(words, noted, (lines) => lines.some((line) => line.startsWith(words)));
      await sees("stopped began");
      stopped.kill("SIGSTOP");
      await start(place, "other", notes, 60_000);
      await sees("other began");
      const job = async () => (await db.find(jobTable, "WHERE name = 'linger'"))[0];
      const before = await until("its failure", job, (row) => row?.failedReason !== null);
      expect(before).to.include({ attempts: 2, failedReason: "failed by other" });
      stopped.kill("SIGCONT");
      await writeFile(`${notes} end`, "");
      await sees("stopped ended");
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(await job()).to.include({ id: before?.id, queue: "maintenance" });
      expect((await job())?.failedReason).to.match(/^failed by/);
    });
  });
});

if (isWhole) {
  eachStore("a queue of one process", (store) => {
    it("do thousands of jobs per second", async () => {
      const db = await store.open();
      const ids = createIds(systemRandom);
      const total = 30_000;
      await addJobs(db, total, "count");
      let done = 0;
      const worker = createQueueWorker({
        db,
        clock: systemClock,
        ids,
        logger: silentLogger,
        context: testContext,
        metrics: noMetrics,
        queue: "maintenance",
        handlers: [{ name: "count", run: () => Promise.resolve(void (done += 1)) }],
        wake: () => {
          background.wake("queue maintenance");
        },
      });
      const background = createBackground({
        workers: [worker],
        clock: systemClock,
        logger: silentLogger,
      });
      const startedAt = performance.now();
      background.start();
      await until(
        "all jobs",
        () => done,
        (count) => count === total,
      );
      await worker.drained();
      const seconds = (performance.now() - startedAt) / 1_000;
      await background.stop();
      expect((await db.find(jobTable, "")).length).to.equal(0);
      console.log(`      ${(total / seconds).toFixed(0)} jobs a second on ${store.dialect}`);
    });
  });
}
