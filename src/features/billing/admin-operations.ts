import { platform } from "../../api/access.ts";
import { pageParameters } from "../../api/list.ts";
import { operationsOf } from "../../api/operation.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { presentWallet, WalletListRecord, type WalletView } from "../wallets/index.ts";
import {
  adminInvoiceQuery,
  AdminPlatformInvoiceDetailRecord,
  AdminPlatformInvoiceListRecord,
  PlatformReceiveWalletRecord,
  SetPlatformReceiveWalletRequest,
} from "./admin-records.ts";
import { ReceiveWalletUnusable } from "./errors.ts";
import type { BillingReader } from "./invoice-service.ts";
import {
  presentAdminInvoiceDetail,
  presentAdminInvoices,
  presentReceiveWallet,
} from "./present.ts";
import type { ReceiveWalletService } from "./receive-wallet.ts";

const read = platform("platform:read");
const write = platform("platform:write");

const receiveWallet = operationsOf<ReceiveWalletService>();

export const receiveWalletOperations = [
  receiveWallet({
    id: "adminGetReceiveWallet",
    group: "Admin",
    method: "GET",
    path: "/admin/billing/receive-wallet",
    summary: "Get the wallet that the platform is paid at",
    description: "Every field is null until it is set.",
    access: read,
    response: { status: 200, record: PlatformReceiveWalletRecord },
    errors: [],
    handle: (service) => service.get(),
    present: presentReceiveWallet,
  }),
  receiveWallet({
    id: "adminSetReceiveWallet",
    group: "Admin",
    method: "PUT",
    path: "/admin/billing/receive-wallet",
    summary: "Set the wallet that the platform is paid at",
    description:
      "One of the platform organization's own wallets, and a token of its network. It holds for the platform invoices that are issued from now on; those that are open stay payable where they say.",
    access: write,
    request: { body: SetPlatformReceiveWalletRequest },
    response: { status: 200, record: PlatformReceiveWalletRecord },
    errors: [ReceiveWalletUnusable],
    handle: (service, call) => service.set(call.context, call.body),
    present: presentReceiveWallet,
  }),
  receiveWallet({
    id: "adminListPlatformWallets",
    group: "Admin",
    method: "GET",
    path: "/admin/billing/wallets",
    summary: "List the platform organization's wallets",
    access: read,
    request: { query: pageParameters },
    response: { status: 200, record: WalletListRecord },
    errors: [],
    handle: (service, call) => service.listWallets(call.query),
    present: (page: Page<WalletView>) => mapPage(page, presentWallet),
  }),
];

const invoices = operationsOf<BillingReader>();

export const adminBillingOperations = [
  invoices({
    id: "adminListPlatformInvoices",
    group: "Admin",
    method: "GET",
    path: "/admin/billing/invoices",
    summary: "List the platform invoices of all organizations",
    access: read,
    request: { query: adminInvoiceQuery },
    response: { status: 200, record: AdminPlatformInvoiceListRecord },
    errors: [],
    handle: (service, call) => service.listAll(call.query),
    present: presentAdminInvoices,
  }),
  invoices({
    id: "adminGetPlatformInvoice",
    group: "Admin",
    method: "GET",
    path: "/admin/billing/invoices/{platformInvoiceId}",
    summary: "Get a platform invoice with the payments that came for it",
    access: read,
    response: { status: 200, record: AdminPlatformInvoiceDetailRecord },
    errors: [],
    handle: (service, call) => service.getAny(call.params.platformInvoiceId),
    present: presentAdminInvoiceDetail,
  }),
];
