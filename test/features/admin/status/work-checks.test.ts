import { expect } from "chai";
import {
  auditCheck,
  backupCheck,
} from "../../../../src/features/admin/status/operations-status.ts";
import { hour, minute, second } from "../../../../src/kernel/clock.ts";
import { newJournal } from "../../../support/context.ts";
import { auditKey } from "../../../support/secret.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";

const now = Date.UTC(2031, 0, 31);

describe("the check of backups", () => {
  const made = (age: number) => ({ at: now - age, path: "/backups/1", bytes: 1 });
  const told = (
    last: ReturnType<typeof made> | null,
    dueAt: number | null,
    failure: { at: number; message: string } | null = null,
  ) => {
    const { status, message } = backupCheck({ made: last, failure }, dueAt, now);
    return `${status}: ${message}`;
  };
  const none = "No backup has been made.";
  const old = "The newest backup is 5 h old.";
  const five = made(6 * hour - 1);

  it("shows the age of the newest one, and how to make the first", () => {
    expect(told(five, null)).to.equal(`ok: ${old}`);
    expect(told(made(-minute), null)).to.equal("ok: The newest backup is 0 h old.");
    expect(told(null, null)).to.equal(`ok: ${none} Set TILL_BACKUP_SCHEDULE, or run till backup.`);
  });

  it("is degraded if the last attempt failed, or an hour after one was due", () => {
    const failure = { at: now - second, message: "The disk is full." };
    expect(told(five, null, failure)).to.equal(
      `degraded: The backup of 2031-01-30T23:59:59.000Z failed: The disk is full. ${old}`,
    );
    expect(told(five, five.at)).to.equal(`ok: ${old}`);
    const isDue = `${old} One is due since 2031-01-30T23:00:00.000Z.`;
    expect(told(five, now - hour)).to.equal(`ok: ${isDue}`);
    const isLate = isDue.replace("23:00:00.000Z", "22:59:59.999Z");
    expect(told(five, now - hour - 1)).to.equal(`degraded: ${isLate}`);
    expect(told(null, now - hour)).to.equal(`unknown: ${none} The first is due.`);
    expect(told(null, now - hour - 1)).to.equal(`degraded: ${isLate.replace(old, none)}`);
  });
});

anyStore("the check of the audit log", (store) => {
  it("is degraded once an entry has waited for its seal for more than a minute", async () => {
    const db = await store.open();
    const told = async (at: number) => {
      const { status, message } = await auditCheck(db, auditKey, at);
      return `${status}: ${message}`;
    };
    expect(await told(now)).to.equal("ok: All entries are sealed.");
    const journal = newJournal();
    await db.write(testContext, (tx) => {
      journal.record(tx, now, {
        action: "job.retried",
        organizationId: null,
        subjectType: "job",
        subjectId: "job_1",
        changes: {},
      });
      return Promise.resolve();
    });
    const waits = (age: number) => `The oldest unsealed entry is ${String(age)} ms old.`;
    expect(await told(now + minute)).to.equal(`ok: ${waits(minute)}`);
    expect(await told(now + minute + 1)).to.equal(`degraded: ${waits(minute + 1)}`);
    expect(await told(now - 1)).to.equal(`ok: ${waits(0)}`);
  });
});
