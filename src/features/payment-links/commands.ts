import { command, neededOrganization, pageFlags } from "../../http/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import { mapPage } from "../../kernel/page.ts";
import { paymentOptionsFlag, readOptionFlag } from "../organizations/option-list.ts";
import {
  createPaymentLink,
  disablePaymentLink,
  getPaymentLink,
  listPaymentLinks,
} from "./payment-links.ts";
import {
  CreatePaymentLinkRequest,
  linkStatuses,
  PaymentLinkQuery,
  presentPaymentLink,
  type PaymentLinkView,
} from "./records.ts";

const present = (link: PaymentLinkView) => Promise.resolve(presentPaymentLink(link));

export const paymentLinkCommands = [
  command({
    name: "link create",
    summary: "Create a payment link: each payer gets an invoice of their own",
    flags: [
      neededOrganization,
      {
        flags: "--amount <amount>",
        description: "of each invoice; without it, the payer enters it",
      },
      { flags: "--min-amount <amount>", description: "smallest amount that a payer may enter" },
      { flags: "--max-amount <amount>", description: "largest amount that a payer may enter" },
      { flags: "--settlement-currency <code>", description: "such as USD", ask: "The currency" },
      { flags: "--token-symbol <symbol>", description: "such as USDT (default: payment policy)" },
      { flags: "--network <id>", description: "such as tron (default: payment policy)" },
      paymentOptionsFlag,
      { flags: "--wallet-id <id>", description: "of the receiving wallet" },
      { flags: "--description <text>", description: "of the purchase, for the payer" },
      { flags: "--redirect-url <url>", description: "to which payers can return" },
    ],
    examples: [
      "till link create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --settlement-currency USD --token-symbol USDT --network tron --min-amount 1 --max-amount 500",
      "till link create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --settlement-currency USD --token-symbol USDT --network tron --amount 25 --description Membership --json",
      "till link create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --settlement-currency EUR --payment-options 'tron/USDT ethereum/USDC' --description Donation",
    ],
    effect: "write",
    handle: (app, call) =>
      createPaymentLink(
        app,
        call.context,
        call.flag("organization") as Id<"organization">,
        call.parse(CreatePaymentLinkRequest, {
          amount: call.flag("amount"),
          minAmount: call.flag("min-amount"),
          maxAmount: call.flag("max-amount"),
          settlementCurrency: call.flag("settlement-currency"),
          tokenSymbol: call.flag("token-symbol"),
          network: call.flag("network"),
          paymentOptions: readOptionFlag(call),
          walletId: call.flag("wallet-id"),
          description: call.flag("description"),
          redirectUrl: call.flag("redirect-url"),
        }),
      ),
    present,
    columns: [
      "id",
      "status",
      "amount",
      "minAmount",
      "maxAmount",
      "settlementCurrency",
      "url",
      ["posterUrl", "Poster"],
    ],
    identify: (link) => link.url,
    code: (link) => link.url,
  }),
  command({
    name: "link list",
    summary: "List an organization's payment links, newest first",
    flags: [
      neededOrganization,
      {
        flags: "--status <status>",
        description: "only links with this status: active or disabled",
        choices: linkStatuses,
      },
      ...pageFlags,
    ],
    examples: [
      "till link list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till link list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status active --json",
    ],
    effect: "read",
    handle: (app, call) =>
      listPaymentLinks(
        app,
        call.flag("organization") as Id<"organization">,
        call.parse(PaymentLinkQuery, {
          limit: call.flag("limit"),
          cursor: call.flag("cursor"),
          status: call.flag("status"),
        }),
      ),
    present: (page) => Promise.resolve(mapPage(page, presentPaymentLink)),
    columns: ["id", "status", "amount", "settlementCurrency", "description", "url"],
  }),
  command({
    name: "link disable",
    summary: "Disable a payment link for good; its invoices remain",
    arguments: [{ name: "paymentLinkId", description: "such as lnk_01h…" }],
    flags: [neededOrganization],
    examples: [
      "till link disable lnk_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till link disable lnk_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "write",
    async look(app, call) {
      const before = presentPaymentLink(
        await getPaymentLink(
          app,
          call.flag("organization") as Id<"organization">,
          call.argument("paymentLinkId") as Id<"paymentLink">,
        ),
      );
      return { subject: `${before.url}, ${before.status}`, before };
    },
    handle: (app, call) =>
      disablePaymentLink(
        app,
        call.context,
        call.flag("organization") as Id<"organization">,
        call.argument("paymentLinkId") as Id<"paymentLink">,
      ),
    present,
    columns: ["id", "status", "url"],
  }),
];
