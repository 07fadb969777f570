import { expect } from "chai";
import { figuresWorker, rollUpAll } from "../../../src/features/usage/roll-up.ts";
import { figureChanges, figures } from "../../../src/features/usage/meter.ts";
import { second } from "../../../src/kernel/clock.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import type { RowOf } from "../../../src/platform/database/schema/table.ts";
import { stillClock } from "../../support/clock.ts";
import { appOf, newIds } from "../../support/context.ts";
import { beforeNextWrite } from "../../support/store/before-next-write.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";

const start = Date.UTC(2031, 0, 31, 12, 30);

eachStore("the sums of figures", (store) => {
  const it = takeTurns(store);
  store.leavesUnsound({ checks: ["figures.facts"], because: "the changes are made up" });

  const ids = newIds();
  let db: Database;
  beforeEach(async () => {
    db = await store.open();
  });

  type Change = RowOf<typeof figureChanges>;
  const change = (changes: Partial<Change>): Change => ({
    organizationId: "org_1",
    id: ids.next("figure", start),
    measure: "volume",
    happenedAt: start,
    currency: "USD",
    subject: "",
    sign: 1,
    amount: 100n,
    items: 1,
    ...changes,
  });
  const add = (...changes: readonly Change[]) =>
    db.write(testContext, (tx) => tx.insertMany(figureChanges, changes));
  const waiting = async () => (await db.find(figureChanges, "")).length;
  /** Returns the sums as `organization measure/subject grain-start items ±amount`. */
  async function sums(): Promise<string[]> {
    const rows = await db.find(figures, "ORDER BY organization_id, measure, subject, grain");
    return rows.map(
      ({ organizationId, measure, subject, grain, startsAt, items, sign, amount }) =>
        `${organizationId} ${measure}/${subject} ${grain} ${new Date(startsAt).toISOString().slice(8, 13)} ${String(items)} ${sign < 0 ? "-" : "+"}${String(amount)}`,
    );
  }

  it("are those of hours and days, of the organization and, if it concerns it, of the platform", async () => {
    await add(
      change({}),
      change({ measure: "invoices", subject: "open", amount: 7n }),
      change({ measure: "wallet", subject: "wal_1" }),
    );
    await rollUpAll(db, testContext);
    expect(await waiting()).to.equal(0);
    expect(await sums()).to.deep.equal([
      "org_1 invoices/open day 31T00 1 +7",
      "org_1 invoices/open hour 31T12 1 +7",
      "org_1 volume/ day 31T00 1 +100",
      "org_1 volume/ hour 31T12 1 +100",
      "org_1 wallet/wal_1 day 31T00 1 +100",
      "org_1 wallet/wal_1 hour 31T12 1 +100",
      "platform invoices/open day 31T00 1 +7",
      "platform invoices/open hour 31T12 1 +7",
      "platform organization/org_1 day 31T00 1 +100",
      "platform organization/org_1 hour 31T12 1 +100",
      "platform volume/ day 31T00 1 +100",
      "platform volume/ hour 31T12 1 +100",
    ]);
  });

  it("may be negative for a while, and have no row once they are nothing", async () => {
    const wallet = { measure: "wallet", subject: "wal_1" } as const;
    await add(
      change({ ...wallet, items: -1, sign: -1 }),
      change({ ...wallet, items: 0, amount: 30n }),
    );
    await rollUpAll(db, testContext);
    const hours = async () => (await sums()).filter((line) => line.includes(" hour "));
    expect(await hours()).to.deep.equal(["org_1 wallet/wal_1 hour 31T12 -1 -70"]);
    await add(change({ ...wallet, amount: 70n }));
    await rollUpAll(db, testContext);
    expect(await sums()).to.deep.equal([]);
    // An amount without items, and items without an amount.
    await add(
      change({ ...wallet, items: 0, amount: 5n }),
      change({ ...wallet, subject: "wal_2", amount: 0n }),
    );
    await rollUpAll(db, testContext);
    expect(await hours()).to.deep.equal([
      "org_1 wallet/wal_1 hour 31T12 0 +5",
      "org_1 wallet/wal_2 hour 31T12 1 +0",
    ]);
  });

  it("contain every change, however many batches these are", async () => {
    await add(...Array.from({ length: 2_001 }, () => change({ measure: "wallet", subject: "w" })));
    await rollUpAll(db, testContext);
    expect(await waiting()).to.equal(0);
    expect(await sums()).to.include("org_1 wallet/w hour 31T12 2001 +200100");
  });

  it.onBoth("are brought up to date in batches, by one process at a time", async () => {
    const clock = stillClock(start);
    const process = () => {
      const app = appOf({ db, clock });
      return { leases: app.leases, worker: figuresWorker(app) };
    };
    const [one, other] = [process(), process()];
    const run = ({ worker }: typeof one) => worker.run(new AbortController().signal);
    expect(await run(one), "nothing waits").to.equal(false);
    await add(...Array.from({ length: 1_001 }, () => change({})));
    expect(await run(one), "more waits").to.equal(true);
    expect(await waiting()).to.equal(1);
    clock.advance(30 * second - 1);
    expect(await run(other), "the first one does it").to.equal(false);
    expect(await waiting()).to.equal(1);
    expect(await run(one)).to.equal(false);
    expect(await sums()).to.include("org_1 volume/ hour 31T12 1001 +100100");

    // The lease passes to the other one just before the sums are written.
    await add(change({}));
    clock.advance(20 * second);
    beforeNextWrite(db, async () => {
      beforeNextWrite(db, async () => {
        clock.advance(30 * second);
        await other.leases.acquire("figures", second);
      });
      return Promise.resolve();
    });
    const lost = await run(one).catch((error: unknown) => (error as Error).name);
    expect(lost).to.equal("LeaseLost");
    expect(await waiting()).to.equal(1);
  });
});
