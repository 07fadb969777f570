import { organization } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { pageParameters } from "../../http/declare/list.ts";
import { operation } from "../../http/declare/operation.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { AmountTooLarge, TokenNotEnabled, UnsupportedCurrency } from "../invoices/errors.ts";
import { NetworkNotEnabled } from "../wallets/rules.ts";
import { paymentLinkPages } from "./pages.ts";
import {
  createPaymentLink,
  disablePaymentLink,
  getPaymentLink,
  listPaymentLinks,
} from "./payment-links.ts";
import {
  CreatePaymentLinkRequest,
  linkQuery,
  PaymentLinkListRecord,
  PaymentLinkRecord,
  presentPaymentLink,
  type PaymentLinkView,
} from "./records.ts";

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
    handle: (app, call) => listPaymentLinks(app, call.organizationId, call.query),
    present: (page: Page<PaymentLinkView>) => mapPage(page, presentPaymentLink),
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
    handle: (app, call) => createPaymentLink(app, call.context, call.organizationId, call.body),
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
    handle: (app, call) => getPaymentLink(app, call.organizationId, call.params.paymentLinkId),
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
    handle: (app, call) =>
      disablePaymentLink(app, call.context, call.organizationId, call.params.paymentLinkId),
    present: presentPaymentLink,
  }),
];

export const paymentLinksModule: FeatureModule = {
  operations: paymentLinkOperations,
  pages: paymentLinkPages,
};
