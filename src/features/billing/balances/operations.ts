import { platform } from "../../../api/declare/access.ts";
import { pageParameters } from "../../../api/declare/list.ts";
import { operationsOf } from "../../../api/declare/operation.ts";
import { mapPage, type Page } from "../../../kernel/page.ts";
import {
  AdminCreditListRecord,
  AdminCreditRecord,
  AdminDiscountListRecord,
  AdminDiscountRecord,
  AdminManualAdjustmentListRecord,
  AdminManualAdjustmentRecord,
  ApplyAdminCreditRequest,
  ApplyAdminDiscountRequest,
  CreateAdminManualAdjustmentRequest,
} from "../operator/admin-records.ts";
import {
  BillingAmountTooLarge,
  BillingCurrencyDiffers,
  CurrencyNotBilled,
  DiscountCurrencyMismatch,
} from "../errors.ts";
import { presentAdjustment, presentCredit, presentDiscount, type CreditView } from "./present.ts";
import type { BalanceService } from "./service.ts";
import type { AdjustmentRow, DiscountRow } from "../table.ts";

const operation = operationsOf<BalanceService>();
const read = platform("platform:read");
const write = platform("platform:write");
const amountErrors = [CurrencyNotBilled, BillingCurrencyDiffers, BillingAmountTooLarge];

export const balanceOperations = [
  operation({
    id: "adminListCredits",
    group: "Admin",
    method: "GET",
    path: "/admin/organizations/{organizationId}/credits",
    summary: "List an organization's credits",
    access: read,
    request: { query: pageParameters },
    response: { status: 200, record: AdminCreditListRecord },
    errors: [],
    handle: (service, call) => service.listCredits(call.params.organizationId, call.query),
    present: (page: Page<CreditView>) => mapPage(page, presentCredit),
  }),
  operation({
    id: "adminApplyCredit",
    group: "Admin",
    method: "POST",
    path: "/admin/organizations/{organizationId}/credits",
    summary: "Give an organization a credit",
    description:
      "Reduces the organization's next platform invoices in this currency, until the credit is used up or expires.",
    access: write,
    request: { body: ApplyAdminCreditRequest },
    response: { status: 201, record: AdminCreditRecord },
    errors: amountErrors,
    handle: (service, call) =>
      service.grantCredit(call.context, call.params.organizationId, call.body),
    present: presentCredit,
  }),
  operation({
    id: "adminListDiscounts",
    group: "Admin",
    method: "GET",
    path: "/admin/organizations/{organizationId}/discounts",
    summary: "List an organization's discounts",
    access: read,
    request: { query: pageParameters },
    response: { status: 200, record: AdminDiscountListRecord },
    errors: [],
    handle: (service, call) => service.listDiscounts(call.params.organizationId, call.query),
    present: (page: Page<DiscountRow>) => mapPage(page, presentDiscount),
  }),
  operation({
    id: "adminApplyDiscount",
    group: "Admin",
    method: "POST",
    path: "/admin/organizations/{organizationId}/discounts",
    summary: "Give an organization a discount",
    description:
      "Reduces the plan and usage charges of up to `periods` platform invoices, or of all if `periods` is absent. Percentages apply first, each to the amount that the previous ones left, then fixed amounts.",
    access: write,
    request: { body: ApplyAdminDiscountRequest },
    response: { status: 201, record: AdminDiscountRecord },
    errors: [DiscountCurrencyMismatch, ...amountErrors],
    handle: (service, call) =>
      service.grantDiscount(call.context, call.params.organizationId, call.body),
    present: presentDiscount,
  }),
  operation({
    id: "adminListManualAdjustments",
    group: "Admin",
    method: "GET",
    path: "/admin/organizations/{organizationId}/adjustments",
    summary: "List an organization's adjustments",
    access: read,
    request: { query: pageParameters },
    response: { status: 200, record: AdminManualAdjustmentListRecord },
    errors: [],
    handle: (service, call) => service.listAdjustments(call.params.organizationId, call.query),
    present: (page: Page<AdjustmentRow>) => mapPage(page, presentAdjustment),
  }),
  operation({
    id: "adminCreateManualAdjustment",
    group: "Admin",
    method: "POST",
    path: "/admin/organizations/{organizationId}/adjustments",
    summary: "Adjust an organization's next platform invoice",
    description:
      "Adds the amount to the next platform invoice in this currency, as a line. A positive amount is charged, a negative one is deducted. Discounts do not apply to it.",
    access: write,
    request: { body: CreateAdminManualAdjustmentRequest },
    response: { status: 201, record: AdminManualAdjustmentRecord },
    errors: amountErrors,
    handle: (service, call) =>
      service.addAdjustment(call.context, call.params.organizationId, call.body),
    present: presentAdjustment,
  }),
];
