import { organization } from "../../../api/declare/access.ts";
import { operationsOf } from "../../../api/declare/operation.ts";
import { NetworkNotReady, RateUnavailable } from "../../invoices/errors.ts";
import {
  NoReceiveWallet,
  NoSubscription,
  PlanCurrencyDiffers,
  PlatformInvoiceUnpaid,
  SubscriptionExists,
  SubscriptionNotChangeable,
  UnknownPlan,
} from "../errors.ts";
import { presentSubscription } from "../present.ts";
import { ChangePlanRequest, SelectPlanRequest, SubscriptionRecord } from "../records.ts";
import type { SubscriptionService } from "./service.ts";

const operation = operationsOf<SubscriptionService>();
/** Users need the role owner, API keys the scope `billing`. */
const write = organization("billing:write");

export const subscriptionOperations = [
  operation({
    id: "getSubscription",
    group: "Billing",
    method: "GET",
    path: "/organizations/{organizationId}/billing/subscription",
    summary: "Get the organization's subscription",
    description:
      "Returns a canceled subscription too, until another plan is selected. `openInvoice` is the oldest unpaid platform invoice.",
    access: organization("billing:read"),
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
      "Schedules the plan for the end of the current period, upgrades included; the request itself changes neither `plan` nor `status`. `pendingPlan` names the scheduled plan, and `planChangeEffectiveAt` equals `currentPeriodEnd`, which during a trial is the end of the trial. The change keeps the plan's terms as they are now. Another request replaces the scheduled change; a request for the current plan clears both fields. A change can also be scheduled while the subscription is past due or suspended; after a suspension that outlasted the period, it takes effect when the debt is paid. During a trial, the unpaid first invoice is voided and replaced in the same step by one for the plan that will apply to its period, unless a payment of it is being confirmed; amounts that were paid on it are credited. If that invoice is already paid, the difference is settled when the trial ends, as a credit or as a line of the next invoice. For a canceled subscription, or one with a scheduled cancellation, the response is 409 `subscription_not_changeable`.",
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
      "Needs no approval. If the plan has a trial, the trial starts, once per organization: the status is `trialing`, and `openInvoice` is the invoice of the first paid period, issued immediately and due when the trial ends. Without a trial the status is `active`, and the invoice is due some days after its issue. A plan with price 0 is never invoiced: `openInvoice` is null, and without a trial the status is `active` immediately. Selecting the plan of the current trial again returns the same subscription.",
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
