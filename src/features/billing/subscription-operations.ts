import { organization } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import { NetworkNotReady, RateUnavailable } from "../invoices/index.ts";
import {
  NoReceiveWallet,
  NoSubscription,
  PlanCurrencyDiffers,
  PlatformInvoiceUnpaid,
  SubscriptionExists,
  SubscriptionNotChangeable,
  UnknownPlan,
} from "./errors.ts";
import { presentSubscription } from "./present.ts";
import { ChangePlanRequest, SelectPlanRequest, SubscriptionRecord } from "./records.ts";
import type { SubscriptionService } from "./subscriptions.ts";

const operation = operationsOf<SubscriptionService>();
/** A user's role owner, or a key with scope `billing`. */
const write = organization("billing:write");

export const subscriptionOperations = [
  operation({
    id: "getSubscription",
    group: "Billing",
    method: "GET",
    path: "/organizations/{organizationId}/billing/subscription",
    summary: "Get the organization's subscription",
    description:
      "A canceled one too, until another plan is selected. `openInvoice` is the oldest platform invoice that is not paid.",
    access: organization("organization:read"),
    response: { status: 200, record: SubscriptionRecord },
    errors: [NoSubscription],
    handle: (service, call) => service.get(call.organizationId),
    present: presentSubscription,
  }),
  operation({
    id: "changePlan",
    group: "Billing",
    method: "PATCH",
    path: "/organizations/{organizationId}/billing/subscription",
    summary: "Schedule a plan change at period end",
    description:
      "Schedules the plan for the end of the current period, upgrades too; `plan` and `status` do not change by the request. `pendingPlan` names the plan and `planChangeEffectiveAt` equals `currentPeriodEnd`, which during a trial is the trial's end. The change keeps the plan's terms as they are now. A further change replaces it; the current plan clears both fields. While past due or suspended the change is scheduled too; after a suspension that outlasted the period, it takes effect when the debt is paid. During a trial, the unpaid first invoice is voided and replaced in the same step by one for the plan that the period it bills will have, unless a payment of it is being confirmed: what was paid of it is credited. If that invoice is paid, the difference is settled when the trial ends: a credit, or a line of the next invoice. A canceled subscription, or one that the platform ends, answers 409 `subscription_not_changeable`.",
    access: write,
    request: { body: ChangePlanRequest },
    response: { status: 200, record: SubscriptionRecord },
    errors: [
      NoSubscription,
      UnknownPlan,
      PlanCurrencyDiffers,
      SubscriptionNotChangeable,
      NoReceiveWallet,
      NetworkNotReady,
      RateUnavailable,
    ],
    handle: (service, call) =>
      service.change(call.context, call.organizationId, call.body.plan, call.expect),
    present: presentSubscription,
  }),
  operation({
    id: "selectPlan",
    group: "Billing",
    method: "POST",
    path: "/organizations/{organizationId}/billing/subscription/select",
    summary: "Select a plan and start a trial",
    description:
      "Needs no approval. A plan with a trial starts it, once for each organization: the answer is `trialing`, and `openInvoice` is the invoice of the first paid period, issued at once and due when the trial ends. Without a trial the answer is `active`, and the invoice is due some days after its issue. A plan of price 0 is never invoiced: its `openInvoice` is null, and without a trial it is `active` at once. Selecting the plan on trial again gives the same answer.",
    access: write,
    request: { body: SelectPlanRequest },
    response: { status: 200, record: SubscriptionRecord },
    errors: [
      UnknownPlan,
      SubscriptionExists,
      PlatformInvoiceUnpaid,
      NoReceiveWallet,
      NetworkNotReady,
      RateUnavailable,
    ],
    handle: (service, call) => service.select(call.context, call.organizationId, call.body.plan),
    present: presentSubscription,
  }),
];
