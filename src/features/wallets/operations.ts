import { organization } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { NetworkNotEnabled, WalletAddressRefused, WalletAddressUnavailable } from "./errors.ts";
import { presentWallet } from "./present.ts";
import { CreateWalletRequest, WalletListRecord, WalletRecord, walletQuery } from "./records.ts";
import type { WalletService } from "./service.ts";
import type { WalletView } from "./store.ts";

const operation = operationsOf<WalletService>();

export const walletOperations = [
  operation({
    id: "listWallets",
    group: "Wallets",
    method: "GET",
    path: "/organizations/{organizationId}/wallets",
    summary: "List receiving wallets",
    access: organization("organization:read"),
    request: { query: walletQuery },
    response: { status: 200, record: WalletListRecord },
    errors: [],
    handle: (service, call) => service.list(call.organizationId, call.query),
    present: (page: Page<WalletView>) => mapPage(page, presentWallet),
  }),
  operation({
    id: "createWallet",
    group: "Wallets",
    method: "POST",
    path: "/organizations/{organizationId}/wallets",
    summary: "Register a public receiving wallet",
    description:
      "An address, or the extended public key of an account, from which every invoice gets an address of its own. Never a private key or a seed phrase: Till has no use for one and refuses it.",
    access: organization("wallets:write"),
    request: { body: CreateWalletRequest },
    response: { status: 201, record: WalletRecord },
    errors: [NetworkNotEnabled, WalletAddressRefused, WalletAddressUnavailable],
    handle: (service, call) => service.create(call.context, call.organizationId, call.body),
    present: presentWallet,
  }),
  operation({
    id: "getWallet",
    group: "Wallets",
    method: "GET",
    path: "/organizations/{organizationId}/wallets/{walletId}",
    summary: "Get a receiving wallet",
    access: organization("organization:read"),
    response: { status: 200, record: WalletRecord },
    errors: [],
    handle: (service, call) => service.get(call.organizationId, call.params.walletId),
    present: presentWallet,
  }),
  operation({
    id: "archiveWallet",
    group: "Wallets",
    method: "POST",
    path: "/organizations/{organizationId}/wallets/{walletId}/archive",
    summary: "Archive a receiving wallet",
    description:
      "New invoices no longer use it. Invoices that already do stay watched until their time is over.",
    access: organization("wallets:write"),
    response: { status: 200, record: WalletRecord },
    errors: [],
    handle: (service, call) =>
      service.archive(call.context, call.organizationId, call.params.walletId),
    present: presentWallet,
  }),
];
