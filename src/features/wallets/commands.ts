import type { App } from "../../app.ts";
import { command, neededOrganization, type CommandCall } from "../../http/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import { listDefaultWallets, setDefaultWallet } from "./defaults.ts";
import { presentDefaultWallet, presentWallet, SetDefaultWalletRequest, useOf } from "./records.ts";
import { getAnyWallet, getWallet, releaseWallet } from "./wallets.ts";

/** Returns the network of a call about default wallets: the named one, or that of the named wallet. */
async function networkOf(app: App, call: CommandCall): Promise<string | undefined> {
  const [network, wallet] = [call.flag("network"), call.flag("wallet")];
  if (network !== undefined || wallet === undefined) return network;
  const { walletId } = call.parse(SetDefaultWalletRequest.pick({ walletId: true }), {
    walletId: wallet,
  });
  return (await getWallet(app, call.flag("organization") as Id<"organization">, walletId)).network;
}

export const walletCommands = [
  command({
    name: "wallet default",
    summary: "Show or choose the wallets at which invoices without a walletId are paid",
    flags: [
      neededOrganization,
      {
        flags: "--network <id>",
        description: "such as tron; with --wallet it may be left out: that of the wallet",
      },
      {
        flags: "--wallet <id>",
        takes: ["wallet"],
        field: "walletId",
        description: "the new default wallet of its network; without it the present ones are shown",
      },
      {
        flags: "--reserve <ids>",
        field: "reserveWalletIds",
        description:
          "the wallets that are tried, in this order, while the default is archived or full; without it none",
      },
    ],
    examples: [
      "till wallet default --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till wallet default --wallet wal_01kq3v5m8w2f6n9r4t7x0z1c3e --yes",
      "till wallet default --network tron --wallet wal_01kq3v5m8w2f6n9r4t7x0z1c3e --reserve 'wal_01kq3v5m8w2f6n9r4t7x0z1c3f wal_01kq3v5m8w2f6n9r4t7x0z1c3g'",
    ],
    effect: "write",
    confirm: (call, subject) =>
      call.flag("wallet") === undefined
        ? null
        : `Let payers of new invoices of ${subject}, pay to this wallet? Compare its address with what your wallet shows.`,
    async handle(app, call) {
      const organizationId = call.flag("organization") as Id<"organization">;
      const [wallet, reserve] = [call.flag("wallet"), call.flag("reserve")];
      const network = await networkOf(app, call);
      if (wallet === undefined && reserve === undefined) {
        const all = await listDefaultWallets(app, organizationId);
        return all.filter((each) => network === undefined || each.network === network);
      }
      const input = call.parse(SetDefaultWalletRequest, {
        walletId: wallet,
        reserveWalletIds: reserve?.split(/[\s,]+/).filter((id) => id !== ""),
      });
      const set = setDefaultWallet(app, call.context, organizationId, network ?? "", input);
      return [await call.attempt(set)];
    },
    present: (defaults) => ({ data: defaults.map(presentDefaultWallet), nextCursor: null }),
    async look(app, call) {
      const organizationId = call.flag("organization") as Id<"organization">;
      const network = await networkOf(app, call);
      const before = (await listDefaultWallets(app, organizationId))
        .map(presentDefaultWallet)
        .find((each) => each.network === network);
      return {
        subject: call.organization(),
        facts: [["Network", network ?? null]],
        changes: ({ data: [after] }) =>
          after === undefined || call.flag("wallet") === undefined
            ? []
            : [
                ["Default", before?.walletId ?? null, after.walletId],
                ["Reserves", before?.reserveWalletIds ?? null, after.reserveWalletIds],
              ],
      };
    },
    identify: ({ walletId }) => walletId ?? "",
    columns: [
      "network",
      ["walletId", "Default"],
      ["reserveWalletIds", "Reserves"],
      ["canReceive", "Can receive"],
    ],
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
    async look(app, call) {
      const before = presentWallet(
        await getAnyWallet(app, call.argument("walletId") as Id<"wallet">),
      );
      return {
        subject: `${before.label} (${before.id}) on ${before.network}, ${before.status}`,
        facts: [
          ["Address", before.address],
          ["Use", useOf(before)],
        ],
        before,
      };
    },
    confirm: (_call, subject) =>
      `Release ${subject}? New invoices will not use it; existing ones remain watched until they end.`,
    handle: (app, call) =>
      releaseWallet(app, call.context, call.argument("walletId") as Id<"wallet">),
    present: presentWallet,
    columns: ["id", "label", "network", "address", "status", "archivedAt"],
  }),
];
