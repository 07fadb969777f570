// A process that runs the queues like a server until it is ended. Its arguments: the store's place as JSON, the file
// for its notes, the length of its leases in milliseconds, and its name.
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../../src/kernel/clock.ts";
import { createIds } from "../../src/kernel/id.ts";
import { openDatabase, type StoreOptions } from "../../src/platform/database/open.ts";
import { createBackground } from "../../src/platform/jobs/background.ts";
import { createCron } from "../../src/platform/jobs/cron.ts";
import { everyMinute } from "../../src/platform/jobs/cron-line.ts";
import { createQueueWorker } from "../../src/platform/jobs/queue-worker.ts";
import type { JobHandler } from "../../src/platform/jobs/queue.ts";
import { silentLogger } from "../../src/platform/logger/index.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";
import { noMetrics } from "../../src/platform/metrics/metrics.ts";
import { testContext } from "../support/store/stores.ts";

const [place = "", notes = "", leaseMs = "", name = ""] = process.argv.slice(2);
const db = await openDatabase(JSON.parse(place) as StoreOptions);
const ids = createIds(systemRandom);
const note = (...words: readonly string[]) => {
  appendFileSync(notes, `${[name, ...words].join(" ")}\n`);
};
const handlers: JobHandler[] = [
  {
    name: "count",
    run({ id }) {
      note("did", id);
      return Promise.resolve();
    },
  },
  {
    // The first process to run it waits until the file next to the notes exists; any later one fails at once, so that
    // the job stays for inspection.
    name: "linger",
    async run({ id, attempts }) {
      note("began", id);
      if (attempts > 1) throw new Error(`failed by ${name}`);
      while (!existsSync(`${notes} end`)) await delay(20);
      note("ended", id);
    },
  },
];
const wake = (worker: string) => {
  background.wake(worker);
};
const common = { db, clock: systemClock, context: testContext };
const background = createBackground({
  workers: [
    createQueueWorker({
      ...common,
      ids,
      logger: silentLogger,
      metrics: noMetrics,
      queue: "maintenance",
      handlers,
      leaseMs: Number(leaseMs),
      wake: () => {
        wake("queue maintenance");
      },
    }),
    createCron({
      app: { db, clock: systemClock, ids, running: { wake } },
      context: testContext,
      tasks: [
        {
          name: "tick",
          line: everyMinute,
          job: { queue: "maintenance", name: "count", payload: {} },
        },
      ],
    }),
  ],
  clock: systemClock,
  logger: silentLogger,
});
background.start();
process.stdout.write("ready\n");
