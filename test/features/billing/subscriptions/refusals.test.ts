// Requests that billing refuses: each gets its own problem and leaves every row unchanged.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import {
  expectStatus,
  type Answer,
  type Merchant,
  type RequestOptions,
} from "../../../support/app.ts";
import { describedOperation } from "../../../support/declared.ts";
import { dumpStore } from "../../../support/store/dump.ts";
import { eachStore, takeTurns } from "../../../support/store/stores.ts";
import { openEstate, plansFile, type Estate } from "../billing-fleet.ts";

type Body = Readonly<Record<string, unknown>>;

/** The state of the organization that makes the request. */
type Who = "nobody yet" | "on trial" | "active" | "suspended" | "canceled";

interface Refusal {
  readonly title: string;
  readonly of: Who;
  readonly method: "POST" | "PATCH";
  /** The path below the organization's billing path. */
  readonly path: string;
  readonly body: Body;
  readonly status: number;
  /** The problem's code, or the `/pointer code` of the wrong field. */
  readonly told: string;
}

const select = (of: Who, body: Body, status: number, told: string, title: string): Refusal => ({
  title,
  of,
  body,
  status,
  told,
  method: "POST",
  path: "subscription/select",
});
const change = (of: Who, body: Body, status: number, told: string, title: string): Refusal => ({
  title,
  of,
  body,
  status,
  told,
  method: "PATCH",
  path: "subscription",
});

const subscriptionRefusals: readonly Refusal[] = [
  select("nobody yet", { plan: "gold" }, 422, "unknown_plan", "an unknown plan"),
  select("nobody yet", { plan: "" }, 400, "/plan", "an empty plan"),
  select("nobody yet", { plan: 3 }, 400, "/plan", "a plan that is a number"),
  select("nobody yet", {}, 400, "/plan", "a missing plan"),
  select("nobody yet", { plan: "growth", coupon: "X" }, 400, "/coupon", "an unknown field"),
  change(
    "nobody yet",
    { plan: "growth" },
    404,
    "no_subscription",
    "a change without a subscription",
  ),
  change("nobody yet", { plan: "gold" }, 422, "unknown_plan", "a change to an unknown plan"),
  select("on trial", { plan: "scale" }, 409, "subscription_exists", "a second selection"),
  select(
    "active",
    { plan: "growth" },
    409,
    "subscription_exists",
    "a second selection of the current plan",
  ),
  select(
    "active",
    { plan: "starter" },
    409,
    "subscription_exists",
    "a second selection when active",
  ),
  select(
    "suspended",
    { plan: "growth" },
    409,
    "subscription_exists",
    "a selection while suspended",
  ),
  change("suspended", { plan: "gold" }, 422, "unknown_plan", "a change to an unknown plan"),
  select("canceled", { plan: "growth" }, 409, "platform_invoice_unpaid", "a selection with a debt"),
  change(
    "canceled",
    { plan: "scale" },
    409,
    "subscription_not_changeable",
    "a change after the cancellation",
  ),
  change(
    "canceled",
    { plan: "growth" },
    409,
    "subscription_not_changeable",
    "a change to the same plan after the cancellation",
  ),
];

const credit = { amount: "5.00", currency: "USD", reason: "Sorry" };
const fixed = { kind: "fixed", value: "5", currency: "USD", reason: "Partner" };
const percent = { kind: "percent", value: "10", reason: "Partner" };
const adjustment = { amount: "5.00", currency: "USD", description: "Setup" };

type Given = readonly [title: string, noun: string, body: Body, status: number, told: string];
const ledgerRefusals: readonly Given[] = [
  ["a credit of zero", "credits", { ...credit, amount: "0" }, 400, "/amount not_positive"],
  ["a negative credit", "credits", { ...credit, amount: "-5.00" }, 400, "/amount"],
  [
    "a credit in another currency",
    "credits",
    { ...credit, currency: "EUR" },
    422,
    "billing_currency_differs",
  ],
  [
    "a credit in an unknown currency",
    "credits",
    { ...credit, currency: "XYZ" },
    422,
    "currency_not_billed",
  ],
  [
    "a credit that has already expired",
    "credits",
    { ...credit, expiresAt: "2026-01-01T00:00:00.000Z" },
    400,
    "/expiresAt in_the_past",
  ],
  ["a credit without a reason", "credits", { amount: "5", currency: "USD" }, 400, "/reason"],
  [
    "a discount above 100 %",
    "discounts",
    { ...percent, value: "100.01" },
    400,
    "/value not_percent",
  ],
  ["a discount without a reason", "discounts", { kind: "percent", value: "10" }, 400, "/reason"],
  [
    "a fixed discount in another currency",
    "discounts",
    { ...fixed, currency: "EUR" },
    422,
    "billing_currency_differs",
  ],
  [
    "a fixed discount without a currency",
    "discounts",
    { kind: "fixed", value: "5", reason: "Partner" },
    422,
    "discount_currency_mismatch",
  ],
  ["an adjustment of zero", "adjustments", { ...adjustment, amount: "0.00" }, 400, "/amount zero"],
  [
    "an adjustment in another currency",
    "adjustments",
    { ...adjustment, currency: "EUR" },
    422,
    "billing_currency_differs",
  ],
  [
    "an adjustment without a description",
    "adjustments",
    { amount: "5", currency: "USD" },
    400,
    "/description",
  ],
];

const statuses: Readonly<Partial<Record<Who, string>>> = {
  "on trial": "trialing",
  active: "active",
  suspended: "suspended",
  canceled: "canceled",
};

function expectTold({ status, body, text }: Answer, expected: number, told: string): void {
  expect(status, text).to.equal(expected);
  const errors = body["errors"] as { pointer: string; code: string }[] | undefined;
  const named = errors?.map(({ pointer, code }) => `${pointer} ${code}`).join() ?? "";
  expect(expected === 400 ? named : body["code"]).to.match(new RegExp(`^${told}`));
  expect(body).to.include.keys("type", "title", "detail");
}

eachStore("billing refuses", (store) => {
  const it = takeTurns(store);
  let estate: Estate;
  const shops = new Map<Who, Merchant>();

  const shop = (of: Who): Merchant => {
    const found = shops.get(of);
    if (found === undefined) throw new Error(`nobody is ${of}`);
    return found;
  };
  const ask = (method: string, path: string, options: RequestOptions): Promise<Answer> =>
    estate.app.request(method, path, options);

  /** Makes a request, and expects its refusal and every row unchanged. */
  async function refuse(asked: () => Promise<Answer>, status: number, told: string): Promise<void> {
    const before = await dumpStore(estate.db);
    expectTold(await asked(), status, told);
    expect(await dumpStore(estate.db)).to.equal(before);
  }

  // The organizations select their plans at different times within seven weeks; one of them pays.
  before(async () => {
    estate = await openEstate({ place: await store.place("migrated") });
    const join = async (of: Who) => {
      const merchant = await estate.merchant();
      shops.set(of, merchant);
      if (of !== "nobody yet") await expectStatus(estate.select(merchant, "growth"), 200);
    };
    await join("canceled");
    await estate.live(14.1);
    await estate.live(7.1);
    await estate.live(6);
    await join("active");
    await estate.pay((await estate.subscription(shop("active"))).openInvoice?.id ?? "");
    await join("suspended");
    await estate.live(14.2);
    await estate.live(10.2);
    await join("on trial");
    await join("nobody yet");
    for (const [of, merchant] of shops) {
      shops.set(of, { ...merchant, token: await estate.tokenOf(merchant) });
      const status = statuses[of];
      if (status === undefined) continue;
      expect((await estate.subscription(merchant)).status).to.equal(status);
    }
  });
  after(() => estate.stop());

  for (const { title, of, method, path, body, status, told } of subscriptionRefusals) {
    it(`${title} (organization: ${of})`, () =>
      refuse(
        () => ask(method, `${shop(of).path}/billing/${path}`, { token: shop(of).token, body }),
        status,
        told,
      ));
  }

  for (const [title, noun, body, status, told] of ledgerRefusals) {
    it(title, () =>
      refuse(
        () =>
          ask("POST", `/v1/admin/organizations/${shop("active").organizationId}/${noun}`, {
            key: estate.platformKey,
            body,
          }),
        status,
        told,
      ),
    );
  }

  it("a currency in which no plan is billed, before a subscription exists", () =>
    refuse(
      () =>
        ask("POST", `/v1/admin/organizations/${shop("nobody yet").organizationId}/credits`, {
          key: estate.platformKey,
          body: { ...credit, currency: "EUR" },
        }),
      422,
      "currency_not_billed",
    ));

  it("access to another organization with 404", async () => {
    const { token } = shop("active");
    const { path, organizationId } = shop("on trial");
    const body = { plan: "scale" };
    const foreign: readonly (readonly [string, string, Body | null])[] = [
      ["GET", `${path}/billing/subscription`, null],
      ["POST", `${path}/billing/subscription/select`, body],
      ["PATCH", `${path}/billing/subscription`, body],
      ["GET", `${path}/billing/invoices`, null],
    ];
    for (const [method, of, sent] of foreign) {
      const options = sent === null ? { token } : { token, body: sent };
      await refuse(() => ask(method, of, options), 404, "not_found");
    }
    const granted = `/v1/admin/organizations/${organizationId}/credits`;
    await refuse(() => ask("POST", granted, { token, body: credit }), 403, "");
    const nobody = "/v1/admin/organizations/org_01kq3v5m8w2f6n9r4t7x0z1c3e/credits";
    await refuse(
      () => ask("POST", nobody, { key: estate.platformKey, body: credit }),
      404,
      "not_found",
    );
  });

  it("nothing if the plan on trial or the current plan is requested again", async () => {
    const trial = shop("on trial");
    const before = await dumpStore(estate.db);
    const shown = await estate.subscription(trial);
    const body = { plan: "growth" };
    const { token } = trial;
    for (const [method, path] of [
      ["POST", "subscription/select"],
      ["PATCH", "subscription"],
    ] as const) {
      const again = ask(method, `${trial.path}/billing/${path}`, { token, body });
      expect((await expectStatus(again, 200)).body).to.deep.equal(shown);
    }
    const active = shop("active");
    const kept = ask("PATCH", `${active.path}/billing/subscription`, { token: active.token, body });
    expect((await expectStatus(kept, 200)).body).to.include({ plan: "growth", pendingPlan: null });
    expect(await dumpStore(estate.db)).to.equal(before);
  });

  it.onBoth("the second of two concurrent changes with the same ETag", async () => {
    const { path, token } = shop("active");
    const target = `${path}/billing/subscription`;
    const read = await expectStatus(ask("GET", target, { token }), 200);
    const headers = { "If-Match": read.headers.get("ETag") ?? "" };
    const answers = await Promise.all(
      ["scale", "starter"].map((plan) => ask("PATCH", target, { token, headers, body: { plan } })),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 412]);
    const changed = answers.find(({ status }) => status === 200);
    expect((await estate.subscription(shop("active"))).pendingPlan).to.equal(
      changed?.body["pendingPlan"],
    );
    await refuse(() => ask("PATCH", target, { token, headers, body: { plan: "growth" } }), 412, "");
  });

  it("paid plans without an exchange rate, as both operations declare", async () => {
    const folder = await mkdtemp(join(tmpdir(), "till rates "));
    const rates = join(folder, "rates.yaml");
    const source = "{ name: nobody, url: 'http://127.0.0.1:9/', value: /rate }";
    await writeFile(rates, `pairs:\n  EUR/USD: { sources: [${source}] }\n`);
    const euro = { currency: "EUR", trialDays: 14 };
    const plans = plansFile({ free: { ...euro, price: "0" }, paid: { ...euro, price: "49.00" } });
    const settings = { TILL_RATES: "on", TILL_RATES_FILE: rates, TILL_PLANS_FILE: plans };
    const abroad = await openEstate({ place: await store.place("migrated"), settings });
    try {
      const merchant = await abroad.merchant();
      const refuseBy = async (method: "POST" | "PATCH", path: string, answer: Promise<Answer>) => {
        const refused = await answer;
        expectTold(refused, 503, "rate_unavailable");
        expect(refused.headers.get("Retry-After")).to.equal("10");
        const declared = describedOperation(method, merchant.path + path)?.responses["503"];
        expect(declared?.description).to.include("rate_unavailable");
      };
      const select = "/billing/subscription/select";
      await refuseBy("POST", select, abroad.select(merchant, "paid"));
      const free = await expectStatus(abroad.select(merchant, "free"), 200);
      await refuseBy("PATCH", "/billing/subscription", abroad.change(merchant, "paid"));
      expect(await abroad.subscription(merchant)).to.deep.equal(free.body);
      expect(await abroad.invoices(merchant)).to.deep.equal([]);
    } finally {
      await abroad.stop();
      await rm(folder, { recursive: true });
    }
  });

  it("paid plans, but not free ones, while the platform cannot be paid", async () => {
    const plans = plansFile({
      starter: { price: "0" },
      growth: { price: "49.00", trialDays: 14 },
      metered: { price: "0", includedInvoices: 5, overagePrice: "0.35" },
    });
    const place = await store.place("migrated");
    const poor = await openEstate({ place, settings: { TILL_PLANS_FILE: plans }, receive: null });
    try {
      const merchant = await poor.merchant();
      const token = await poor.tokenOf(merchant);
      const target = `${merchant.path}/billing/subscription/select`;
      const before = await dumpStore(poor.db);
      for (const plan of ["growth", "metered"]) {
        const refused = await poor.app.request("POST", target, { token, body: { plan } });
        expectTold(refused, 409, "no_receive_wallet");
        expect(refused.body["detail"]).to.contain("till billing receive-wallet");
        expect(await dumpStore(poor.db)).to.equal(before);
      }
      await expectStatus(
        poor.app.request("POST", target, { token, body: { plan: "starter" } }),
        200,
      );
      expect(await poor.invoices(merchant)).to.deep.equal([]);
    } finally {
      await poor.stop();
    }
  });
});
