import { organization } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import { NetworkNotReady } from "../invoices/index.ts";
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
    summary: "Change the plan",
    description:
      "The other plan begins with the next period that is not invoiced yet; the plan that it has takes a coming change back. In a trial whose first invoice nobody began to pay, the other plan holds at once, and that invoice is voided and issued anew.",
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
    summary: "Select a plan",
    description:
      "Needs no approval. A plan with a trial begins with it, once for each organization; the invoice of the first paid period is issued at once and due when the trial ends. A plan that costs nothing is never invoiced.",
    access: write,
    request: { body: SelectPlanRequest },
    response: { status: 200, record: SubscriptionRecord },
    errors: [
      UnknownPlan,
      SubscriptionExists,
      PlatformInvoiceUnpaid,
      NoReceiveWallet,
      NetworkNotReady,
    ],
    handle: (service, call) => service.select(call.context, call.organizationId, call.body.plan),
    present: presentSubscription,
  }),
];
