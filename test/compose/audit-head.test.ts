import { expect } from "chai";
import { makeMaintenance, maintenanceSchedule } from "../../src/compose/maintenance.ts";
import { createIds } from "../../src/kernel/id.ts";
import { createAuditor } from "../../src/platform/audit/index.ts";
import { parseHead } from "../../src/platform/audit/chain.ts";
import { auditLogs } from "../../src/platform/audit/table.ts";
import { verifyAudit } from "../../src/platform/audit/verify.ts";
import { meta } from "../../src/platform/database/meta.ts";
import { createLogger } from "../../src/platform/logger/index.ts";
import { systemRandom } from "../../src/platform/secrets/random.ts";
import { eachStore, testContext } from "../support/stores.ts";

eachStore("the head of the audit chain", (store) => {
  it("is logged every hour, and detects a tail that was cut off together with the stored head", async () => {
    const db = await store.open();
    const auditor = createAuditor(createIds(systemRandom));
    const now = Date.now();
    for (const targetId of ["one", "two", "three"]) {
      await db.write(testContext, (tx) => {
        auditor.record(tx, now, {
          ...{ action: "thing.changed", organizationId: null, targetType: "thing", targetId },
        });
        return Promise.resolve();
      });
    }
    const lines: string[] = [];
    const destination = { write: (line: string) => lines.push(line) };
    const logger = createLogger({ level: "info", destination });
    const clock = { now: () => now };
    const job = makeMaintenance({ db, clock, logger }).find(({ name }) => name.includes("audit"));
    const task = maintenanceSchedule.find(({ name }) => name === job?.name);
    expect(task?.everyMs).to.equal(3_600_000);
    const given = { signal: new AbortController().signal, payload: {} };
    await job?.run(given as unknown as Parameters<typeof job.run>[0]);
    const { head } = JSON.parse(lines[0] ?? "{}") as { head: string };
    expect(head).to.match(/^3:[0-9a-f]{64}$/);

    await db.write(testContext, async (tx) => {
      const [, second] = await tx.find(auditLogs, "ORDER BY position");
      await tx.run("DELETE FROM audit_logs WHERE position = 3");
      const value = `2:${second?.hash ?? ""}`;
      await tx.update(meta, { value }, "WHERE name = $1", ["audit_head"]);
    });
    expect((await verifyAudit(db, testContext)).fault, "the store alone cannot tell").to.equal(
      null,
    );
    const { fault } = await verifyAudit(db, testContext, parseHead(head));
    expect(fault).to.include({ position: 3, kind: "missing" });
  });
});
