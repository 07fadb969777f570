import { expect } from "chai";
import { day } from "../../../src/kernel/clock.ts";
import type { QueueName } from "../../../src/platform/jobs/queue.ts";
import {
  failedJobKeptFor,
  failedJobsKeptMax,
  pruneFailedJobs,
} from "../../../src/platform/jobs/retention.ts";
import { jobs } from "../../../src/platform/jobs/table.ts";
import { newIds } from "../../support/context.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

const now = Date.UTC(2031, 0, 31);

eachStore("failed jobs", (store) => {
  it("are kept for 30 days, and at most the latest 5,000 of each queue", async () => {
    expect([failedJobKeptFor, failedJobsKeptMax]).to.deep.equal([30 * day, 5_000]);
    const db = await store.open();
    const ids = newIds();
    const job = (queue: QueueName, state: "ready" | "failed", age: number) => ({
      id: ids.next("job", now),
      queue,
      name: "greet",
      payload: {},
      dedupeKey: null,
      organizationId: null,
      state,
      runAt: now,
      attempts: 12,
      maxAttempts: 12,
      leaseUntil: null,
      leaseToken: null,
      failedReason: "no",
      failedAt: state === "failed" ? now - age : null,
      createdAt: now - age,
    });
    const many = Array.from({ length: 6_100 }, (_, n) => job("chain", "failed", n));
    const others = [
      job("billing", "failed", 31 * day),
      job("billing", "failed", 29 * day),
      job("billing", "ready", 60 * day),
    ];
    await db.write(testContext, async (tx) => {
      await tx.insertMany(jobs, many);
      await tx.insertMany(jobs, others);
    });
    let batches = 1;
    while (await pruneFailedJobs(db, now, testContext)) batches += 1;
    expect(batches).to.be.within(2, 4);
    const left = await db.find(jobs, "ORDER BY id");
    const kept = [...many.slice(0, 5_000), ...others.slice(1)].map(({ id }) => id);
    expect(left.map(({ id }) => id)).to.have.members(kept);
  });
});
