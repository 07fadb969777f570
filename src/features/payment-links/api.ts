import { organization } from "../../http/declare/permissions.ts";
import { operation } from "../../http/declare/operation.ts";
import type { Id } from "../../kernel/id.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { AmountTooLarge, TokenNotEnabled, UnsupportedCurrency } from "../invoices/errors.ts";
import { paymentOptionsFlag } from "../organizations/option-list.ts";
import { NetworkNotEnabled } from "../wallets/rules.ts";
import {
  createPaymentLink,
  disablePaymentLink,
  getPaymentLink,
  listPaymentLinks,
} from "./payment-links.ts";
import {
  CreatePaymentLinkRequest,
  linkQuery,
  PaymentLinkListRecord,
  PaymentLinkRecord,
  presentPaymentLink,
  type PaymentLinkView,
} from "./records.ts";

const path = "/organizations/{organizationId}/payment-links";

export const paymentLinkOperations = [
  operation({
    id: "listPaymentLinks",
    group: "Invoices",
    method: "GET",
    path,
    summary: "List payment links",
    access: organization("payment-links:read"),
    request: { query: linkQuery },
    response: { status: 200, record: PaymentLinkListRecord },
    errors: [],
    handle: (app, call) => listPaymentLinks(app, call.organizationId, call.query),
    present: (page: Page<PaymentLinkView>) => mapPage(page, presentPaymentLink),
    cli: {
      name: "link list",
      summary: "List an organization's payment links, newest first",
      flags: { status: { description: "only links with this status: active or disabled" } },
      examples: [
        "till link list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till link list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status active --json",
      ],
      columns: ["id", "status", "amount", "settlementCurrency", "description", "url"],
    },
  }),
  operation({
    id: "createPaymentLink",
    group: "Invoices",
    method: "POST",
    path,
    summary: "Create a payment link",
    description:
      "Each payer who opens the link gets an invoice of their own, whose metadata has the link's id as `paymentLink`.",
    access: organization("payment-links:write"),
    request: { body: CreatePaymentLinkRequest },
    response: { status: 201, record: PaymentLinkRecord },
    errors: [NetworkNotEnabled, TokenNotEnabled, UnsupportedCurrency, AmountTooLarge],
    handle: (app, call) => createPaymentLink(app, call.context, call.organizationId, call.body),
    present: presentPaymentLink,
    cli: {
      name: "link create",
      summary: "Create a payment link: each payer gets an invoice of their own",
      flags: {
        amount: {
          placeholder: "amount",
          description: "of each invoice; without it, the payer enters it",
        },
        minAmount: {
          placeholder: "amount",
          description: "smallest amount that a payer may enter",
        },
        maxAmount: { placeholder: "amount", description: "largest amount that a payer may enter" },
        settlementCurrency: { description: "such as USD", ask: "The currency" },
        tokenSymbol: { description: "such as USDT (default: payment policy)" },
        network: { description: "such as tron (default: payment policy)" },
        paymentOptions: paymentOptionsFlag,
        walletId: { description: "of the receiving wallet" },
        description: { description: "of the purchase, for the payer" },
        redirectUrl: { description: "to which payers can return" },
        expiresInSeconds: null,
        underpaymentTolerance: null,
      },
      examples: [
        "till link create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --settlement-currency USD --token-symbol USDT --network tron --min-amount 1 --max-amount 500",
        "till link create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --settlement-currency USD --token-symbol USDT --network tron --amount 25 --description Membership --json",
        "till link create --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --settlement-currency EUR --payment-options 'tron/USDT ethereum/USDC' --description Donation",
      ],
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
    },
  }),
  operation({
    id: "getPaymentLink",
    group: "Invoices",
    method: "GET",
    path: `${path}/{paymentLinkId}`,
    summary: "Get a payment link",
    access: organization("payment-links:read"),
    response: { status: 200, record: PaymentLinkRecord },
    errors: [],
    handle: (app, call) => getPaymentLink(app, call.organizationId, call.params.paymentLinkId),
    present: presentPaymentLink,
  }),
  operation({
    id: "disablePaymentLink",
    group: "Invoices",
    method: "POST",
    path: `${path}/{paymentLinkId}/disable`,
    summary: "Disable a payment link",
    description:
      "Its page starts no more payments. Its invoices remain. A link cannot be enabled again.",
    access: organization("payment-links:write"),
    response: { status: 200, record: PaymentLinkRecord },
    errors: [],
    handle: (app, call) =>
      disablePaymentLink(app, call.context, call.organizationId, call.params.paymentLinkId),
    present: presentPaymentLink,
    cli: {
      name: "link disable",
      summary: "Disable a payment link for good; its invoices remain",
      examples: [
        "till link disable lnk_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till link disable lnk_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
      ],
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
      columns: ["id", "status", "url"],
    },
  }),
];
