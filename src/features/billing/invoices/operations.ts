import { authenticated, organization } from "../../../api/declare/access.ts";
import { operationsOf } from "../../../api/declare/operation.ts";
import { mapPage, type Page } from "../../../kernel/page.ts";
import type { BillingReader } from "./service.ts";
import { presentPlans, presentPlatformInvoice, type PlatformInvoiceView } from "../present.ts";
import {
  PlanCatalogRecord,
  PlatformInvoiceListRecord,
  platformInvoiceQuery,
  PlatformInvoiceRecord,
} from "../records.ts";

const operation = operationsOf<BillingReader>();
const access = organization("billing:read");

export const billingOperations = [
  operation({
    id: "listPlans",
    group: "Billing",
    method: "GET",
    path: "/billing/plans",
    summary: "List the plans that an organization can select",
    description: "All plans are on one page: `nextCursor` is null.",
    access: authenticated("billing:read"),
    response: { status: 200, record: PlanCatalogRecord },
    errors: [],
    handle: (service) => service.plans(),
    present: presentPlans,
  }),
  operation({
    id: "listPlatformInvoices",
    group: "Billing",
    method: "GET",
    path: "/organizations/{organizationId}/billing/invoices",
    summary: "List the organization's platform invoices",
    access,
    request: { query: platformInvoiceQuery },
    response: { status: 200, record: PlatformInvoiceListRecord },
    errors: [],
    handle: (service, call) => service.list(call.organizationId, call.query),
    present: (page: Page<PlatformInvoiceView>) => mapPage(page, presentPlatformInvoice),
  }),
  operation({
    id: "getPlatformInvoice",
    group: "Billing",
    method: "GET",
    path: "/organizations/{organizationId}/billing/invoices/{platformInvoiceId}",
    summary: "Get a platform invoice with its lines",
    access,
    response: { status: 200, record: PlatformInvoiceRecord },
    errors: [],
    handle: (service, call) => service.get(call.organizationId, call.params.platformInvoiceId),
    present: presentPlatformInvoice,
  }),
];
