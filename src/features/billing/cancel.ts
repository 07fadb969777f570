import { toIso, type Instant } from "../../kernel/clock.ts";
import type { Tx } from "../../platform/database/index.ts";
import { SubscriptionNotChangeable } from "./errors.ts";
import { noPlanChange, saveSubscription, type Scene } from "./subscription-store.ts";
import type { SubscriptionRow } from "./table.ts";
import type { Teller } from "./tell.ts";
import type { VoidInvoice } from "./void.ts";

/** When a subscription ends that an operator cancels; `never` takes back an end that is to come. */
export const cancelTimes = ["now", "period_end", "never"] as const;
export type CancelTime = (typeof cancelTimes)[number];

export interface Cancellation {
  readonly when: CancelTime;
  /** Kept in the audit log. */
  readonly reason: string;
}

/**
 * Ends subscriptions for an operator. Debts for periods that began stay. The invoice of a period that never begins is
 * void, a paid one too: otherwise it would depend on the block of a payment whether the merchant keeps the money.
 */
export interface Cancellations {
  /**
   * Ends a locked subscription now, or has it end with its period, whatever change of plan was to come. Throws
   * `subscription_not_changeable` where it is over, or there is no period to wait for.
   */
  cancel(tx: Tx, at: Instant, scene: Scene, cancellation: Cancellation): Promise<SubscriptionRow>;
  /** Ends it at a boundary, as was asked for before; gives the scene after it. */
  end(tx: Tx, at: Instant, scene: Scene, boundary: Instant): Promise<Scene>;
}

export function makeCancellations(deps: {
  readonly teller: Teller;
  readonly voidInvoice: VoidInvoice;
}): Cancellations {
  const { teller, voidInvoice } = deps;

  async function endAt(
    tx: Tx,
    at: Instant,
    scene: Scene,
    boundary: Instant,
    changes: Readonly<Record<string, unknown>>,
  ): Promise<Scene> {
    const unbegun = [...scene.invoices, ...scene.paidAhead].filter(
      ({ periodStart }) => periodStart >= boundary,
    );
    for (const invoice of unbegun) await voidInvoice(tx, at, invoice, scene);
    const subscription = await saveSubscription(tx, at, scene.subscription, {
      ...{ status: "canceled", statusReason: "operator", canceledAt: at, cancelAt: null },
      ...noPlanChange,
      nextActionAt: at,
    });
    await teller.subscription(tx, at, "subscription.canceled", subscription, changes);
    return {
      ...scene,
      subscription,
      invoices: scene.invoices.filter((one) => !unbegun.includes(one)),
      paidAhead: scene.paidAhead.filter((one) => !unbegun.includes(one)),
    };
  }

  return {
    async cancel(tx, at, scene, { when, reason }) {
      const { subscription } = scene;
      const { status, currentPeriodEnd, pendingPlan } = subscription;
      if (status === "canceled") throw new SubscriptionNotChangeable("It is canceled already.");
      if (when === "now") {
        // A period that begins in this very moment has begun.
        return (await endAt(tx, at, scene, at + 1, { reason })).subscription;
      }
      if (status === "suspended" && when === "period_end") {
        throw new SubscriptionNotChangeable(
          "It is suspended, so no period of it runs. Cancel it now, or leave it: it is canceled when it stays unpaid.",
        );
      }
      const cancelAt = when === "never" ? null : currentPeriodEnd;
      if (cancelAt === subscription.cancelAt) return subscription;
      const saved = await saveSubscription(tx, at, subscription, {
        ...{ cancelAt, nextActionAt: at },
        // An end that is to come wins over a plan that was.
        ...(cancelAt === null ? {} : noPlanChange),
      });
      const told = (time: Instant | null) => (time === null ? null : toIso(time));
      teller.note(tx, at, "subscription.cancellation_changed", saved, {
        reason,
        cancelAt: { from: told(subscription.cancelAt), to: told(cancelAt) },
        ...(cancelAt === null || pendingPlan === null
          ? {}
          : { pendingPlan: { from: pendingPlan, to: null } }),
      });
      return saved;
    },

    end: (tx, at, scene, boundary) => endAt(tx, at, scene, boundary, {}),
  };
}
