import { organization } from "../../api/declare/access.ts";
import { operationsOf } from "../../api/declare/operation.ts";
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
    access: organization("wallets:read"),
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
      "Either an address, or an account's extended public key, from which every invoice gets its own address. Never send a private key or seed phrase: Till does not need one and refuses it.",
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
    access: organization("wallets:read"),
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
      "New invoices no longer use it. Invoices that already use it remain watched until they end.",
    access: organization("wallets:write"),
    response: { status: 200, record: WalletRecord },
    errors: [],
    handle: (service, call) =>
      service.archive(call.context, call.organizationId, call.params.walletId),
    present: presentWallet,
  }),
];
