import { platform } from "../../../api/declare/access.ts";
import { pageParameters } from "../../../api/declare/list.ts";
import { operationsOf } from "../../../api/declare/operation.ts";
import { mapPage, type Page } from "../../../kernel/page.ts";
import { presentWallet } from "../../wallets/records.ts";
import { WalletListRecord } from "../../wallets/records.ts";
import type { WalletView } from "../../wallets/store.ts";
import {
  adminInvoiceQuery,
  AdminPlatformInvoiceDetailRecord,
  AdminPlatformInvoiceListRecord,
  PlatformReceiveWalletRecord,
  SetPlatformReceiveWalletRequest,
} from "./admin-records.ts";
import { ReceiveWalletUnusable } from "../errors.ts";
import type { BillingReader } from "../invoices/service.ts";
import {
  presentAdminInvoiceDetail,
  presentAdminInvoices,
  presentReceiveWallet,
} from "../present.ts";
import type { ReceiveWalletService } from "../invoices/receive-wallet.ts";

const read = platform("platform:read");
const write = platform("platform:write");

const receiveWallet = operationsOf<ReceiveWalletService>();

export const receiveWalletOperations = [
  receiveWallet({
    id: "adminGetReceiveWallet",
    group: "Admin",
    method: "GET",
    path: "/admin/billing/receive-wallet",
    summary: "Get the wallet at which the platform is paid",
    description: "All fields are null until a wallet is set.",
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
    summary: "Set the wallet at which the platform is paid",
    description:
      "The wallet must belong to the platform organization, and the token to the wallet's network. The setting applies to platform invoices that are issued from now on; open ones stay payable at the wallet that they name.",
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
    summary: "Get a platform invoice with its payments",
    access: read,
    response: { status: 200, record: AdminPlatformInvoiceDetailRecord },
    errors: [],
    handle: (service, call) => service.getAny(call.params.platformInvoiceId),
    present: presentAdminInvoiceDetail,
  }),
];
