import { commandsOf, neededOrganization, pageFlags } from "../../api/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import type { WalletService } from "./service.ts";

const command = commandsOf<WalletService>();

export const walletCommands = [
  command({
    name: "wallet list",
    summary: "List an organization's wallets, newest first, including archived ones",
    flags: [
      neededOrganization,
      { flags: "--network <id>", description: "only wallets on this network" },
      {
        flags: "--status <status>",
        description: "only wallets with this status: active or archived",
        choices: async () => (await import("./records.ts")).walletStatuses,
      },
      ...pageFlags,
    ],
    examples: [
      "till wallet list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till wallet list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status active --json",
    ],
    effect: "read",
    async handle(service, call) {
      const { WalletQuery } = await import("./records.ts");
      return service.list(
        call.flag("organization") as Id<"organization">,
        call.parse(WalletQuery, {
          limit: call.flag("limit"),
          cursor: call.flag("cursor"),
          network: call.flag("network"),
          status: call.flag("status"),
        }),
      );
    },
    async present({ data, nextCursor }) {
      const { presentWallet } = await import("./present.ts");
      return { data: data.map(presentWallet), nextCursor };
    },
    columns: [
      "id",
      "label",
      "network",
      "kind",
      "address",
      "status",
      "nextIndex",
      "highestPaidIndex",
      "createdAt",
    ],
  }),
  command({
    name: "wallet add",
    summary: "Register a wallet at which an organization is paid",
    flags: [
      neededOrganization,
      { flags: "--network <id>", description: "such as tron", ask: "The network's id" },
      { flags: "--label <text>", description: "your name for the wallet", ask: "Its name" },
      { flags: "--address <address>", description: "a public address on the network" },
      {
        flags: "--xpub <key>",
        description: "an extended public key, from which each invoice gets its own address",
      },
    ],
    examples: [
      "till wallet add --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --network tron --label Shop --address T…",
      "till wallet add --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --network ethereum --label Shop --xpub xpub… --dry-run",
    ],
    effect: "write",
    async handle(service, call) {
      const { CreateWalletRequest } = await import("./records.ts");
      return service.create(
        call.context,
        call.flag("organization") as Id<"organization">,
        call.parse(CreateWalletRequest, {
          network: call.flag("network"),
          label: call.flag("label"),
          address: call.flag("address"),
          xpub: call.flag("xpub"),
        }),
      );
    },
    async present(wallet) {
      return (await import("./present.ts")).presentWallet(wallet);
    },
    look: (_service, call) => ({
      subject: call.organization(),
      changes: ({ network, label, kind, address }) => [
        ["Network", null, network],
        ["Wallet", null, label],
        [kind === "xpub" ? "Fingerprint of the key" : "Address", null, address],
      ],
    }),
    confirm: (_call, subject) =>
      `Let payers of ${subject}, pay to this wallet? Compare it with what your wallet shows.`,
    columns: ["id", "label", "network", "kind", "address", "status"],
    next: () => "till invoice create",
  }),
  command({
    name: "wallet release",
    summary: "Archive any organization's wallet, so that its address can be registered again",
    arguments: [{ name: "walletId", description: "such as wal_01h…" }],
    examples: [
      "till wallet release wal_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till wallet release wal_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
    ],
    effect: "write",
    async look(service, call) {
      const { presentWallet } = await import("./present.ts");
      const before = presentWallet(await service.find(call.argument("walletId") as Id<"wallet">));
      return {
        subject: `${before.label} (${before.id}) on ${before.network}, ${before.status}`,
        facts: [["Address", before.address]],
        before,
      };
    },
    confirm: (_call, subject) =>
      `Release ${subject}? New invoices will not use it; existing ones remain watched until they end.`,
    handle: (service, call) =>
      service.release(call.context, call.argument("walletId") as Id<"wallet">),
    async present(wallet) {
      return (await import("./present.ts")).presentWallet(wallet);
    },
    columns: ["id", "label", "network", "address", "status", "archivedAt"],
  }),
];
