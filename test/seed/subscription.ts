// Sections 2, 3, 4.1 and 4.2: subscriptions, their open invoice, selecting a plan and scheduling a change.
import { expect } from "chai";
import { expectProblem } from "../http/problem.ts";
import { expectStatus, type Answer } from "../support/app.ts";
import { testFields, type, type Json } from "./fields.ts";
import type { Caller, World } from "./world.ts";

const subscriptionPath = "/billing/subscription";
const selectPath = `${subscriptionPath}/select`;
const select = (caller: Caller, plan: unknown) => caller.home("POST", selectPath, { plan });
const change = (caller: Caller, plan: unknown) => caller.home("PATCH", subscriptionPath, { plan });
const isJson = (answer: Answer) => {
  expect(answer.headers.get("Content-Type")).to.match(/^application\/json\b/);
};
const openInvoiceOf = (body: Json) => type.object(body["openInvoice"]);

/** A subscription's fields without those that a scheduled change adds. */
const withoutChange = ({
  pendingPlan: _plan,
  planChangeEffectiveAt: _at,
  openInvoice: _invoice,
  ...rest
}: Json) => rest;

export function subscriptionTests(world: () => World): void {
  describe("a subscription", () => {
    let shop: Caller;
    let selected: Answer;
    let changed: Answer;

    before(async () => {
      shop = await world().merchant();
      selected = await expectStatus(select(shop, "growth"), 200);
      changed = await expectStatus(change(shop, "scale"), 200);
    });

    testFields(
      "Subscription",
      [
        ["id", "a string, the subscription's identifier", type.string],
        ["plan", "a string, the plan's identifier", (value) => expect(value).to.equal("growth")],
        [
          "planName",
          "a string, the display name of the plan",
          async (value) => {
            const { body } = await shop.ask("GET", "/billing/plans");
            const plans = body["data"] as readonly Json[];
            expect(value).to.equal(plans.find(({ id }) => id === "growth")?.["name"]);
          },
        ],
        ["status", "a string, the subscription's status", type.string],
        [
          "currentPeriodStart",
          "a date-time, the start of the current billing period",
          type.dateTime,
        ],
        [
          "currentPeriodEnd",
          "a date-time, the end of the current billing period",
          (value) => {
            expect(type.dateTime(value) > (changed.body["currentPeriodStart"] as string)).to.equal(
              true,
            );
          },
        ],
        ["trialEndsAt", "a date-time, the end of the trial", type.dateTime],
        [
          "pendingPlan",
          "a string, the plan identifier of a scheduled change",
          (value) => expect(value).to.equal("scale"),
        ],
        [
          "planChangeEffectiveAt",
          "a date-time, the moment at which the change takes effect",
          type.dateTime,
        ],
        ["openInvoice", "an object, the open platform invoice", type.object],
      ],
      () => changed.body,
    );

    it("§2 Subscription is the answer of both billing write operations, with the same fields", () => {
      expect(Object.keys(selected.body).sort()).to.deep.equal(Object.keys(changed.body).sort());
      const { pendingPlan, planChangeEffectiveAt } = selected.body;
      expect([pendingPlan, planChangeEffectiveAt]).to.deep.equal([null, null]);
    });

    testFields(
      "SubscriptionOpenInvoice",
      [
        [
          "id",
          "a string, by which the platform invoice is read",
          async (value) => {
            const read = await shop.home("GET", `/billing/invoices/${type.string(value)}`);
            expect(read.body).to.include({ id: value, status: "open" });
          },
        ],
        ["status", "a string", (value) => expect(value).to.equal("open")],
        ["total", "a string, an amount as text", type.amount],
        ["currency", "a string", (value) => expect(value).to.equal("USD")],
        [
          "checkoutUrl",
          "a string, the address of the checkout page for this invoice",
          async (value) => {
            const url = new URL(type.uri(value));
            const page = await fetch(url, { headers: { Accept: "text/html" } });
            expect(page.status).to.equal(200);
            expect(page.headers.get("Content-Type")).to.match(/^text\/html\b/);
            const session = await fetch(
              new URL(url.pathname.replace("/pay/", "/v1/checkout/"), url),
            );
            const { invoice } = (await session.json()) as {
              readonly invoice: { readonly id: string };
            };
            expect(invoice.id).to.equal(openInvoiceOf(changed.body)["merchantInvoicePublicId"]);
          },
        ],
        [
          "merchantInvoicePublicId",
          "a string, the invoice that the checkout shows",
          async (value) => {
            const url = type.uri(openInvoiceOf(changed.body)["checkoutUrl"]);
            const session = await shop.ask("GET", `/checkout/${url.split("/").at(-1) ?? ""}`);
            expect(type.object(session.body["invoice"])["id"]).to.equal(value);
          },
        ],
      ],
      () => openInvoiceOf(changed.body),
    );
  });

  for (const [record, method, path] of [
    ["ChangePlanRequest", "PATCH", subscriptionPath],
    ["SelectPlanRequest", "POST", selectPath],
  ] as const) {
    it(`§2 ${record} has the field plan, a string with a plan identifier, and no other value passes`, async () => {
      const shop = await world().merchant();
      if (method === "PATCH") await expectStatus(select(shop, "growth"), 200);
      for (const body of [
        {},
        { plan: 1 },
        { plan: null },
        { plan: "" },
        { plan: ["scale"] },
        { plan: { id: "scale" } },
      ]) {
        const faults = expectProblem(await shop.home(method, path, body), 400, "invalid_request");
        expect(faults.map(({ pointer }) => pointer)).to.deep.equal(["/plan"]);
      }
      expectProblem(await shop.home(method, path, { plan: "no such plan" }), 422, "unknown_plan");
      if (method === "PATCH") {
        const { body } = await shop.home("GET", subscriptionPath);
        expect(body).to.include({ plan: "growth", pendingPlan: null });
      } else {
        expectProblem(await shop.home("GET", subscriptionPath), 404, "no_subscription");
      }
    });
  }

  describe("selecting a plan", () => {
    it("§3 leads from no subscription to the status trialing, and starts a trial", async () => {
      const shop = await world().merchant();
      expectProblem(await shop.home("GET", subscriptionPath), 404, "no_subscription");
      const { body } = await expectStatus(select(shop, "growth"), 200);
      expect(body).to.include({ plan: "growth", status: "trialing" });
      expect(await shop.home("GET", subscriptionPath)).to.have.property("status", 200);
    });

    it("§3 answers with trialEndsAt, the period bounds and openInvoice", async () => {
      const shop = await world().merchant();
      const { body } = await expectStatus(select(shop, "scale"), 200);
      const now = new Date(world().estate.clock.now()).toISOString();
      expect(type.dateTime(body["trialEndsAt"]) > now).to.equal(true);
      expect(type.dateTime(body["currentPeriodStart"]) <= now).to.equal(true);
      expect(type.dateTime(body["currentPeriodEnd"])).to.equal(body["trialEndsAt"]);
      expect(openInvoiceOf(body)).to.include({ status: "open", total: "199.00" });
    });

    it("§4.2 is POST /organizations/{organizationId}/billing/subscription/select with a body, and answers 200 application/json", async () => {
      const shop = await world().merchant();
      expectProblem(await shop.home("POST", selectPath), 400, "invalid_request");
      const answer = await select(shop, "growth");
      expect(answer.status, answer.text).to.equal(200);
      isJson(answer);
      expectProblem(
        await shop.home("PUT", selectPath, { plan: "growth" }),
        405,
        "method_not_allowed",
      );
    });

    it("§4.2 of an organization of another is not found", async () => {
      const [shop, other] = [await world().merchant(), await world().merchant()];
      const path = `/organizations/${other.organizationId}${selectPath}`;
      expectProblem(await shop.ask("POST", path, { plan: "growth" }), 404, "not_found");
      expectProblem(await other.home("GET", subscriptionPath), 404, "no_subscription");
    });

    it("§4.2 where a plan is selected already conflicts, and changes nothing", async () => {
      const shop = await world().merchant();
      await expectStatus(select(shop, "growth"), 200);
      const before = (await shop.home("GET", subscriptionPath)).body;
      expectProblem(await select(shop, "scale"), 409, "subscription_exists");
      expect((await shop.home("GET", subscriptionPath)).body).to.deep.equal(before);
    });
  });

  describe("scheduling a plan change", () => {
    /** The steps that bring a subscription to each status. `plan` is its plan then. */
    const states: Readonly<Record<string, (shop: Caller) => Promise<{ readonly status: string }>>> =
      {
        "trialing and unpaid": () => Promise.resolve({ status: "trialing" }),
        "trialing and paid": async (shop) => {
          await payOpenInvoice(shop);
          return { status: "trialing" };
        },
        active: async (shop) => {
          await payOpenInvoice(shop);
          await world().estate.live(15);
          return { status: "active" };
        },
        "past due": async () => {
          await world().estate.live(15);
          return { status: "past_due" };
        },
        suspended: async () => {
          await world().estate.live(15);
          await world().estate.live(8);
          return { status: "suspended" };
        },
      };

    async function payOpenInvoice(shop: Caller): Promise<void> {
      const { body } = await shop.home("GET", subscriptionPath);
      await world().estate.pay(type.string(openInvoiceOf(body)["id"]));
    }

    for (const [name, reach] of Object.entries(states)) {
      it(`§3 any existing subscription: while ${name}, the request leaves plan and status, and schedules the plan for the end of the current period`, async () => {
        const shop = await world().merchant();
        await expectStatus(select(shop, "growth"), 200);
        const expected = await reach(shop);
        const before = (await shop.home("GET", subscriptionPath)).body;
        expect(before).to.include({ plan: "growth", pendingPlan: null, ...expected });
        const answer = await change(shop, "scale");
        expect(answer.status, answer.text).to.equal(200);
        expect(answer.body).to.include({
          pendingPlan: "scale",
          planChangeEffectiveAt: before["currentPeriodEnd"],
        });
        expect(withoutChange(answer.body)).to.deep.equal(withoutChange(before));
        expect((await shop.home("GET", subscriptionPath)).body).to.deep.equal(answer.body);
      });
    }

    it("§3 takes effect at planChangeEffectiveAt, and then nothing is pending", async () => {
      const shop = await world().merchant();
      await expectStatus(select(shop, "growth"), 200);
      await payOpenInvoice(shop);
      await world().estate.live(15);
      const { body } = await expectStatus(change(shop, "scale"), 200);
      const end = Date.parse(type.dateTime(body["planChangeEffectiveAt"]));
      const { clock } = world().estate;
      clock.advance(end - clock.now() - 60_000);
      await world().estate.live(0);
      expect((await shop.home("GET", subscriptionPath)).body).to.include({
        plan: "growth",
        pendingPlan: "scale",
      });
      clock.advance(5 * 60_000);
      await world().estate.live(0);
      expect((await shop.home("GET", subscriptionPath)).body).to.include({
        plan: "scale",
        pendingPlan: null,
        planChangeEffectiveAt: null,
      });
    });

    it("§3 takes effect at the end of the trial where it was asked for during the trial", async () => {
      const shop = await world().merchant();
      const { body } = await expectStatus(select(shop, "growth"), 200);
      const changed = await expectStatus(change(shop, "scale"), 200);
      expect(changed.body["planChangeEffectiveAt"]).to.equal(body["trialEndsAt"]);
      await payOpenInvoice(shop);
      await world().estate.live(15);
      expect((await shop.home("GET", subscriptionPath)).body).to.include({
        plan: "scale",
        status: "active",
        pendingPlan: null,
        planChangeEffectiveAt: null,
      });
    });

    it("§3 back to the current plan leaves nothing scheduled, and another plan replaces the scheduled one", async () => {
      const shop = await world().merchant();
      await expectStatus(select(shop, "growth"), 200);
      await expectStatus(change(shop, "scale"), 200);
      const replaced = await expectStatus(change(shop, "starter"), 200);
      expect(replaced.body).to.include({ plan: "growth", pendingPlan: "starter" });
      const cleared = await expectStatus(change(shop, "growth"), 200);
      expect(cleared.body).to.include({
        plan: "growth",
        pendingPlan: null,
        planChangeEffectiveAt: null,
      });
    });

    it("§3 asked for many times at once, is scheduled once", async () => {
      const shop = await world().merchant();
      await expectStatus(select(shop, "growth"), 200);
      const answers = await Promise.all(Array.from({ length: 5 }, () => change(shop, "scale")));
      for (const answer of answers) {
        expect(answer.status, answer.text).to.equal(200);
        expect(answer.body).to.include({ plan: "growth", pendingPlan: "scale" });
      }
    });

    it("§3 without a subscription finds none, and of a canceled one conflicts, with nothing half applied", async () => {
      const shop = await world().merchant();
      expectProblem(await change(shop, "scale"), 404, "no_subscription");
      await expectStatus(select(shop, "growth"), 200);
      // Due when the trial ends, suspended 7 days after that, canceled after 30 more.
      for (const days of [15, 8, 31]) await world().estate.live(days);
      const before = (await shop.home("GET", subscriptionPath)).body;
      expect(before).to.include({ status: "canceled" });
      expectProblem(await change(shop, "scale"), 409, "subscription_not_changeable");
      expect((await shop.home("GET", subscriptionPath)).body).to.deep.equal(before);
    });

    it("§4.1 is PATCH /organizations/{organizationId}/billing/subscription, and answers 200 application/json", async () => {
      const shop = await world().merchant();
      await expectStatus(select(shop, "growth"), 200);
      const answer = await change(shop, "starter");
      expect(answer.status, answer.text).to.equal(200);
      isJson(answer);
      expectProblem(
        await shop.home("POST", subscriptionPath, { plan: "starter" }),
        405,
        "method_not_allowed",
      );
    });

    it("§4.1 of an organization of another is not found, and changes nothing there", async () => {
      const [shop, other] = [await world().merchant(), await world().merchant()];
      await expectStatus(select(other, "growth"), 200);
      const before = (await other.home("GET", subscriptionPath)).body;
      const path = `/organizations/${other.organizationId}${subscriptionPath}`;
      expectProblem(await shop.ask("PATCH", path, { plan: "scale" }), 404, "not_found");
      expect((await other.home("GET", subscriptionPath)).body).to.deep.equal(before);
    });
  });
}
