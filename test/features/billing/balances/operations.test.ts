import { expect } from "chai";
import { adjustment, discount } from "../../../../src/features/billing/balances/entries.ts";
import { BillingAmountTooLarge } from "../../../../src/features/billing/errors.ts";
import { formatMoney, money, settlementAsset } from "../../../../src/kernel/money/money.ts";
import { day, toIso } from "../../../../src/kernel/clock.ts";
import { auditLogs } from "../../../../src/platform/audit/chain.ts";
import { events } from "../../../../src/platform/events/outbox.ts";
import {
  approvedMerchant,
  expectStatus,
  platformKey,
  register,
  startApp,
  type Answer,
  type TestApp,
} from "../../../support/app.ts";
import { countRows } from "../../../support/store/dump.ts";
import { eachStore } from "../../../support/store/stores.ts";

type Body = Readonly<Record<string, unknown>>;

eachStore("credits, discounts and adjustments", (store) => {
  let app: TestApp;
  let key: string;
  let organizationId: string;

  before(async () => {
    app = await startApp({ place: await store.place("migrated"), background: false });
    key = await platformKey(app);
  });
  beforeEach(async () => {
    ({ organizationId } = await register(app));
  });
  after(() => app.stop());

  const path = (noun: string) => `/v1/admin/organizations/${organizationId}/${noun}`;
  const give = (noun: string, body: Body, headers: Readonly<Record<string, string>> = {}) =>
    app.request("POST", path(noun), { key, body, headers });
  const list = (noun: string) => app.request("GET", path(noun), { key });
  const pointers = (answer: Answer) =>
    (answer.body["errors"] as { pointer: string; code: string }[] | undefined)?.map(
      ({ pointer, code }) => `${pointer} ${code}`,
    );

  const credit = { amount: "25.00", currency: "USD", reason: "Outage of Monday" };
  const percent = { kind: "percent", value: "15", periods: 3, reason: "Welcome" };
  const fixed = { kind: "fixed", value: "10", currency: "USD", reason: "Partner" };
  const charge = { amount: "-4.10", currency: "USD", description: "SLA" };

  it("are granted with their creator, an audit entry and an event", async () => {
    const { body } = await expectStatus(give("credits", credit), 201);
    expect(body).to.deep.include({
      organizationId,
      amount: "25.00",
      remaining: "25.00",
      currency: "USD",
      reason: "Outage of Monday",
      status: "available",
      expiresAt: null,
    });
    expect(body["createdBy"]).to.match(/^key_/);
    const { db } = app.app;
    const [told] = await db.find(events, "WHERE object_id = $1 ORDER BY id", [
      body["id"] as string,
    ]);
    expect(told).to.deep.include({ type: "credit.granted", organizationId, payload: body });
    const given = await expectStatus(give("discounts", percent), 201);
    expect(given.body).to.deep.include({
      kind: "percent",
      value: "15",
      currency: null,
      periods: 3,
      periodsUsed: 0,
      status: "active",
    });
    const second = await expectStatus(give("discounts", fixed), 201);
    expect(second.body).to.include({ value: "10.00", currency: "USD", periods: null });
    const charged = await expectStatus(give("adjustments", charge), 201);
    expect(charged.body).to.include({
      amount: "-4.10",
      status: "pending",
      platformInvoiceId: null,
      description: "SLA",
    });
    const entries = await db.find(auditLogs, "WHERE organization_id = $1 ORDER BY id", [
      organizationId,
    ]);
    expect(entries.slice(-4).map(({ action }) => action)).to.deep.equal([
      "credit.granted",
      "discount.granted",
      "discount.granted",
      "adjustment.created",
    ]);
  });

  it("are listed per organization in pages, newest first", async () => {
    for (const amount of ["1.00", "2.00", "3.00"]) {
      await expectStatus(give("credits", { ...credit, amount }), 201);
    }
    await expectStatus(give("discounts", percent), 201);
    await expectStatus(give("adjustments", charge), 201);
    const first = await app.request("GET", `${path("credits")}?limit=2`, { key });
    const cursor = first.body["nextCursor"] as string;
    const second = await app.request("GET", `${path("credits")}?limit=2&cursor=${cursor}`, { key });
    const amounts = [first, second].map((answer) =>
      (answer.body["data"] as Body[]).map(({ amount }) => amount),
    );
    expect(amounts).to.deep.equal([["3.00", "2.00"], ["1.00"]]);
    expect((await list("discounts")).body["data"]).to.have.length(1);
    expect((await list("adjustments")).body["data"]).to.have.length(1);
    ({ organizationId } = await register(app));
    for (const noun of ["credits", "discounts", "adjustments"]) {
      expect((await list(noun)).body, noun).to.deep.equal({ data: [], nextCursor: null });
    }
  });

  const wrong: readonly (readonly [string, string, Body, number, string])[] = [
    ["a credit of zero", "credits", { ...credit, amount: "0.00" }, 400, "/amount not_positive"],
    ["a negative credit", "credits", { ...credit, amount: "-1" }, 400, "/amount"],
    ["a number as an amount", "credits", { ...credit, amount: 25 }, 400, "/amount"],
    ["too many decimals", "credits", { ...credit, amount: "1.001" }, 400, "/amount too_many"],
    ["a missing reason", "credits", { amount: "1", currency: "USD" }, 400, "/reason"],
    ["a blank reason", "credits", { ...credit, reason: "  " }, 400, "/reason"],
    [
      "a credit that has already expired",
      "credits",
      { ...credit, expiresAt: "2020-01-01T00:00:00.000Z" },
      400,
      "/expiresAt in_the_past",
    ],
    ["an unknown currency", "credits", { ...credit, currency: "XYZ" }, 422, "currency_not_billed"],
    [
      "a token as the currency",
      "credits",
      { ...credit, currency: "USDT" },
      422,
      "currency_not_billed",
    ],
    [
      "a currency in small letters",
      "credits",
      { ...credit, currency: "usd" },
      422,
      "currency_not_billed",
    ],
    [
      "an amount above the maximum",
      "credits",
      { ...credit, amount: "1000000000000.01" },
      422,
      "billing_amount_too_large",
    ],
    ["an unknown field", "credits", { ...credit, color: "red" }, 400, "/color"],
    [
      "a discount above 100 %",
      "discounts",
      { ...percent, value: "100.0001" },
      400,
      "/value not_percent",
    ],
    ["a discount of 0 %", "discounts", { ...percent, value: "0" }, 400, "/value not_positive"],
    [
      "a percentage with a sign",
      "discounts",
      { ...percent, value: "15 %" },
      400,
      "/value not_percent",
    ],
    ["a discount of 0", "discounts", { ...fixed, value: "0.00" }, 400, "/value not_positive"],
    [
      "a fixed discount without a currency",
      "discounts",
      { ...fixed, currency: null },
      422,
      "discount_currency_mismatch",
    ],
    [
      "a percentage with a currency",
      "discounts",
      { ...percent, currency: "USD" },
      422,
      "discount_currency_mismatch",
    ],
    ["a discount for zero periods", "discounts", { ...percent, periods: 0 }, 400, "/periods"],
    ["a discount for half a period", "discounts", { ...percent, periods: 1.5 }, 400, "/periods"],
    ["a discount of an unknown kind", "discounts", { ...percent, kind: "free" }, 400, "/kind"],
    ["an adjustment of 0", "adjustments", { ...charge, amount: "0" }, 400, "/amount zero"],
    ["an adjustment of minus zero", "adjustments", { ...charge, amount: "-0" }, 400, "/amount"],
    ["a missing description", "adjustments", { amount: "1", currency: "USD" }, 400, "/description"],
  ];
  for (const [title, noun, body, status, told] of wrong) {
    it(`refuse ${title} and store nothing`, async () => {
      const answer = await expectStatus(give(noun, body), status);
      const named = status === 400 ? (pointers(answer)?.join() ?? "") : answer.body["code"];
      expect(named).to.match(new RegExp(`^${told}`));
      expect((await list(noun)).body["data"]).to.deep.equal([]);
    });
  }

  it("are refused for an unknown organization, and without a platform credential", async () => {
    const merchant = await approvedMerchant(app);
    const own = `/v1/admin/organizations/${merchant.organizationId}/credits`;
    await expectStatus(app.request("POST", own, { key: merchant.key, body: credit }), 403);
    await expectStatus(app.request("GET", own, { token: merchant.token }), 403);
    await expectStatus(app.request("GET", own), 401);
    organizationId = "org_01kq3v5m8w2f6n9r4t7x0z1c3e";
    for (const [noun, body] of Object.entries({
      credits: credit,
      discounts: percent,
      adjustments: charge,
    })) {
      await expectStatus(list(noun), 404);
      await expectStatus(give(noun, body), 404);
    }
  });

  it("are granted once per Idempotency-Key and each time without one, even concurrently", async () => {
    const once = { "Idempotency-Key": "goodwill-1" };
    const [one, two] = await Promise.all([
      give("credits", credit, once),
      give("credits", credit, once),
    ]);
    const replay = await give("credits", credit, once);
    expect([one.status, two.status].filter((status) => status === 201)).to.not.have.length(0);
    expect(replay.headers.get("Idempotent-Replayed")).to.equal("true");
    expect((await list("credits")).body["data"]).to.have.length(1);
    await expectStatus(give("credits", { ...credit, amount: "1" }, once), 422);
    await Promise.all([give("credits", credit), give("credits", credit)]);
    expect(
      await countRows(app.app.db, "credits", "WHERE organization_id = $1", [organizationId]),
    ).to.equal(3);
  });

  it("expire at their expiry time", async () => {
    const expiresAt = toIso(app.clock.now() + day);
    await expectStatus(give("credits", { ...credit, expiresAt }), 201);
    app.clock.advance(2 * day);
    const [shown] = (await list("credits")).body["data"] as Body[];
    expect(shown).to.include({ status: "expired", expiresAt, remaining: "25.00" });
  });
});

describe("the amounts of discounts and adjustments", () => {
  it("are at most a million million whole units of their currency, in either direction", () => {
    for (const [currency, largest, more] of [
      ["USD", "1000000000000.00", "1000000000000.01"],
      ["JPY", "1000000000000", "1000000000001"],
    ] as const) {
      const reduced = (value: string) =>
        discount.parse({ kind: "fixed", value, currency, reason: "r" }, 0);
      const adjusted = (text: string) => {
        const terms = adjustment.parse({ amount: text, currency, description: "d" }, 0);
        return formatMoney(money(terms.amount, settlementAsset(terms.currency, terms.decimals)));
      };
      expect(reduced(largest)).to.include({ value: largest, currency });
      for (const sign of ["", "-"]) {
        expect(adjusted(`${sign}${largest}`)).to.equal(`${sign}${largest}`);
        expect(() => adjusted(`${sign}${more}`)).to.throw(BillingAmountTooLarge);
      }
      expect(() => reduced(more)).to.throw(BillingAmountTooLarge);
    }
  });
});
