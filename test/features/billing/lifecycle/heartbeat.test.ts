// Downtime of billing, and by how much it extends due dates.
import { expect } from "chai";
import { recordHeartbeat } from "../../../../src/features/billing/lifecycle/worker.ts";
import {
  billingState,
  platformInvoices,
  subscriptions,
} from "../../../../src/features/billing/table.ts";
import { minute, type Instant } from "../../../../src/kernel/clock.ts";
import { createIds } from "../../../../src/kernel/id.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";
import { appOf } from "../../../support/context.ts";
import { addOrganization } from "../../../support/merchants.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";
import { platformInvoice, subscription } from "../balances/balance-fixture.ts";

const start = 1_800_000_000_000;
/** For payments in blocks that are still to be read after the downtime. */
const readingTime = 10 * minute;

eachStore("the heartbeat of billing", (store) => {
  store.leavesUnsound({
    checks: ["billing.invoices", "billing.taken", "billing.numbers", "subscriptions.period"],
    because: "platform invoices and their subscriptions are inserted directly",
  });
  let db: Database;
  let now: Instant;

  before(async () => {
    db = await store.open();
  });
  beforeEach(async () => {
    now = start;
    await setBeat(null);
  });

  const beat = () => recordHeartbeat(appOf({ db, clock: { now: () => now } }), testContext);
  const beatAt = async () => (await db.findOne(billingState, ""))?.heartbeatAt;
  const setBeat = (heartbeatAt: Instant | null) =>
    db.write(testContext, (tx) => tx.update(billingState, { heartbeatAt }, "WHERE id = 'billing'"));

  /** Adds an open, a past due, a paid and a void invoice with their due dates in a minute; returns these. */
  async function addInvoices(issuedAt: Instant) {
    const ids = createIds(systemRandom);
    const of = subscription(await addOrganization(db, ids, start));
    const rows = (["open", "past_due", "paid", "void"] as const).map((status, place) =>
      platformInvoice(of, { status, issuedAt, dueAt: start + minute, periodStart: start + place }),
    );
    await db.write(testContext, async (tx) => {
      await tx.insert(subscriptions, of);
      await tx.insertMany(platformInvoices, rows);
    });
    return async () => {
      const stored = await db.find(platformInvoices, "WHERE subscription_id = $1 ORDER BY id", [
        of.id,
      ]);
      return stored.map(({ dueAt }) => dueAt - (start + minute));
    };
  }

  it("is stored at most every half minute, so that runs a minute apart store it", async () => {
    expect([await beat(), await beatAt()]).to.deep.equal([0, start]);
    now = start + minute / 2 - 1;
    expect([await beat(), await beatAt()]).to.deep.equal([0, start]);
    now = start + minute / 2;
    expect([await beat(), await beatAt()]).to.deep.equal([0, now]);
  });

  it("extends the due dates of unpaid invoices by a gap of more than five minutes, and time to read blocks", async () => {
    const extensions = await addInvoices(start - 1);
    await setBeat(start);
    now = start + 5 * minute;
    expect([await beat(), await extensions()]).to.deep.equal([0, [0, 0, 0, 0]]);
    await setBeat(start);
    now = start + 5 * minute + 1;
    const extended = 5 * minute + 1 + readingTime;
    expect([await beat(), await extensions()]).to.deep.equal([
      5 * minute + 1,
      [extended, extended, 0, 0],
    ]);
    expect([await beat(), await extensions()]).to.deep.equal([0, [extended, extended, 0, 0]]);
  });

  it("extends the due date of an invoice that was issued in the gap by the time since its issue", async () => {
    const extensions = await addInvoices(start + 4 * minute);
    await setBeat(start);
    now = start + 6 * minute;
    const extended = 2 * minute + readingTime;
    expect([await beat(), await extensions()]).to.deep.equal([
      6 * minute,
      [extended, extended, 0, 0],
    ]);
  });

  it("extends due dates once, however many processes find the gap", async () => {
    const extensions = await addInvoices(start - 1);
    await setBeat(start);
    now = start + 6 * minute;
    const gaps = await Promise.all([beat(), beat(), beat()]);
    expect(gaps.toSorted()).to.deep.equal([0, 0, 6 * minute]);
    const extended = 6 * minute + readingTime;
    expect(await extensions()).to.deep.equal([extended, extended, 0, 0]);
  });
});
