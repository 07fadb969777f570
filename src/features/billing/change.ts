import { toIso, type Instant } from "../../kernel/clock.ts";
import type { Problem } from "../../kernel/errors.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { Reader, Tx } from "../../platform/database/index.ts";
import type { PaymentService } from "../payments/index.ts";
import { PlanCurrencyDiffers, SubscriptionNotChangeable } from "./errors.ts";
import type { Issuer } from "./issue.ts";
import { periodAt } from "./periods.ts";
import { decidePlanChange } from "./plan-change.ts";
import type { Terms } from "./plans.ts";
import { requireReceiveWallet } from "./receive-wallet.ts";
import { saveSubscription, type Scene } from "./subscription-store.ts";
import {
  platformInvoices,
  platformInvoiceTwins,
  type PlatformInvoiceRow,
  type SubscriptionRow,
} from "./table.ts";
import type { Teller } from "./tell.ts";
import type { VoidInvoice } from "./void.ts";

/**
 * Has another plan come to a locked subscription, at once or later, as `decidePlanChange` says; gives the subscription
 * as it is then. Throws `subscription_not_changeable`, `plan_currency_differs`, `no_receive_wallet`, and what a twin
 * throws.
 */
export type PlanChanges = (
  tx: Tx,
  at: Instant,
  scene: Scene,
  plan: Terms,
) => Promise<SubscriptionRow>;

export function makePlanChanges(deps: {
  readonly networks: ReadonlyMap<string, Network>;
  readonly payments: Pick<PaymentService, "ofInvoice">;
  readonly voidInvoice: VoidInvoice;
  readonly issuer: Issuer;
  readonly teller: Teller;
}): PlanChanges {
  const { networks, payments, voidInvoice, issuer, teller } = deps;

  /** The invoice of the period that a trial leads to, with whatever came for it. */
  async function firstInvoice(tx: Tx, { subscription }: Scene) {
    if (subscription.status !== "trialing") return { invoice: null, hasPayments: false };
    const invoice = await tx.findOne(
      platformInvoices,
      "WHERE subscription_id = $1 AND period_start = $2 AND status <> 'void'",
      [subscription.id, subscription.anchorAt],
    );
    if (invoice === null) return { invoice, hasPayments: false };
    const pairs = await tx.find(platformInvoiceTwins, "WHERE platform_invoice_id = $1", [
      invoice.id,
    ]);
    const came = await Promise.all(pairs.map(({ twinId }) => payments.ofInvoice(tx, twinId)));
    return { invoice, hasPayments: came.some((each) => each.length > 0) };
  }

  /** Another plan on trial: its first invoice takes the place of the one that there was. */
  async function replace(
    tx: Tx,
    at: Instant,
    scene: Scene,
    plan: Terms,
    invoice: PlatformInvoiceRow | null,
  ): Promise<SubscriptionRow> {
    const { subscription } = scene;
    const before = subscription.terms.id;
    if (invoice !== null) await voidInvoice(tx, at, invoice, scene);
    const saved = await saveSubscription(tx, at, subscription, {
      ...{ terms: plan, pendingPlan: null, planChangeEffectiveAt: null },
      ...{ nextActionAt: at },
    });
    await issuer.issue(tx, at, {
      ...{ subscription: saved, terms: saved.terms, elapsed: null },
      period: periodAt(saved.anchorAt, plan.interval, 0),
      dueAt: invoice?.dueAt ?? saved.trialEndsAt,
    });
    const changes = { plan: { from: before, to: plan.id } };
    await teller.subscription(tx, at, "subscription.plan_changed", saved, changes);
    return saved;
  }

  async function requireChangeable(
    reader: Reader,
    { terms }: SubscriptionRow,
    plan: Terms,
  ): Promise<void> {
    if (plan.currency !== terms.currency) {
      throw new PlanCurrencyDiffers(
        `The subscription is billed in ${terms.currency}. Choose a plan in that currency.`,
      );
    }
    await requireReceiveWallet(reader, networks, plan);
  }

  return async (tx, at, scene, plan) => {
    const { subscription } = scene;
    if (subscription.cancelAt !== null) {
      throw new SubscriptionNotChangeable(
        `The platform's operator has it end at ${toIso(subscription.cancelAt)}: ask them first.`,
      );
    }
    const { invoice, hasPayments } = await firstInvoice(tx, scene);
    const decided = decidePlanChange(subscription, plan.id, invoice, hasPayments);
    const { pendingPlan } = subscription;
    switch (decided.kind) {
      case "refused":
        throw notChangeable(subscription);
      case "unchanged":
        return subscription;
      case "cleared": {
        const saved = await saveSubscription(tx, at, subscription, {
          ...{ pendingPlan: null, planChangeEffectiveAt: null },
        });
        const changes = { pendingPlan: { from: pendingPlan, to: null } };
        await teller.subscription(tx, at, "subscription.plan_change_dropped", saved, changes);
        return saved;
      }
      case "scheduled": {
        await requireChangeable(tx, subscription, plan);
        const saved = await saveSubscription(tx, at, subscription, {
          ...{ pendingPlan: plan.id, planChangeEffectiveAt: decided.effectiveAt },
        });
        const changes = { pendingPlan: { from: pendingPlan, to: plan.id } };
        await teller.subscription(tx, at, "subscription.plan_change_scheduled", saved, changes);
        return saved;
      }
      case "replaced":
      case "reissued":
        await requireChangeable(tx, subscription, plan);
        return replace(tx, at, scene, plan, invoice);
    }
  };
}

function notChangeable({ status }: SubscriptionRow): Problem {
  return new SubscriptionNotChangeable(
    status === "suspended"
      ? "It is suspended: pay its open invoice first, then change the plan."
      : "It is canceled: select a plan again instead.",
  );
}
