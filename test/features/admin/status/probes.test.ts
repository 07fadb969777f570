import { expect } from "chai";
import {
  makeProber,
  readBacklogs,
  readLastReport,
} from "../../../../src/features/admin/status/probes.ts";
import { recordServer } from "../../../../src/features/admin/status/servers.ts";
import { serverProbes } from "../../../../src/features/admin/table.ts";
import { second } from "../../../../src/kernel/clock.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { stillClock } from "../../../support/app.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";

const now = Date.UTC(2031, 0, 31);

anyStore("the stored checks of servers", (store) => {
  let db: Database;
  beforeEach(async () => {
    db = await store.open();
  });

  it("are kept in the row of their server, which is made if it is gone", async () => {
    const clock = stillClock(now);
    const settings = {
      startedAt: now,
      version: "1.0.0",
      baseUrl: "http://127.0.0.1",
      isBaseUrlSet: false,
      networks: ["sandbox"],
    };
    await recordServer({ db, clock }, testContext, "known", settings, false);
    const check = { status: "ok", message: "Fine." } as const;
    const report = { checks: { database: check }, providers: [] };
    const run = (server: string) => {
      const look = () => Promise.resolve(report);
      const prober = makeProber({ db, clock, server, context: testContext, look });
      return prober.run(new AbortController().signal);
    };
    clock.advance(second);
    expect(await run("known")).to.equal(false);
    clock.advance(second);
    expect(await run("lost")).to.equal(false);
    const row = { report, endedAt: null };
    expect(await db.find(serverProbes, "ORDER BY server")).to.deep.equal([
      { ...row, server: "known", checkedAt: now + second, settings },
      { ...row, server: "lost", checkedAt: now + 2 * second, settings: null },
    ]);
    expect((await readLastReport(db, clock.now())).checkedAt).to.equal(now + 2 * second);
  });

  it("count deliveries as jobs of their queue", async () => {
    const deliveries = {
      pending: 5,
      inProgress: 2,
      failed: 4,
      deadLetter: 3,
      later: 6,
      oldestDueAt: null,
    };
    const { queues, webhooks } = await readBacklogs(db, now, () => Promise.resolve(deliveries));
    expect(webhooks).to.equal(deliveries);
    const none = { waiting: 0, active: 0, delayed: 0, failed: 0 };
    expect(queues).to.deep.equal([
      { queue: "webhooks", waiting: 3, active: 2, delayed: 6, failed: 3 },
      ...["chain", "billing", "maintenance"].map((queue) => ({ queue, ...none })),
    ]);
  });
});
