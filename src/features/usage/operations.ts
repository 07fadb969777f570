import { organization } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import { presentUsage } from "./present.ts";
import { UsageSummaryRecord } from "./records.ts";
import type { UsageService } from "./service.ts";

const operation = operationsOf<UsageService>();

export const usageOperations = [
  operation({
    id: "getUsage",
    group: "Usage",
    method: "GET",
    path: "/organizations/{organizationId}/usage",
    summary: "Get the usage of the current period",
    description:
      "The period is the subscription's; without one it is the calendar month in UTC. Invoices count when they are issued, and payments by the time of their block once they are confirmed, in every currency; `processedVolume` is that of `currency` alone.",
    access: organization("organization:read"),
    response: { status: 200, record: UsageSummaryRecord },
    errors: [],
    handle: (service, call) => service.get(call.organizationId),
    present: presentUsage,
  }),
];
