import { organization } from "../../api/declare/access.ts";
import { operationsOf } from "../../api/declare/operation.ts";
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
      "The period is that of the subscription or, without one, the calendar month in UTC. Invoices count when they are issued. Payments count once confirmed, by their block time, in every currency; `processedVolume` covers only `currency`.",
    access: organization("analytics:read"),
    response: { status: 200, record: UsageSummaryRecord },
    errors: [],
    handle: (service, call) => service.get(call.organizationId),
    present: presentUsage,
  }),
];
