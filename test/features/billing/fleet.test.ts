import { expect } from "chai";
import { billingChecks } from "../../../src/features/billing/checks.ts";
import {
  adjustments,
  credits,
  subscriptions,
  type SubscriptionRow,
} from "../../../src/features/billing/table.ts";
import { runBilling, type RunResult } from "../../../src/features/billing/lifecycle/worker.ts";
import { periodAt } from "../../../src/features/billing/periods.ts";
import { organizations } from "../../../src/features/organizations/store.ts";
import type { Instant } from "../../../src/kernel/clock.ts";
import { createIds } from "../../../src/kernel/id.ts";
import type { StoreOptions } from "../../../src/platform/database/open.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { eachStore, testContext, testsAll } from "../../support/store/stores.ts";
import { lastOfJanuary, openEstate, type Estate } from "./billing-fleet.ts";
import { subscription } from "./balances/balance-fixture.ts";
import { billInProcess } from "./lifecycle/processes.ts";

const isWhole = process.env["TILL_PROVE"] === "1";
const rounds = isWhole ? 40 : 2;
/** Additional rounds that are billed by separate processes, each with its own memory, pool and locks. */
const roundsApart = isWhole ? 10 : 1;
const members = isWhole || testsAll ? 200 : 60;
/** Subscriptions with one exclusive address each; the test prints the rate. */
const manyMembers = isWhole ? 10_000 : 20;
const ids = createIds(systemRandom);

eachStore("several processes that bill the same subscriptions", (store) => {
  let estate: Estate;
  const others: TestApp[] = [];

  afterEach(async () => {
    for (const other of others.splice(0)) await other.stop();
    await estate.stop();
  });

  /** Inserts organizations on the plan Growth in their first period, each with a credit of `balance` cents. */
  async function settle(count: number, balance: bigint): Promise<void> {
    const [like] = await estate.db.find(organizations, "WHERE is_platform = 1");
    if (like === undefined) throw new Error("there is no platform organization");
    const anchorAt = lastOfJanuary;
    const { start, end } = periodAt(anchorAt, "month", 0);
    const rows: SubscriptionRow[] = [];
    const shops = Array.from({ length: count }, (_, place) => ({
      ...like,
      id: ids.next("organization", anchorAt),
      name: `Shop ${String(place)}`,
      isPlatform: false,
      verificationStatus: "unverified" as const,
    }));
    for (const { id } of shops) {
      rows.push(
        subscription(id, {
          id: ids.next("subscription", anchorAt),
          anchorAt,
          currentPeriodStart: start,
          currentPeriodEnd: end,
          nextActionAt: end,
        }),
      );
    }
    await estate.db.write(testContext, async (tx) => {
      await tx.insertMany(organizations, shops);
      await tx.insertMany(subscriptions, rows);
      if (balance === 0n) return;
      await tx.insertMany(
        credits,
        shops.map(({ id }) => ({
          id: ids.next("credit", anchorAt),
          organizationId: id,
          currency: "USD",
          decimals: 2,
          amount: balance,
          remaining: balance,
          reason: "Balance",
          expiresAt: null,
          createdBy: "tests",
          sourceInvoiceId: null,
          createdAt: anchorAt,
          version: 1,
        })),
      );
      await tx.insertMany(
        adjustments,
        shops.map(({ id }) => ({
          id: ids.next("adjustment", anchorAt),
          organizationId: id,
          amount: -100n,
          currency: "USD",
          decimals: 2,
          description: "Sorry",
          status: "pending" as const,
          platformInvoiceId: null,
          createdBy: "tests",
          createdAt: anchorAt,
        })),
      );
    });
  }

  async function billApart(place: StoreOptions, now: Instant): Promise<RunResult> {
    const { signal, stdout } = await billInProcess(place, now, 0);
    expect(signal, stdout).to.equal(null);
    return JSON.parse(stdout) as RunResult;
  }

  async function count(): Promise<number> {
    const [row] = await estate.db.all<{ total: number }>(
      'SELECT COUNT(*) AS "total" FROM platform_invoices',
    );
    return row?.total ?? 0;
  }

  it(`issues ${String(members)} invoices per round, each once, in ${String(rounds + roundsApart)} rounds`, async () => {
    const place = await store.place("migrated");
    estate = await openEstate({ place });
    const processes = store.dialect === "postgres" ? 3 : 1;
    for (let extra = 0; extra < processes; extra += 1) {
      others.push(await startApp({ place, clock: estate.clock, background: false }));
    }
    await settle(members, 100_000_000n);
    for (let round = 1; round <= rounds + roundsApart; round += 1) {
      const { end } = periodAt(lastOfJanuary, "month", round - 1);
      estate.clock.advance(end + 120_000 - estate.clock.now());
      await estate.keepAwake();
      const all = [estate.app, ...others];
      const done = await Promise.all(
        all.map(({ app }) =>
          round <= rounds ? runBilling(app) : billApart(place, estate.clock.now()),
        ),
      );
      expect(done.reduce((sum, { parked }) => sum + parked, 0)).to.equal(0);
      expect(await count()).to.equal(round * members);
    }
    for (const check of billingChecks) {
      expect(await check.run(estate.db), check.name).to.deep.equal([]);
    }
  });

  it(`bills ${String(manyMembers)} subscriptions with an exclusive address each`, async () => {
    estate = await openEstate({ place: await store.place("migrated") });
    await settle(manyMembers, 0n);
    const { end } = periodAt(lastOfJanuary, "month", 0);
    estate.clock.advance(end + 120_000 - estate.clock.now());
    await estate.keepAwake();
    const before = cpuMs();
    const { parked } = await estate.run();
    const seconds = (cpuMs() - before) / 1_000;
    expect(parked).to.equal(0);
    expect(await count()).to.equal(manyMembers);
    const [addresses] = await estate.db.all<{ total: number }>(
      `SELECT COUNT(DISTINCT wallet_address) AS "total" FROM invoices WHERE managed_by = 'billing'`,
    );
    expect(addresses?.total).to.equal(manyMembers);
    console.log(
      `        ${(manyMembers / seconds).toFixed(0)} subscriptions per second of processor time`,
    );
  });
});
