import { minute, type Instant } from "../../../kernel/clock.ts";
import type { PlanCatalog } from "../../../platform/config/plans.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { staleFirstInvoice } from "../invoices/first-invoice.ts";
import { pendingTermsOf, policyOf } from "../plans.ts";
import { paymentsInFlight, saveSubscription, type LockedSubscription } from "../store.ts";
import {
  collectionEndsAt,
  needsCollectionInvoice,
  replaceCollectionInvoices,
  type CollectionStepDependencies,
} from "./collection-steps.ts";
import { performStep, type StepDependencies } from "./perform-step.ts";
import { nextActionAt, nextTransition, type LifecycleState, type Transition } from "./rules.ts";

/**
 * The time between the end of a period and the counting of its usage: an invoice that is issued in the last moment of
 * the period may be committed later. No write takes longer than half of this time.
 */
export const countingPatience = 1 * minute;

/** Determines and performs the due steps of subscriptions, on a locked subscription and in the caller's transaction. */
export interface SubscriptionSteps {
  /** Performs the earliest due step; returns whether more are due. */
  advance(tx: Tx, at: Instant, locked: LockedSubscription): Promise<boolean>;
  /** After a payment, performs the due step if it reactivates the subscription without issuing an invoice. */
  follow(tx: Tx, at: Instant, locked: LockedSubscription): Promise<void>;
  /** Returns the earliest due step; null: none is due. */
  due(locked: LockedSubscription, at: Instant): Transition | null;
}

export function makeSubscriptionSteps(
  deps: StepDependencies & CollectionStepDependencies,
): SubscriptionSteps {
  const { catalog } = deps;

  return {
    due: (locked, at) => dueStep(catalog, locked, at),

    async advance(tx, at, locked) {
      const next = dueStep(catalog, locked, at);
      const performed = next === null ? null : await performStep(deps, tx, at, locked, next);
      const replaced =
        performed === null ? await replaceCollectionInvoices(deps, tx, at, locked) : null;
      // A new collection invoice is not among the locked ones: another step reads it.
      const isMore =
        replaced !== null ||
        (performed !== null &&
          (dueStep(catalog, performed, at) !== null || needsCollectionInvoice(performed, at)));
      const after = replaced ?? performed ?? locked;
      const checkAt = isMore ? at : nextCheckAt(catalog, after, at);
      if (after.subscription.nextActionAt !== checkAt) {
        await saveSubscription(tx, at, after.subscription, { nextActionAt: checkAt });
      }
      return isMore;
    },

    async follow(tx, at, locked) {
      const next = dueStep(catalog, locked, at);
      const isFree = next?.kind === "resumed" && next.period === null;
      const { subscription } =
        next !== null && (isFree || next.kind === "reactivated")
          ? await performStep(deps, tx, at, locked, next)
          : locked;
      // The billing run does everything else; the caller wakes it.
      await saveSubscription(tx, at, subscription, { nextActionAt: at });
    },
  };
}

function dueStep(catalog: PlanCatalog, locked: LockedSubscription, at: Instant): Transition | null {
  const next = nextTransition(stateOf(catalog, locked, at));
  return next === null || isCounting(next, at) ? null : next;
}

/** Returns when the billing run must process the subscription next, as far as is known now. */
function nextCheckAt(
  catalog: PlanCatalog,
  locked: LockedSubscription,
  at: Instant,
): Instant | null {
  const state = stateOf(catalog, locked, at);
  const next = nextTransition(state);
  const counting = next !== null && isCounting(next, at);
  const times = [
    counting ? next.at + countingPatience : nextActionAt(state),
    ...locked.invoices.map((invoice) => collectionEndsAt(invoice, locked, at)),
  ].filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}

function stateOf(catalog: PlanCatalog, locked: LockedSubscription, now: Instant): LifecycleState {
  const { subscription, invoices } = locked;
  const { terms } = subscription;
  const pendingTerms = pendingTermsOf(catalog, subscription);
  return {
    subscription,
    invoices,
    now,
    pendingTerms,
    inFlight: paymentsInFlight(locked),
    policy: policyOf(catalog, terms.id),
    isFirstInvoiceStale: staleFirstInvoice(locked, pendingTerms ?? terms) !== null,
  };
}

function isCounting(next: Transition, at: Instant): boolean {
  return next.kind === "renewed" && at < next.at + countingPatience;
}
