import { organization } from "../../api/declare/access.ts";
import { pageParameters } from "../../api/declare/list.ts";
import { operationsOf } from "../../api/declare/operation.ts";
import { AmountTooLarge, TokenNotEnabled, UnsupportedCurrency } from "../invoices/errors.ts";
import { NetworkNotEnabled } from "../wallets/errors.ts";
import { presentPaymentLink, presentPaymentLinks } from "./present.ts";
import {
  CreatePaymentLinkRequest,
  linkQuery,
  PaymentLinkListRecord,
  PaymentLinkRecord,
} from "./records.ts";
import type { PaymentLinkService } from "./service.ts";

const operation = operationsOf<PaymentLinkService>();
const path = "/organizations/{organizationId}/payment-links";

export const paymentLinkOperations = [
  operation({
    id: "listPaymentLinks",
    group: "Invoices",
    method: "GET",
    path,
    summary: "List payment links",
    access: organization("payment-links:read"),
    request: { query: { ...pageParameters, ...linkQuery } },
    response: { status: 200, record: PaymentLinkListRecord },
    errors: [],
    handle: (service, call) => service.list(call.organizationId, call.query),
    present: presentPaymentLinks,
  }),
  operation({
    id: "createPaymentLink",
    group: "Invoices",
    method: "POST",
    path,
    summary: "Create a payment link",
    description:
      "Each payer who opens the link gets an invoice of their own, whose metadata has the link's id as `paymentLink`.",
    access: organization("payment-links:write"),
    request: { body: CreatePaymentLinkRequest },
    response: { status: 201, record: PaymentLinkRecord },
    errors: [NetworkNotEnabled, TokenNotEnabled, UnsupportedCurrency, AmountTooLarge],
    handle: (service, call) => service.create(call.context, call.organizationId, call.body),
    present: presentPaymentLink,
  }),
  operation({
    id: "getPaymentLink",
    group: "Invoices",
    method: "GET",
    path: `${path}/{paymentLinkId}`,
    summary: "Get a payment link",
    access: organization("payment-links:read"),
    response: { status: 200, record: PaymentLinkRecord },
    errors: [],
    handle: (service, call) => service.get(call.organizationId, call.params.paymentLinkId),
    present: presentPaymentLink,
  }),
  operation({
    id: "disablePaymentLink",
    group: "Invoices",
    method: "POST",
    path: `${path}/{paymentLinkId}/disable`,
    summary: "Disable a payment link",
    description:
      "Its page starts no more payments. Its invoices remain. A link cannot be enabled again.",
    access: organization("payment-links:write"),
    response: { status: 200, record: PaymentLinkRecord },
    errors: [],
    handle: (service, call) =>
      service.disable(call.context, call.organizationId, call.params.paymentLinkId),
    present: presentPaymentLink,
  }),
];
