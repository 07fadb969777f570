import { platformInvoiceStatuses } from "./records.ts";
import {
  commandsOf,
  anyOrganization,
  pageFlags,
  type CommandFlag,
} from "../../api/declare/command.ts";
import type { BillingReader } from "./invoices/service.ts";
import type { ReceiveWalletService } from "./invoices/receive-wallet.ts";

export { billingOperatorCommands, nextInvoicesCommand } from "./operator/commands.ts";
export { balanceCommands } from "./balances/commands.ts";

const reading = commandsOf<BillingReader>();

export const billingCommands = [
  reading({
    name: "billing plans",
    summary: "List the plans that organizations can select",
    examples: ["till billing plans", "till billing plans --json"],
    effect: "read",
    handle: (service) => service.plans(),
    async present(plans) {
      return (await import("./present.ts")).presentPlans(plans);
    },
    columns: [
      "id",
      "name",
      "price currency",
      "interval",
      "trialDays",
      "includedInvoices",
      "overagePrice",
    ],
  }),
  reading({
    name: "billing invoices",
    summary: "List platform invoices, newest first",
    flags: [
      anyOrganization,
      {
        flags: "--status <status>",
        description: "only invoices that are open, paid, past_due or void",
        choices: platformInvoiceStatuses,
      },
      ...pageFlags,
    ],
    examples: [
      "till billing invoices",
      "till billing invoices --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status past_due --json",
    ],
    effect: "read",
    async handle(service, call) {
      const { AdminInvoiceQuery } = await import("./operator/admin-records.ts");
      return service.listAll(
        call.parse(AdminInvoiceQuery, {
          limit: call.flag("limit"),
          cursor: call.flag("cursor"),
          organizationId: call.flag("organization"),
          status: call.flag("status"),
        }),
      );
    },
    async present(page) {
      return (await import("./present.ts")).presentAdminInvoices(page);
    },
    columns: [
      "id",
      "number",
      "organizationName",
      "status",
      "total currency",
      "periodStart",
      "periodEnd",
      "dueAt",
    ],
  }),
];

const receive = commandsOf<ReceiveWalletService>();

const walletFlag: CommandFlag = {
  flags: "--wallet <id>",
  takes: ["wallet"],
  field: "walletId",
  description:
    "one of the platform organization's wallets; without it the current setting is shown",
};
const tokenFlag: CommandFlag = {
  flags: "--token <symbol>",
  description: "the token to receive, such as USDT",
  field: "tokenSymbol",
};

export const receiveWalletCommands = [
  receive({
    name: "billing receive-wallet",
    summary: "Show or set the wallet at which the platform is paid",
    flags: [walletFlag, tokenFlag],
    examples: [
      "till billing receive-wallet",
      "till billing receive-wallet --wallet wal_01kq3v5m8w2f6n9r4t7x0z1c3e --token USDT --yes",
    ],
    effect: "write",
    async look(service) {
      const { presentReceiveWallet } = await import("./present.ts");
      const before = presentReceiveWallet(await service.get());
      const { wallet } = before;
      return {
        subject:
          wallet === null
            ? "The platform has no receive wallet"
            : `The platform's receive wallet, now ${wallet.label} (${wallet.id})`,
        before,
      };
    },
    confirm: (call) => {
      const walletId = call.flag("wallet");
      return walletId === undefined
        ? null
        : `Receive payments of new platform invoices at ${walletId} from now on?`;
    },
    async handle(service, call) {
      if (call.flag("wallet") === undefined && call.flag("token") === undefined) {
        return service.get();
      }
      const { SetPlatformReceiveWalletRequest } = await import("./operator/admin-records.ts");
      return service.set(
        call.context,
        call.parse(SetPlatformReceiveWalletRequest, {
          walletId: call.flag("wallet"),
          tokenSymbol: call.flag("token"),
        }),
      );
    },
    async present(set) {
      return (await import("./present.ts")).presentReceiveWallet(set);
    },
    identify: (set) => set.wallet?.id ?? "",
    columns: [
      { title: "Wallet", value: (set) => set.wallet?.id ?? null },
      { title: "Label", value: (set) => set.wallet?.label ?? null },
      { title: "Address", value: (set) => set.wallet?.address ?? null },
      "network",
      "tokenSymbol",
      { title: "Status", value: (set) => set.wallet?.status ?? null },
      "updatedAt",
    ],
  }),
];
