import { expect } from "chai";
import {
  recordReport,
  recordServer,
  serverProbes,
} from "../../../../src/features/admin/status/servers.ts";
import {
  readBacklogs,
  readLastReport,
  withDeliveries,
} from "../../../../src/features/admin/status/stored-status.ts";
import { second } from "../../../../src/kernel/clock.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { stillClock } from "../../../support/clock.ts";
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
    for (const server of ["known", "lost"]) {
      clock.advance(second);
      await recordReport({ db, clock }, testContext, server, report);
    }
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
    const none = { waiting: 0, active: 0, delayed: 0, failed: 0 };
    const { queues } = await readBacklogs(db, now);
    expect(queues).to.deep.equal(
      ["webhooks", "chain", "billing", "maintenance"].map((queue) => ({ queue, ...none })),
    );
    expect(withDeliveries({ queue: "webhooks", ...none }, deliveries)).to.deep.equal({
      queue: "webhooks",
      waiting: 3,
      active: 2,
      delayed: 6,
      failed: 3,
    });
  });
});
