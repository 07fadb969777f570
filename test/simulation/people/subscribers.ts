import { giveEntry } from "../../../src/features/billing/balances/balances.ts";
import { credit } from "../../../src/features/billing/balances/entries.ts";
import { cancelSubscription } from "../../../src/features/billing/lifecycle/cancel.ts";
import { selectPlan } from "../../../src/features/billing/subscriptions/subscriptions.ts";
import { platformInvoices } from "../../../src/features/billing/table.ts";
import { invoices } from "../../../src/features/invoices/table.ts";
import { day } from "../../../src/kernel/clock.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { testContext } from "../../support/store/stores.ts";
import type { Ground } from "../ground.ts";
import type { Payers } from "./payers.ts";
import { paidPlans } from "../stage.ts";
import type { Step } from "../steps.ts";

type BillStep = Extract<Step, { kind: "bill" }>;

/** Organizations that subscribe to plans and pay for them, and operators who cancel and grant credits. */
export interface Subscribers {
  readonly bill: (step: BillStep) => Promise<void>;
}

export function makeSubscribers(ground: Ground, { pay }: Payers): Subscribers {
  const { db, attempt, bill, look, mine, wait } = ground;
  const { cast } = ground.stage;

  const select = (owner: Id<"organization">, plan: (typeof paidPlans)[number]) =>
    attempt(({ app }) => selectPlan(app, testContext, owner, plan));

  const cancel = (owner: Id<"organization">, when: "now" | "period_end") =>
    attempt(({ app }) => cancelSubscription(app, testContext, owner, { when, reason: "A test" }));

  /** A trial whose first invoice is paid, in part or whole, and that an operator ends before its period begins. */
  async function endTrial(
    owner: Id<"organization">,
    { share, confirmed }: BillStep,
  ): Promise<void> {
    await select(owner, "trial");
    await bill();
    await payBill(owner, share);
    if (confirmed) mine(6);
    await look();
    await cancel(owner, "now");
  }

  return {
    async bill(step) {
      const owner = cast.organizations[step.organization];
      if (owner === undefined) return;
      switch (step.what) {
        case "select":
          await select(owner, paidPlans[step.share === 100 ? 0 : 1]);
          return;
        case "cancel":
          await cancel(owner, "now");
          return;
        case "cancel_later":
          await cancel(owner, "period_end");
          return;
        case "credit": {
          const amount = `${String(step.share)}.00`;
          const input = { amount, currency: "USD", reason: "Sorry" };
          await attempt(({ app }) => giveEntry(app, testContext, credit, owner, input));
          return;
        }
        case "month":
          return wait(31 * day);
        case "pay":
          return payBill(owner, step.share);
        case "trial":
          return endTrial(owner, step);
      }
    },
  };

  async function payBill(owner: Id<"organization">, share: number): Promise<void> {
    const rows = await db.find(
      platformInvoices,
      "WHERE organization_id = $1 AND twin_id IS NOT NULL ORDER BY id DESC",
      [owner],
    );
    const twinId = rows[0]?.twinId ?? null;
    const twin = twinId === null ? null : await db.findOne(invoices, "WHERE id = $1", [twinId]);
    if (twin !== null) await pay(twin, share === 100 ? "exact" : share > 100 ? "over" : "part");
  }
}
