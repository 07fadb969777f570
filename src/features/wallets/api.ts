import { organization } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { walletChecks } from "./checks.ts";
import { listDefaultWallets, setDefaultWallet } from "./defaults.ts";
import {
  DefaultWalletUnusable,
  NetworkNotEnabled,
  WalletAddressRefused,
  WalletAddressUnavailable,
  WalletLimit,
} from "./rules.ts";
import {
  CreateWalletRequest,
  DefaultWalletListRecord,
  DefaultWalletRecord,
  presentDefaultWallet,
  presentWallet,
  SetDefaultWalletRequest,
  useOf,
  WalletListRecord,
  WalletRecord,
  walletQuery,
} from "./records.ts";
import type { DefaultWallets, WalletView } from "./store.ts";
import { archiveWallet, createWallet, getWallet, listWallets } from "./wallets.ts";

/** The columns of wallets in a terminal. */
const columns = [
  "id",
  "label",
  "network",
  "kind",
  "address",
  "status",
  { title: "Use", value: useOf },
] as const;

const walletOperations = [
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
    handle: (app, call) => listWallets(app, call.organizationId, call.query),
    present: (page: Page<WalletView>) => mapPage(page, presentWallet),
    cli: {
      name: "wallet list",
      summary: "List an organization's wallets, newest first, including archived ones",
      examples: [
        "till wallet list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till wallet list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status active --json",
      ],
      columns: [...columns, "nextIndex", "highestPaidIndex", "createdAt"],
    },
  }),
  operation({
    id: "createWallet",
    group: "Wallets",
    method: "POST",
    path: "/organizations/{organizationId}/wallets",
    summary: "Register a public receiving wallet",
    description:
      "Either an address, or an account's extended public key, from which every invoice gets its own address. Never send a private key or seed phrase: Till does not need one and refuses it. The organization's first wallet becomes the default of its network, and so does the first one of a further network if an owner registers it. Any other wallet receives only invoices that name its `walletId`, until an owner chooses it with `setDefaultWallet`.",
    access: organization("wallets:write"),
    request: { body: CreateWalletRequest },
    response: { status: 201, record: WalletRecord },
    errors: [NetworkNotEnabled, WalletAddressRefused, WalletAddressUnavailable, WalletLimit],
    handle: (app, call) => createWallet(app, call.context, call.organizationId, call.body),
    present: presentWallet,
    cli: {
      name: "wallet add",
      summary: "Register a wallet at which an organization is paid",
      flags: {
        address: { description: "a public address on the network" },
        xpub: {
          placeholder: "key",
          description: "an extended public key, from which each invoice gets its own address",
        },
      },
      examples: [
        "till wallet add --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --network tron --label Shop --address T…",
        "till wallet add --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --network ethereum --label Shop --xpub xpub… --dry-run",
      ],
      look: (_app, call) => ({
        subject: call.organization(),
        changes: ({ network, label, kind, address }) => [
          ["Network", null, network],
          ["Wallet", null, label],
          [kind === "xpub" ? "Fingerprint of the key" : "Address", null, address],
        ],
      }),
      confirm: (_call, subject) =>
        `Let payers of ${subject}, pay to this wallet? Compare it with what your wallet shows.`,
      columns,
      next: ({ id, isDefault }) =>
        isDefault ? "till invoice create" : `till wallet default --wallet ${id}`,
    },
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
    handle: (app, call) => getWallet(app, call.organizationId, call.params.walletId),
    present: presentWallet,
  }),
  operation({
    id: "archiveWallet",
    group: "Wallets",
    method: "POST",
    path: "/organizations/{organizationId}/wallets/{walletId}/archive",
    summary: "Archive a receiving wallet",
    description:
      "New invoices no longer use it. Invoices that already use it remain watched until they end. If it is the default of its network, no other wallet takes its place but the reserves.",
    access: organization("wallets:write"),
    response: { status: 200, record: WalletRecord },
    errors: [],
    handle: (app, call) =>
      archiveWallet(app, call.context, call.organizationId, call.params.walletId),
    present: presentWallet,
  }),
  operation({
    id: "listDefaultWallets",
    group: "Wallets",
    method: "GET",
    path: "/organizations/{organizationId}/default-wallets",
    summary: "List the default wallet of each network",
    description:
      "Invoices without a `walletId` are paid at the default wallet of their network, or at the first reserve that can receive them.",
    access: organization("wallets:read"),
    response: { status: 200, record: DefaultWalletListRecord },
    errors: [],
    handle: (app, call) => listDefaultWallets(app, call.organizationId),
    present: (defaults: readonly DefaultWallets[]) => ({
      data: defaults.map(presentDefaultWallet),
    }),
  }),
  operation({
    id: "setDefaultWallet",
    group: "Wallets",
    method: "PUT",
    path: "/organizations/{organizationId}/default-wallets/{network}",
    summary: "Choose the default wallet of a network, and its reserves",
    description:
      "For invoices that are issued from now on; invoices that are open stay payable at the address that they show. Only a logged-in owner may do this, or the operator with `till wallet default`: no API key can choose where payers are sent. Each wallet whose part changes raises `wallet.default_changed`.",
    access: organization("default-wallets:write"),
    request: { body: SetDefaultWalletRequest },
    response: { status: 200, record: DefaultWalletRecord },
    errors: [NetworkNotEnabled, DefaultWalletUnusable],
    handle: (app, call) =>
      setDefaultWallet(app, call.context, call.organizationId, call.params.network, call.body),
    present: presentDefaultWallet,
  }),
];

export const walletsModule: FeatureModule = {
  operations: walletOperations,
  checks: walletChecks,
};
