import { day, type Clock, type Instant } from "../../kernel/clock.ts";
import { Problem } from "../../kernel/errors.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { Plan, PlanCatalog } from "../../platform/config/index.ts";
import {
  UniqueViolation,
  type Database,
  type Reader,
  type Tx,
  type WriteContext,
} from "../../platform/database/index.ts";
import { listed } from "../../platform/database/json-rows.ts";
import type { ManagedInvoices } from "../invoices/index.ts";
import type { PaymentService } from "../payments/index.ts";
import {
  NoReceiveWallet,
  NoSubscription,
  PlanCurrencyDiffers,
  PlatformInvoiceUnpaid,
  SubscriptionExists,
  SubscriptionNotChangeable,
  UnknownPlan,
} from "./errors.ts";
import type { Issuer } from "./issue.ts";
import type { Ledger } from "./ledger.ts";
import { boundary, periodAt } from "./periods.ts";
import { decidePlanChange } from "./plan-change.ts";
import { findPlan, priceOf, termsOf } from "./plans.ts";
import type { SubscriptionView } from "./present.ts";
import { receiveTarget } from "./receive-wallet.ts";
import {
  debtsOf,
  latestSubscription,
  liveSubscription,
  lockScene,
  saveSubscription,
  savePlatformInvoice,
  unpaidOf,
  type Scene,
} from "./subscription-store.ts";
import {
  platformInvoices,
  platformInvoiceTwins,
  subscriptions,
  type PlatformInvoiceRow,
  type SubscriptionRow,
} from "./table.ts";
import type { Teller } from "./tell.ts";
import { noReceiveWallet, type Twins } from "./twin.ts";

/** What organizations do with their subscription. */
export interface SubscriptionService {
  /** The subscription that an organization has, or the last that it had; 404 `no_subscription` without any. */
  get(organizationId: Id<"organization">): Promise<SubscriptionView>;
  /**
   * Begins a subscription: with a trial where the plan has one and the organization never had any. A plan that costs
   * something is invoiced at once. The plan that is on trial already gives the same answer again.
   */
  select(
    context: WriteContext,
    organizationId: Id<"organization">,
    planId: string,
  ): Promise<SubscriptionView>;
  /**
   * Has another plan begin with the next period that is not invoiced yet; while nobody began to pay the first invoice
   * of a trial, that one is voided and issued anew. The plan that it has takes a coming change back.
   */
  change(
    context: WriteContext,
    organizationId: Id<"organization">,
    planId: string,
    expect?: (current: SubscriptionView) => void,
  ): Promise<SubscriptionView>;
  /** The subscriptions of several organizations, those that are canceled too. */
  readonly viewsOf: (
    reader: Reader,
    organizationIds: readonly Id<"organization">[],
  ) => Promise<ReadonlyMap<Id<"organization">, SubscriptionView>>;
}

/** How often somebody else may change the subscription while it is being changed. */
const triesMax = 5;
/** Why a twin could not be issued, where the platform has to do something about it. */
const collectionFaults = new Set(["no_wallet", "wallet_capacity_exhausted", "amount_too_small"]);

export function makeSubscriptionService(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly catalog: PlanCatalog;
  readonly networks: ReadonlyMap<string, Network>;
  readonly managed: ManagedInvoices;
  readonly payments: Pick<PaymentService, "ofInvoice">;
  readonly ledger: Ledger;
  readonly issuer: Issuer;
  readonly twins: Twins;
  readonly teller: Teller;
  readonly checkoutUrl: (checkoutId: string) => string;
  /** Wakes the run. */
  readonly nudge: () => void;
}): SubscriptionService {
  const { db, clock, ids, catalog, networks, managed, payments } = deps;
  const { ledger, issuer, twins, teller, checkoutUrl, nudge } = deps;

  async function viewOf(reader: Reader, subscription: SubscriptionRow): Promise<SubscriptionView> {
    const [openInvoice = null] = await unpaidOf(reader, [subscription.id]);
    return { subscription, openInvoice, checkoutUrl };
  }

  function planOf(planId: string): Plan {
    const plan = findPlan(catalog, planId);
    if (plan !== null) return plan;
    const known = catalog.plans.map(({ id }) => id).join(", ");
    throw new UnknownPlan(`Choose one of the plans of GET /billing/plans: ${known}.`);
  }

  async function requireReceiveWallet(reader: Reader, plan: Plan): Promise<void> {
    if (priceOf(plan) === 0n && plan.overagePrice === null) return;
    if ((await receiveTarget(reader, networks)) === null) throw noReceiveWallet();
  }

  async function requireNoDebt(reader: Reader, organizationId: Id<"organization">): Promise<void> {
    const [debt] = await debtsOf(reader, organizationId);
    if (debt === undefined) return;
    const where = debt.twinCheckoutId === null ? "" : ` at ${checkoutUrl(debt.twinCheckoutId)}`;
    throw new PlatformInvoiceUnpaid(`Pay ${debt.number}${where} first, then select a plan again.`);
  }

  async function begin(
    tx: Tx,
    at: Instant,
    organizationId: Id<"organization">,
    plan: Plan,
  ): Promise<SubscriptionView> {
    const live = await liveSubscription(tx, organizationId);
    if (live !== null) {
      if (live.status === "trialing" && live.terms.id === plan.id) return viewOf(tx, live);
      throw new SubscriptionExists(
        `It is on the plan ${live.terms.id}, ${live.status}. Change it with PATCH instead.`,
      );
    }
    await requireNoDebt(tx, organizationId);
    await requireReceiveWallet(tx, plan);
    const former = await tx.findOne(
      subscriptions,
      "WHERE organization_id = $1 AND had_trial = 1 LIMIT 1",
      [organizationId],
    );
    const trialEndsAt = plan.trialDays > 0 && former === null ? at + plan.trialDays * day : null;
    const row = newSubscription(
      ids.next("subscription", at),
      organizationId,
      plan,
      at,
      trialEndsAt,
    );
    await tx.insert(subscriptions, row);
    await issuer.issue(tx, at, {
      subscription: row,
      period: periodAt(row.anchorAt, plan.interval, 0),
      ...{ terms: row.terms, elapsed: null, dueAt: trialEndsAt },
    });
    await teller.subscription(tx, at, "subscription.created", row);
    tx.afterCommit(nudge);
    return viewOf(tx, row);
  }

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

  async function voidInvoice(
    tx: Tx,
    at: Instant,
    invoice: PlatformInvoiceRow,
    scene: Scene,
  ): Promise<void> {
    await twins.withdraw(tx, at, scene.twins.get(invoice.id) ?? []);
    const row = await savePlatformInvoice(tx, at, invoice, { status: "void", voidedAt: at });
    await ledger.restore(tx, at, row);
    await teller.invoice(tx, at, "platform_invoice.void", row);
  }

  /** Another plan on trial: its first invoice takes the place of the one that there was. */
  async function replace(
    tx: Tx,
    at: Instant,
    scene: Scene,
    plan: Plan,
    invoice: PlatformInvoiceRow | null,
  ): Promise<SubscriptionRow> {
    const { subscription } = scene;
    const before = subscription.terms.id;
    if (invoice !== null) await voidInvoice(tx, at, invoice, scene);
    const saved = await saveSubscription(tx, at, subscription, {
      ...{ terms: termsOf(plan), pendingPlan: null, planChangeEffectiveAt: null },
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

  async function changeScene(
    tx: Tx,
    at: Instant,
    scene: Scene,
    plan: Plan,
  ): Promise<SubscriptionView> {
    const { subscription } = scene;
    const { invoice, hasPayments } = await firstInvoice(tx, scene);
    const decided = decidePlanChange(subscription, plan.id, invoice, hasPayments);
    const { pendingPlan } = subscription;
    switch (decided.kind) {
      case "refused":
        throw notChangeable(subscription);
      case "unchanged":
        return viewOf(tx, subscription);
      case "cleared": {
        const saved = await saveSubscription(tx, at, subscription, {
          ...{ pendingPlan: null, planChangeEffectiveAt: null },
        });
        const changes = { pendingPlan: { from: pendingPlan, to: null } };
        await teller.subscription(tx, at, "subscription.plan_change_dropped", saved, changes);
        return viewOf(tx, saved);
      }
      case "scheduled": {
        await requireChangeable(tx, subscription, plan);
        const saved = await saveSubscription(tx, at, subscription, {
          ...{ pendingPlan: plan.id, planChangeEffectiveAt: decided.effectiveAt },
        });
        const changes = { pendingPlan: { from: pendingPlan, to: plan.id } };
        await teller.subscription(tx, at, "subscription.plan_change_scheduled", saved, changes);
        return viewOf(tx, saved);
      }
      case "replaced":
      case "reissued":
        await requireChangeable(tx, subscription, plan);
        return viewOf(tx, await replace(tx, at, scene, plan, invoice));
    }
  }

  async function requireChangeable(
    reader: Reader,
    { terms }: SubscriptionRow,
    plan: Plan,
  ): Promise<void> {
    if (plan.currency !== terms.currency) {
      throw new PlanCurrencyDiffers(
        `The subscription is billed in ${terms.currency}. Choose a plan in that currency.`,
      );
    }
    await requireReceiveWallet(reader, plan);
  }

  return {
    async get(organizationId) {
      const row = await latestSubscription(db, organizationId);
      if (row === null) throw noSubscription();
      return viewOf(db, row);
    },

    async select(context, organizationId, planId) {
      const plan = planOf(planId);
      const attempt = () => db.write(context, (tx) => begin(tx, clock.now(), organizationId, plan));
      try {
        return await attempt();
      } catch (error) {
        // Somebody else selected at the same moment: what they made is there now.
        if (isLiveTaken(error)) return attempt();
        throw collectionProblem(error);
      }
    },

    async change(context, organizationId, planId, expect) {
      const plan = planOf(planId);
      try {
        for (let tries = 0; tries < triesMax; tries += 1) {
          const changed = await db
            .write(context, async (tx) => {
              const at = clock.now();
              const live = await latestSubscription(tx, organizationId);
              if (live === null) throw noSubscription();
              const scene = await lockScene(tx, managed, live.id);
              if (scene === null) throw new SceneChanged();
              expect?.(await viewOf(tx, scene.subscription));
              const view = await changeScene(tx, at, scene, plan);
              tx.afterCommit(nudge);
              return view;
            })
            .catch((error: unknown) => {
              if (error instanceof SceneChanged) return null;
              throw error;
            });
          if (changed !== null) return changed;
        }
      } catch (error) {
        throw collectionProblem(error);
      }
      throw new SubscriptionNotChangeable("It is being changed by others. Try again.");
    },

    async viewsOf(reader, organizationIds) {
      if (organizationIds.length === 0) return new Map();
      const rows = await reader.find(
        subscriptions,
        `WHERE organization_id IN ${listed(reader.dialect, 1)} ORDER BY id`,
        [JSON.stringify(organizationIds)],
      );
      const latest = new Map(rows.map((row) => [row.organizationId, row]));
      const shown = [...latest.values()];
      const owed = await unpaidOf(
        reader,
        shown.map(({ id }) => id),
      );
      return new Map(
        shown.map((subscription) => {
          const openInvoice = owed.find((one) => one.subscriptionId === subscription.id) ?? null;
          return [subscription.organizationId, { subscription, openInvoice, checkoutUrl }];
        }),
      );
    },
  };
}

/** It was changed between being read and being locked: to be read again. */
class SceneChanged extends Error {
  override readonly name = "SceneChanged";
}

function newSubscription(
  id: Id<"subscription">,
  organizationId: Id<"organization">,
  plan: Plan,
  at: Instant,
  trialEndsAt: Instant | null,
): SubscriptionRow {
  const isTrial = trialEndsAt !== null;
  const anchorAt = trialEndsAt ?? at;
  return {
    ...{ id, organizationId, anchorAt, trialEndsAt },
    status: isTrial ? "trialing" : "active",
    statusReason: null,
    terms: termsOf(plan),
    pendingPlan: null,
    planChangeEffectiveAt: null,
    periodIndex: isTrial ? -1 : 0,
    currentPeriodStart: at,
    currentPeriodEnd: trialEndsAt ?? boundary(anchorAt, plan.interval, 1),
    trialNoticeAt: null,
    hadTrial: isTrial,
    usageNotice: 0,
    suspendedAt: null,
    canceledAt: null,
    nextActionAt: at,
    parkedAt: null,
    parkReason: null,
    parkedUntil: null,
    parkCount: 0,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
}

function noSubscription(): Problem {
  return new NoSubscription(
    "Select a plan with POST …/billing/subscription/select; GET /billing/plans lists them.",
  );
}

function notChangeable({ status }: SubscriptionRow): Problem {
  return new SubscriptionNotChangeable(
    status === "suspended"
      ? "It is suspended: pay its open invoice first, then change the plan."
      : "It is canceled: select a plan again instead.",
  );
}

function isLiveTaken(error: unknown): boolean {
  return error instanceof UniqueViolation && error.index === "subscriptions_live";
}

/** What an organization can do nothing about is not told as if it could. */
function collectionProblem(error: unknown): unknown {
  if (!(error instanceof Problem) || !collectionFaults.has(error.code)) return error;
  return new NoReceiveWallet(
    `The platform cannot be paid at its receive wallet now: ${error.message} A platform admin does that; then try again.`,
    { cause: error },
  );
}
