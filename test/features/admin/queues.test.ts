import { expect } from "chai";
import { appOf } from "../../support/context.ts";
import { retryJob } from "../../../src/features/admin/queues.ts";
import { queueWorkerName } from "../../../src/platform/jobs/queue.ts";
import { jobs } from "../../../src/platform/jobs/table.ts";
import { anyStore, testContext } from "../../support/store/stores.ts";

const now = Date.UTC(2031, 0, 31);

anyStore("a failed job", (store) => {
  it("waits again with all of its attempts once it is retried, and its worker wakes", async () => {
    const db = await store.open();
    const woken: string[] = [];
    const wake = (worker: string) => void woken.push(worker);
    const running = { wake, nudge: wake, lastTickAt: () => null };
    const app = appOf({ db, clock: { now: () => now }, running });
    const job = {
      id: app.ids.next("job", now),
      queue: "billing" as const,
      name: "close the month",
      payload: {},
      dedupeKey: null,
      organizationId: null,
      state: "failed" as const,
      runAt: now - 1,
      attempts: 12,
      maxAttempts: 12,
      leaseUntil: null,
      leaseToken: null,
      failedReason: "no rate",
      failedAt: now - 1,
      createdAt: now - 1,
    };
    await db.write(testContext, (tx) => tx.insert(jobs, job));
    expect(await retryJob(app, testContext, job.id)).to.deep.include({ failedReason: "no rate" });
    expect(woken).to.deep.equal([queueWorkerName("billing")]);
    const ready = { state: "ready", runAt: now, attempts: 0, failedReason: null, failedAt: null };
    expect(await db.findOne(jobs, "WHERE id = $1", [job.id])).to.deep.equal({ ...job, ...ready });
    const again = retryJob(app, testContext, job.id);
    expect(await again.catch((error: unknown) => error)).to.include({ code: "job_not_failed" });
  });
});
