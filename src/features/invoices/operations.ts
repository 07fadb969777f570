import { organization } from "../../api/declare/access.ts";
import { operation } from "../../api/declare/operation.ts";
import { OrganizationNotVerified } from "../organizations/issuing.ts";
import { NetworkNotEnabled } from "../wallets/errors.ts";
import {
  AmountTooLarge,
  AmountTooSmall,
  ExternalIdConflict,
  InvoiceNotCancelable,
  InvoiceNotEditable,
  ManagedByBilling,
  NetworkNotReady,
  NoDefaultWallet,
  NoWallet,
  PlanLimitReached,
  RateUnavailable,
  SubscriptionRequired,
  SubscriptionSuspended,
  TokenNotEnabled,
  UnsupportedCurrency,
  WalletCapacityExhausted,
} from "./errors.ts";
import { presentInvoice, presentInvoices } from "./present.ts";
import {
  CreateInvoiceRequest,
  InvoiceListRecord,
  invoiceQuery,
  InvoiceRecord,
  UpdateInvoiceRequest,
  readInvoiceQuery,
} from "./records.ts";
import { cancelInvoice, getInvoice, listInvoices, updateInvoice } from "./invoices.ts";
import { createInvoice, type CreatedInvoice } from "./issuing/create.ts";

/** Errors of the terms of a draft, and of its issue. */
const termErrors = [
  OrganizationNotVerified,
  SubscriptionRequired,
  SubscriptionSuspended,
  PlanLimitReached,
  NetworkNotEnabled,
  TokenNotEnabled,
  UnsupportedCurrency,
  AmountTooLarge,
  AmountTooSmall,
  NoDefaultWallet,
  NoWallet,
  WalletCapacityExhausted,
  ExternalIdConflict,
  NetworkNotReady,
  RateUnavailable,
] as const;

export const invoiceOperations = [
  operation({
    id: "listInvoices",
    group: "Invoices",
    method: "GET",
    path: "/organizations/{organizationId}/invoices",
    summary: "List invoices",
    description:
      "Returns the newest invoices first, unless `sort` says otherwise. An invoice must match all filters. `createdFrom` and `paidFrom` are inclusive, `createdTo` and `paidTo` exclusive. Sorting by `paidAt` lists paid invoices only. A page examines a limited number of invoices. If each of several filters matches very many, a page may have fewer items than `limit`, or none; continue with `nextCursor` until it is null.",
    access: organization("invoices:read"),
    request: { query: invoiceQuery },
    response: { status: 200, record: InvoiceListRecord },
    errors: [],
    handle: (app, call) => listInvoices(app, call.organizationId, readInvoiceQuery(call.query)),
    present: presentInvoices,
  }),
  operation({
    id: "createInvoice",
    group: "Invoices",
    method: "POST",
    path: "/organizations/{organizationId}/invoices",
    summary: "Create an invoice",
    description:
      "Issues the invoice at once, or keeps it as a draft. If the invoice cannot be issued, nothing is created. A second request with the same `externalId` and the same body returns the first invoice, with the header Idempotent-Replayed.",
    access: organization("invoices:write"),
    request: { body: CreateInvoiceRequest },
    response: { status: 201, record: InvoiceRecord },
    errors: termErrors,
    handle: (app, call) => createInvoice(app, call.context, call.organizationId, call.body),
    present: ({ invoice }: CreatedInvoice) => presentInvoice(invoice),
    isReplayed: (created) => created.isReplayed,
  }),
  operation({
    id: "getInvoice",
    group: "Invoices",
    method: "GET",
    path: "/organizations/{organizationId}/invoices/{invoiceId}",
    summary: "Get an invoice",
    access: organization("invoices:read"),
    response: { status: 200, record: InvoiceRecord },
    errors: [],
    handle: (app, call) => getInvoice(app, call.organizationId, call.params.invoiceId),
    present: presentInvoice,
  }),
  operation({
    id: "updateInvoice",
    group: "Invoices",
    method: "PATCH",
    path: "/organizations/{organizationId}/invoices/{invoiceId}",
    summary: "Update draft invoice fields, or issue a draft",
    access: organization("invoices:write"),
    request: { body: UpdateInvoiceRequest },
    response: { status: 200, record: InvoiceRecord },
    errors: [InvoiceNotEditable, ManagedByBilling, ...termErrors],
    handle: (app, call) =>
      updateInvoice(
        app,
        call.context,
        call.organizationId,
        call.params.invoiceId,
        call.body,
        call.expect,
      ),
    present: presentInvoice,
  }),
  operation({
    id: "cancelInvoice",
    group: "Invoices",
    method: "POST",
    path: "/organizations/{organizationId}/invoices/{invoiceId}/cancel",
    summary: "Cancel an invoice",
    description:
      "Cancels a draft, or an open or expired invoice without payments. A payment that arrives later waits for the merchant's decision.",
    access: organization("invoices:write"),
    response: { status: 200, record: InvoiceRecord },
    errors: [InvoiceNotCancelable, ManagedByBilling],
    handle: (app, call) =>
      cancelInvoice(app, call.context, call.organizationId, call.params.invoiceId),
    present: presentInvoice,
  }),
];
