// Voided platform invoices: no confirmed payment is lost, whatever happens before or after the void. `TILL_SEED=… npm
// run prove:billing` repeats a random history that failed.
import { expect } from "chai";
import fc from "fast-check";
import { reorganizeSandbox } from "../../../../src/features/payments/sandbox/sandbox.ts";
import { cancelSubscription } from "../../../../src/features/billing/lifecycle/cancel.ts";
import type { Cancellation } from "../../../../src/features/billing/operator/admin-records.ts";
import { billingChecks } from "../../../../src/features/billing/checks.ts";
import { computeCharges, thawInputs } from "../../../../src/features/billing/charges.ts";
import { readCollectionInvoices, receivedAt } from "../../../../src/features/billing/store.ts";
import { adjustments, credits, platformInvoices } from "../../../../src/features/billing/table.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { Problem } from "../../../../src/kernel/errors.ts";
import { expectStatus, type Merchant } from "../../../support/app.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { openEstate, plansFile, type Estate } from "../billing-fleet.ts";

const isWhole = process.env["TILL_PROVE"] === "1";
const seed = process.env["TILL_SEED"];
const runs = isWhole ? 150 : 12;

const operator = {
  actor: { type: "operator", id: null, label: "tests@localhost" },
  requestId: null,
  ip: null,
} as const;
const file = plansFile({
  trial: { price: "49.00", trialDays: 14 },
  scale: { price: "199.00" },
  small: { price: "10.00" },
});
/** The amount that pays the first invoice, in the token's smallest unit. */
const whole = 49_000_000n;

eachStore("a payment of a voided platform invoice", (store) => {
  const it = takeTurns(store);
  let estate: Estate;
  let shop: Merchant;

  before(async () => {
    estate = await openEstate({
      place: await store.place("migrated"),
      settings: { TILL_PLANS_FILE: file },
    });
  });
  after(() => estate.stop());

  async function join(): Promise<void> {
    shop = await estate.merchant();
  }
  async function begin(): Promise<string> {
    await expectStatus(estate.select(shop, "trial"), 200);
    return String((await estate.invoices(shop))[0]?.["id"]);
  }
  const cancel = (when: Cancellation["when"] = "now") =>
    cancelSubscription(estate.app.app, operator, shop.organizationId as Id<"organization">, {
      when,
      reason: "The shop closes",
    });
  const reorganize = async (depth: number, drop: boolean) => {
    await reorganizeSandbox(estate.app.app, testContext, depth, { drop });
    await estate.look();
  };
  const give = (noun: string, body: object) =>
    expectStatus(
      estate.app.request("POST", `/v1/admin/organizations/${shop.organizationId}/${noun}`, {
        key: estate.platformKey,
        body,
      }),
      201,
    );
  /** Returns the credits less the pending adjustments of the shop, in cents. */
  async function balance(): Promise<bigint> {
    const id = [shop.organizationId];
    const owned = await estate.db.find(credits, "WHERE organization_id = $1", id);
    const waiting = await estate.db.find(
      adjustments,
      "WHERE organization_id = $1 AND status = 'pending'",
      id,
    );
    return (
      owned.reduce((sum, { remaining }) => sum + remaining, 0n) -
      waiting.reduce((sum, { amount }) => sum + amount, 0n)
    );
  }
  const statuses = async () => (await estate.invoices(shop)).map(({ status }) => status);

  beforeEach(join);
  afterEach(() => expectMoneyKept(estate));

  const orders: readonly [title: string, act: (id: string) => Promise<void>, cents: bigint][] = [
    [
      "after the void",
      async (id) => {
        const [collectionInvoice] = await estate.collectionInvoices(id);
        await cancel();
        await estate.send(id, whole, collectionInvoice);
        await estate.mine(4);
      },
      4_900n,
    ],
    [
      "partly before it and partly after",
      async (id) => {
        const [collectionInvoice] = await estate.collectionInvoices(id);
        await estate.pay(id, 20_000_000n);
        await cancel();
        await estate.send(id, 29_000_000n, collectionInvoice);
        await estate.mine(4);
      },
      4_900n,
    ],
    [
      "before it, and confirmed after",
      async (id) => {
        await estate.send(id);
        await estate.mine();
        await cancel();
        await estate.mine(4);
      },
      4_900n,
    ],
    [
      "in full and confirmed before it",
      async (id) => {
        await estate.pay(id);
        await cancel();
      },
      4_900n,
    ],
    [
      "above the total before it",
      async (id) => {
        await estate.pay(id, 50_500_000n);
        await cancel();
      },
      5_050n,
    ],
    [
      "in full, at the end of the trial",
      async (id) => {
        await cancel("period_end");
        await estate.pay(id);
        await estate.live(14.1);
      },
      4_900n,
    ],
    [
      "in full, and a reorganization moves it after the void",
      async (id) => {
        await estate.pay(id);
        await cancel();
        await reorganize(5, false);
        await estate.mine(5);
      },
      4_900n,
    ],
    [
      "in full, and a reorganization removes it after the void",
      async (id) => {
        await estate.pay(id);
        await cancel();
        await reorganize(5, true);
        await estate.mine(5);
      },
      0n,
    ],
  ];
  for (const [title, act, cents] of orders) {
    it(`becomes the right credit when it arrives ${title}`, async () => {
      await act(await begin());
      expect(await statuses()).to.deep.equal(["void"]);
      expect(await balance()).to.equal(cents);
      const again = await estate.select(shop, "small");
      expect(again.status, "a void invoice is not a debt").to.equal(200);
    });
  }

  it("restores the credits, discounts and adjustments that paid an invoice without tokens", async () => {
    await give("credits", { amount: "60.00", currency: "USD", reason: "Sorry", expiresAt: null });
    await give("discounts", { kind: "percent", value: "50", periods: 1, reason: "Welcome" });
    await give("adjustments", { amount: "1.00", currency: "USD", description: "Setup" });
    const before = await balance();
    await begin();
    expect(await statuses()).to.deep.equal(["paid"]);
    await cancel();
    expect(await statuses()).to.deep.equal(["void"]);
    expect(await balance()).to.equal(before);
  });

  it("takes back a credit that the voided invoice itself had granted", async () => {
    await give("adjustments", { amount: "-60.00", currency: "USD", description: "Refund" });
    await begin();
    expect(await balance(), "11.00 of 60.00 are left").to.equal(1_100n);
    await cancel();
    expect(await statuses()).to.deep.equal(["void"]);
    expect(await balance()).to.equal(6_000n);
  });

  it("does not charge a carried total that was too small to collect", async () => {
    await give("credits", { amount: "48.70", currency: "USD", reason: "Sorry", expiresAt: null });
    await begin();
    expect(await statuses()).to.deep.equal(["paid"]);
    expect(await balance(), "0.30 are carried forward to the next invoice").to.equal(-30n);
    await cancel();
    expect(await balance()).to.equal(4_870n);
  });

  it("is no longer requested by the checkout after a reorganization removed it", async () => {
    const id = await begin();
    await estate.pay(id);
    await cancel();
    await reorganize(5, true);
    const pages = await estate.db.all<{ status: string }>(
      `SELECT status FROM invoices WHERE id IN
         (SELECT twin_id FROM platform_invoice_twins WHERE platform_invoice_id = $1)`,
      [id],
    );
    expect(pages).to.deep.equal([{ status: "canceled" }]);
  });

  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("pay" as const),
        share: fc.constantFrom(20n, 60n, 100n, 110n),
        newest: fc.boolean(),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("mine" as const),
        blocks: fc.integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("reorganize" as const),
        depth: fc.integer({ min: 1, max: 6 }),
        drop: fc.boolean(),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("cancel" as const),
        when: fc.constantFrom("now" as const, "period_end" as const, "never" as const),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("choose" as const),
        plan: fc.constantFrom("trial", "scale", "small"),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("live" as const),
        days: fc.constantFrom(0.5, 5, 15, 31),
      }),
    },
    fc.record({ kind: fc.constant("credit" as const), cents: fc.constantFrom(4_880, 6_000, 700) }),
    fc.record({ kind: fc.constant("adjust" as const), amount: fc.constantFrom("-70.00", "5.00") }),
  );
  type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

  async function act(one: Step): Promise<void> {
    switch (one.kind) {
      case "pay": {
        const invoices = await estate.db.find(
          platformInvoices,
          "WHERE organization_id = $1 AND twin_id IS NOT NULL ORDER BY id",
          [shop.organizationId],
        );
        const invoice = one.newest ? invoices.at(-1) : invoices[0];
        if (invoice === undefined) return;
        const units = (invoice.total * 10_000n * one.share) / 100n;
        await estate.send(invoice.id, units, (await estate.collectionInvoices(invoice.id)).at(-1));
        return;
      }
      case "mine":
        await estate.mine(one.blocks);
        await estate.run();
        return;
      case "reorganize":
        await reorganize(one.depth, one.drop).catch(expectProblem);
        await estate.mine();
        await estate.run();
        return;
      case "cancel":
        await cancel(one.when).catch(expectProblem);
        return;
      case "choose": {
        const changed = await estate.change(shop, one.plan);
        if (changed.status === 200) return;
        expect((await estate.select(shop, one.plan)).status).to.be.below(500);
        return;
      }
      case "live":
        expect((await estate.live(one.days)).parked).to.equal(0);
        return;
      case "credit": {
        const amount = (one.cents / 100).toFixed(2);
        await give("credits", { amount, currency: "USD", reason: "Sorry", expiresAt: null });
        return;
      }
      case "adjust":
        await give("adjustments", { amount: one.amount, currency: "USD", description: "By hand" });
        return;
    }
  }

  it.onBoth("counts for an invoice or a credit after every step of any history", async () => {
    const history = fc.array(step, { minLength: 2, maxLength: 14, size: "max" });
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        await join();
        await begin();
        for (const one of steps) {
          await act(one);
          await expectMoneyKept(estate);
        }
      }),
      {
        numRuns: runs,
        // The store keeps the failure, so that a shrunk history would fail because of the previous one.
        endOnFailure: true,
        plugins: [fc.interruptAfterTimeLimit(isWhole ? 3_000_000 : 100_000)],
        ...(seed === undefined ? {} : { seed: Number(seed) }),
      },
    );
  });
});

function expectProblem(error: unknown): void {
  if (!(error instanceof Problem)) throw error;
}

/**
 * Expects that confirmed payments equal the totals of paid invoices, the part payments of unpaid ones, and the credits,
 * less the charges for credits that were spent before a reorganization removed their payment.
 */
async function expectMoneyKept({ db }: Estate): Promise<void> {
  for (const check of billingChecks) {
    expect(await check.run(db), check.name).to.deep.equal([]);
  }
  const invoices = await db.find(platformInvoices, "ORDER BY id");
  const collectionInvoices = await readCollectionInvoices(
    db,
    invoices.map(({ id }) => id),
  );
  const granted = await db.find(credits, "WHERE source_invoice_id IS NOT NULL");
  const charged = await db.find(adjustments, "WHERE created_by = 'system'");
  for (const { id, number, status, total, inputs } of invoices) {
    const { confirmed } = receivedAt(collectionInvoices.get(id) ?? []);
    const paid = status === "paid" && collectionInvoices.has(id) ? total : 0n;
    const waiting = status === "open" || status === "past_due" ? confirmed : 0n;
    const { newCredit } = computeCharges(thawInputs(inputs));
    const credited = sumOf(granted.filter((one) => one.sourceInvoiceId === id));
    const takenBack = sumOf(
      charged.filter(({ description }) => description.startsWith(`Credit from ${number}, `)),
    );
    const isKept = status === "void" ? 0n : newCredit;
    expect(paid + waiting + credited - takenBack - isKept, number).to.equal(confirmed);
  }
}

function sumOf(rows: readonly { readonly amount: bigint }[]): bigint {
  return rows.reduce((sum, { amount }) => sum + amount, 0n);
}
