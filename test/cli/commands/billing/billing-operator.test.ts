// The operator's billing commands, from due charges to issued invoices.
import { expect } from "chai";
import { day } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { boundary } from "../../../../src/features/billing/periods.ts";
import { platformInvoices, subscriptions } from "../../../../src/features/billing/table.ts";
import { subscription } from "../../../features/billing/balances/balance-fixture.ts";
import { context, makeDesk, type DeskStore } from "../../billing-operator.ts";

type Body = Readonly<Record<string, unknown>>;
const dataOf = (shown: unknown) => (shown as { data: Body[] }).data;

describe("till billing", () => {
  const desk = makeDesk({ TILL_NETWORKS: "sandbox" });
  let store: DeskStore;
  let organization: Id<"organization">;

  beforeEach(async () => {
    store = await desk.store();
    organization = await store.pendingOrganization();
  });

  /** A subscription to Growth whose first period ended yesterday. */
  function subscribe(): Promise<void> {
    return store.withApp(async ({ db, clock }) => {
      const anchorAt = boundary(clock.now() - day, "month", -1);
      const end = boundary(anchorAt, "month", 1);
      const period = { currentPeriodStart: anchorAt, currentPeriodEnd: end, nextActionAt: end };
      await db.write(context, (tx) =>
        tx.insert(subscriptions, subscription(organization, { anchorAt, ...period })),
      );
    });
  }
  const billing = (...words: string[]) => store.json(["billing", ...words]);
  const give = (...words: string[]) => billing(...words, "--organization", organization, "--yes");

  it("grants credits, discounts and adjustments, audited with the operator", async () => {
    const usd = ["--currency", "USD", "--reason", "Goodwill"];
    const credit = (await give("credit", "100.00", ...usd)) as Body;
    expect(credit).to.include({ amount: "100.00", remaining: "100.00", status: "available" });
    const discount = await give("discount", "15", "--periods", "3", "--reason", "Welcome");
    expect(discount).to.include({ kind: "percent", value: "15", periods: 3, status: "active" });
    const adjustment = (await give("adjust", "--amount=-4.10", ...usd)) as Body;
    expect(adjustment).to.include({ amount: "-4.10", description: "Goodwill", status: "pending" });
    for (const [action, made] of [
      ["credit.granted", credit],
      ["adjustment.created", adjustment],
    ] as const) {
      const [entry] = await store.audited(action);
      expect(entry).to.include({ actor_type: "operator", organization_id: organization });
      expect(String(made["createdBy"])).to.equal(entry?.["actor_label"]);
    }
    for (const noun of ["credits", "discounts", "adjustments"]) {
      expect(dataOf(await billing(noun, "--organization", organization)), noun).to.have.length(1);
    }
    await subscribe();
    const words = ["billing", "credit", "5.00", "--organization", organization, "--yes"];
    const abroad = await store.till([...words, "--currency", "EUR", "--reason", "Sorry"]);
    expect(abroad.code).to.not.equal(0);
    expect(abroad.stderr).to.contain("billed in USD");
    const silent = await store.till([...words, "--currency", "USD"]);
    expect([silent.code, silent.stderr.includes("--reason")]).to.deep.equal([2, true]);
  });

  it("previews what is due, bills it once, and shows what was billed", async () => {
    await subscribe();
    const usd = ["--currency", "USD", "--reason", "Goodwill"];
    await give("credit", "100.00", ...usd);
    await give("discount", "15", "--reason", "Welcome");
    await give("adjust", "--amount=-4.10", ...usd);
    const [listed] = dataOf(await billing("subscriptions", "--status", "active"));
    expect(listed).to.include({
      organizationId: organization,
      organizationName: "Nook",
      plan: "growth",
      owedInvoices: 0,
      parkReason: null,
    });
    const [rehearsed] = dataOf(await billing("rehearse", "--organization", organization));
    expect(rehearsed).to.include({
      subtotal: "44.90",
      discountTotal: "7.35",
      creditTotal: "37.55",
      total: "0.00",
      currency: "USD",
      invoicesSoFar: 0,
    });
    expect(dataOf(await billing("invoices"))).to.deep.equal([]);

    expect(await billing("run")).to.deep.equal({ due: 1, steps: 1, parked: 0 });
    expect(await billing("run")).to.deep.equal({ due: 0, steps: 0, parked: 0 });
    const [invoice] = dataOf(await billing("invoices"));
    expect(invoice).to.include({
      number: "TILL-000001",
      status: "paid",
      organizationName: "Nook",
      total: "0.00",
      periodStart: rehearsed?.["periodStart"],
    });
    const lines = (invoice?.["lines"] as Body[] | undefined)?.map(({ id: _id, ...line }) => line);
    expect(lines).to.be.an("array").and.to.deep.equal(rehearsed?.["lines"]);
    const [after] = dataOf(await billing("subscriptions"));
    expect(after?.["currentPeriodStart"]).to.equal(listed?.["currentPeriodEnd"]);

    const sound = await store.till(["billing", "verify"]);
    expect(sound.code, sound.stderr).to.equal(0);
    expect(sound.stdout).to.match(/^CHECK +VIOLATIONS +FIRST +RULE$/m);
    await store.withApp(({ db }) =>
      db.write(context, (tx) =>
        tx.update(platformInvoices, { subtotal: 4_491n }, "WHERE total = total"),
      ),
    );
    const broken = await store.till(["billing", "verify"]);
    expect(broken.code).to.not.equal(0);
    expect(broken.stderr).to.contain("billing.invoices");
    expect(broken.stdout).to.contain("TILL-000001");
  });

  it("explains why a subscription could not be billed, and when it is retried", async () => {
    await subscribe();
    expect(await billing("run")).to.deep.equal({ due: 1, steps: 0, parked: 1 });
    const [listed] = dataOf(await billing("subscriptions"));
    expect(String(listed?.["parkReason"])).to.contain("no_receive_wallet");
    expect(Date.parse(String(listed?.["nextActionAt"]))).to.be.above(Date.now());
    const { stdout } = await store.till(["billing", "subscriptions"]);
    expect(stdout).to.contain("FAILS BECAUSE").and.to.contain("till billing receive-wallet");
    expect(dataOf(await billing("invoices"))).to.deep.equal([]);
  });

  it("names an unknown organization or status", async () => {
    const nobody = "org_01kq3v5m8w2f6n9r4t7x0z1c3e";
    expect((await store.till(["billing", "rehearse", "--organization", nobody])).code).to.equal(5);
    const wrong = await store.till(["billing", "subscriptions", "--status", "lost"]);
    expect(wrong.code).to.equal(2);
    expect(wrong.stderr).to.contain("--status");
  });

  it("ends a subscription with the operator's reason", async () => {
    await subscribe();
    const words = ["cancel", "--organization", organization, "--reason", "The shop closes"];
    const tried = await store.till(["billing", ...words, "--yes", "--dry-run"]);
    expect(tried.code, tried.stderr).to.equal(0);
    const planned = (await billing(...words, "--when", "period_end", "--yes")) as Body;
    expect(planned).to.include({ status: "active", canceledAt: null });
    expect(Date.parse(String(planned["cancelAt"]))).to.be.a("number");
    const [listed] = dataOf(await billing("subscriptions"));
    expect(listed).to.include({ cancelAt: planned["cancelAt"] });
    expect(dataOf(await billing("rehearse")), "no next invoice").to.deep.equal([]);
    expect(await billing(...words, "--yes")).to.include({ status: "canceled", cancelAt: null });
    const [entry] = await store.audited("subscription.canceled");
    expect(entry).to.include({ actor_type: "operator", organization_id: organization });
    const again = await store.till(["billing", ...words, "--yes"]);
    expect(again.code).to.not.equal(0);
    expect(again.stderr).to.contain("already canceled");
    const wrong = await store.till(["billing", ...words, "--when", "someday", "--yes"]);
    expect(wrong.code).to.equal(2);
  });
});
