import { authenticated, organization, platform } from "../../http/declare/permissions.ts";
import type { Column, CommandLine } from "../../http/declare/command.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { pageParameters } from "../../http/declare/list.ts";
import { operation } from "../../http/declare/operation.ts";
import type { ProblemClass } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { add, formatMoney, parseMoney } from "../../kernel/money/money.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { NetworkNotReady, RateUnavailable } from "../invoices/errors.ts";
import { presentWallet } from "../wallets/records.ts";
import { WalletListRecord } from "../wallets/records.ts";
import type { WalletView } from "../wallets/store.ts";
import { giveEntry, listEntries, sumUsableCredits } from "./balances/balances.ts";
import {
  adjustment,
  credit,
  discount,
  type EntryKind,
  type EntryTable,
  type EntryView,
  type ShownEntry,
  type Terms,
} from "./balances/entries.ts";
import { billingChecks } from "./checks.ts";
import {
  BillingAmountTooLarge,
  BillingCurrencyDiffers,
  CurrencyNotBilled,
  DiscountCurrencyMismatch,
  NoReceiveWallet,
  NoSubscription,
  PlanCurrencyDiffers,
  PlatformInvoiceUnpaid,
  ReceiveWalletUnusable,
  SubscriptionExists,
  SubscriptionNotChangeable,
  UnknownPlan,
} from "./errors.ts";
import {
  getAnyPlatformInvoice,
  getPlatformInvoice,
  listAllPlatformInvoices,
  listPlans,
  listPlatformInvoices,
} from "./invoices/platform-invoices.ts";
import {
  getReceiveWallet,
  listPlatformWallets,
  setReceiveWallet,
} from "./invoices/receive-wallet.ts";
import { billingWorker } from "./lifecycle/worker.ts";
import {
  adminInvoiceQuery,
  AdminPlatformInvoiceDetailRecord,
  AdminPlatformInvoiceListRecord,
  PlatformReceiveWalletRecord,
  presentAdminInvoiceDetail,
  presentAdminInvoices,
  presentReceiveWallet,
  SetPlatformReceiveWalletRequest,
} from "./operator/admin-records.ts";
import {
  ChangePlanRequest,
  PlanCatalogRecord,
  PlatformInvoiceListRecord,
  platformInvoiceQuery,
  PlatformInvoiceRecord,
  presentPlans,
  presentPlatformInvoice,
  presentSubscription,
  SelectPlanRequest,
  SubscriptionRecord,
  type PlatformInvoiceView,
} from "./records.ts";
import { changePlan, getSubscription, selectPlan } from "./subscriptions/subscriptions.ts";

const read = organization("billing:read");
/** Users need the role owner, API keys the scope `billing`. */
const write = organization("billing:write");
const platformRead = platform("platform:read");
const platformWrite = platform("platform:write");

const subscriptionOperations = [
  operation({
    id: "getSubscription",
    group: "Billing",
    method: "GET",
    path: "/organizations/{organizationId}/billing/subscription",
    summary: "Get the organization's subscription",
    description:
      "Returns a canceled subscription too, until another plan is selected. `openInvoice` is the oldest unpaid platform invoice.",
    access: read,
    response: { status: 200, record: SubscriptionRecord },
    errors: [NoSubscription],
    handle: (app, call) => getSubscription(app, call.organizationId),
    present: presentSubscription,
  }),
  operation({
    id: "changePlan",
    group: "Billing",
    method: "PATCH",
    path: "/organizations/{organizationId}/billing/subscription",
    summary: "Schedule a plan change at period end",
    description:
      "Schedules the plan for the end of the current period, upgrades included; the request itself changes neither `plan` nor `status`. `pendingPlan` names the scheduled plan, and `planChangeEffectiveAt` equals `currentPeriodEnd`, which during a trial is the end of the trial. The change keeps the plan's terms as they are now. Another request replaces the scheduled change; a request for the current plan clears both fields. A change can also be scheduled while the subscription is past due or suspended; after a suspension that outlasted the period, it takes effect when the debt is paid. During a trial, the unpaid first invoice is voided and replaced in the same step by one for the plan that will apply to its period, unless a payment of it is being confirmed; amounts that were paid on it are credited. If that invoice is already paid, the difference is settled when the trial ends, as a credit or as a line of the next invoice. For a canceled subscription, or one with a scheduled cancellation, the response is 409 `subscription_not_changeable`.",
    access: write,
    request: { body: ChangePlanRequest },
    response: { status: 200, record: SubscriptionRecord },
    errors: [
      NoSubscription,
      UnknownPlan,
      PlanCurrencyDiffers,
      SubscriptionNotChangeable,
      NoReceiveWallet,
      NetworkNotReady,
      RateUnavailable,
    ],
    handle: (app, call) =>
      changePlan(app, call.context, call.organizationId, call.body.plan, call.expect),
    present: presentSubscription,
  }),
  operation({
    id: "selectPlan",
    group: "Billing",
    method: "POST",
    path: "/organizations/{organizationId}/billing/subscription/select",
    summary: "Select a plan and start a trial",
    description:
      "Needs no approval. If the plan has a trial, the trial starts, once per organization: the status is `trialing`, and `openInvoice` is the invoice of the first paid period, issued immediately and due when the trial ends. Without a trial the status is `active`, and the invoice is due some days after its issue. A plan with price 0 is never invoiced: `openInvoice` is null, and without a trial the status is `active` immediately. Selecting the plan of the current trial again returns the same subscription.",
    access: write,
    request: { body: SelectPlanRequest },
    response: { status: 200, record: SubscriptionRecord },
    errors: [
      UnknownPlan,
      SubscriptionExists,
      PlatformInvoiceUnpaid,
      NoReceiveWallet,
      NetworkNotReady,
      RateUnavailable,
    ],
    handle: (app, call) => selectPlan(app, call.context, call.organizationId, call.body.plan),
    present: presentSubscription,
  }),
];

export const platformInvoiceOperations = [
  operation({
    id: "listPlans",
    group: "Billing",
    method: "GET",
    path: "/billing/plans",
    summary: "List the plans that an organization can select",
    description: "All plans are on one page: `nextCursor` is null.",
    access: authenticated("billing:read"),
    response: { status: 200, record: PlanCatalogRecord },
    errors: [],
    handle: (app) => listPlans(app),
    present: presentPlans,
    cli: {
      name: "billing plans",
      summary: "List the plans that organizations can select",
      examples: ["till billing plans", "till billing plans --json"],
      columns: [
        "id",
        "name",
        "price currency",
        "interval",
        "trialDays",
        "includedInvoices",
        "overagePrice",
      ],
    },
  }),
  operation({
    id: "listPlatformInvoices",
    group: "Billing",
    method: "GET",
    path: "/organizations/{organizationId}/billing/invoices",
    summary: "List the organization's platform invoices",
    access: read,
    request: { query: platformInvoiceQuery },
    response: { status: 200, record: PlatformInvoiceListRecord },
    errors: [],
    handle: (app, call) => listPlatformInvoices(app, call.organizationId, call.query),
    present: (page: Page<PlatformInvoiceView>) => mapPage(page, presentPlatformInvoice),
  }),
  operation({
    id: "getPlatformInvoice",
    group: "Billing",
    method: "GET",
    path: "/organizations/{organizationId}/billing/invoices/{platformInvoiceId}",
    summary: "Get a platform invoice with its lines",
    access: read,
    response: { status: 200, record: PlatformInvoiceRecord },
    errors: [],
    handle: (app, call) =>
      getPlatformInvoice(app, call.organizationId, call.params.platformInvoiceId),
    present: presentPlatformInvoice,
  }),
  operation({
    id: "adminListPlatformInvoices",
    group: "Admin",
    method: "GET",
    path: "/admin/billing/invoices",
    summary: "List the platform invoices of all organizations",
    access: platformRead,
    request: { query: adminInvoiceQuery },
    response: { status: 200, record: AdminPlatformInvoiceListRecord },
    errors: [],
    handle: (app, call) => listAllPlatformInvoices(app, call.query),
    present: presentAdminInvoices,
    cli: {
      name: "billing invoices",
      summary: "List platform invoices, newest first",
      examples: [
        "till billing invoices",
        "till billing invoices --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status past_due --json",
      ],
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
    },
  }),
  operation({
    id: "adminGetPlatformInvoice",
    group: "Admin",
    method: "GET",
    path: "/admin/billing/invoices/{platformInvoiceId}",
    summary: "Get a platform invoice with its payments",
    access: platformRead,
    response: { status: 200, record: AdminPlatformInvoiceDetailRecord },
    errors: [],
    handle: (app, call) => getAnyPlatformInvoice(app, call.params.platformInvoiceId),
    present: presentAdminInvoiceDetail,
  }),
];

/** The organization in examples of commands. */
const example = "--organization org_01kq3v5m8w2f6n9r4t7x0z1c3e";

const reasonFlag = { description: "the reason shown on the invoice" };

/** The operation that lists one kind of entry, with its command. */
function listing<T extends EntryTable, Asked, Given extends Terms, Shown extends ShownEntry>(
  id: string,
  kind: EntryKind<T, Asked, Given, Shown>,
  columns: readonly Column<Shown>[],
) {
  const { name } = kind.table;
  const command = `billing ${name}`;
  const words = `till ${command} ${example}`;
  return operation({
    id,
    group: "Admin",
    method: "GET",
    path: `/admin/organizations/{organizationId}/${name}`,
    summary: `List an organization's ${name}`,
    access: platformRead,
    request: { query: pageParameters },
    response: { status: 200, record: kind.list },
    errors: [],
    handle: (app, call) => listEntries(app, kind, call.params.organizationId, call.query),
    present: (page: Page<EntryView<T>>) => mapPage(page, kind.present),
    cli: {
      name: command,
      summary: `List an organization's ${name}, newest first`,
      examples: [words, `${words} --json`],
      columns,
    },
  });
}

/** The operation that gives one kind of entry. */
function giving<T extends EntryTable, Asked, Given extends Terms, Shown extends ShownEntry>(
  kind: EntryKind<T, Asked, Given, Shown>,
  {
    errors = [],
    ...words
  }: {
    readonly id: string;
    readonly summary: string;
    readonly description: string;
    readonly errors?: readonly ProblemClass[];
    readonly cli?: CommandLine<EntryView<T>, Shown, Extract<keyof Asked, string>>;
  },
) {
  return operation({
    ...words,
    group: "Admin",
    method: "POST",
    path: `/admin/organizations/{organizationId}/${kind.table.name}`,
    access: platformWrite,
    request: { body: kind.request },
    response: { status: 201, record: kind.record },
    errors: [...errors, CurrencyNotBilled, BillingCurrencyDiffers, BillingAmountTooLarge],
    handle: (app, call) =>
      giveEntry(app, call.context, kind, call.params.organizationId, call.body),
    present: kind.present,
  });
}

export const balanceOperations = [
  listing("adminListCredits", credit, [
    "id",
    "amount currency",
    "remaining",
    "status",
    "reason",
    "expiresAt",
    "createdBy",
  ]),
  giving(credit, {
    id: "adminApplyCredit",
    summary: "Give an organization a credit",
    description:
      "Reduces the organization's next platform invoices in this currency, until the credit is used up or expires.",
    cli: {
      name: "billing credit",
      summary: "Give an organization a credit for its next platform invoices",
      flags: {
        amount: { isArgument: true, description: "such as 25.00" },
        currency: { description: "such as USD", ask: "The currency, such as USD" },
        reason: reasonFlag,
        expiresAt: {
          description: "expiry time, such as 2027-01-01T00:00:00.000Z (default: never)",
        },
      },
      examples: [
        `till billing credit 25.00 ${example} --currency USD --reason 'Outage of Monday'`,
        `till billing credit 25.00 ${example} --currency USD --reason Goodwill --yes --json`,
      ],
      async look(app, call) {
        const organizationId = call.flag("organization") as Id<"organization">;
        const currency = call.flag("currency") ?? "";
        const open = await sumUsableCredits(app, organizationId, currency);
        return {
          subject: call.organization(),
          changes: ({ amount, reason, expiresAt }) => [
            ...(open === null
              ? []
              : ([
                  [
                    "Usable credit",
                    `${formatMoney(open)} ${currency}`,
                    `${formatMoney(add(open, parseMoney(amount, open.asset)))} ${currency}`,
                  ],
                ] as const)),
            ["Reason on the invoice", null, reason],
            ["Expires", null, expiresAt ?? "never"],
          ],
        };
      },
      confirm: (call, subject) =>
        `Give ${subject}, a credit of ${call.argument("amount")} ${call.flag("currency") ?? ""}?`,
      columns: ["id", "organizationId", "amount currency", "reason", "expiresAt", "createdBy"],
    },
  }),
  listing("adminListDiscounts", discount, [
    "id",
    { title: "Value", value: (one) => `${one.value} ${one.currency ?? "%"}` },
    "periods",
    "periodsUsed",
    "status",
    "reason",
    "createdBy",
  ]),
  giving(discount, {
    id: "adminApplyDiscount",
    summary: "Give an organization a discount",
    description:
      "Reduces the plan and usage charges of up to `periods` platform invoices, or of all if `periods` is absent. Percentages apply first, each to the amount that the previous ones left, then fixed amounts.",
    errors: [DiscountCurrencyMismatch],
  }),
  listing("adminListManualAdjustments", adjustment, [
    "id",
    "amount currency",
    "status",
    "platformInvoiceId",
    "description",
    "createdBy",
  ]),
  giving(adjustment, {
    id: "adminCreateManualAdjustment",
    summary: "Adjust an organization's next platform invoice",
    description:
      "Adds the amount to the next platform invoice in this currency, as a line. A positive amount is charged, a negative one is deducted. Discounts do not apply to it.",
    cli: {
      name: "billing adjust",
      summary: "Add a charge or a deduction to an organization's next platform invoice",
      flags: {
        amount: {
          placeholder: "amount",
          description: "such as 15.00; a negative amount is deducted: --amount=-4.10",
          ask: "The amount; a negative one is deducted",
        },
        currency: { description: "such as USD", ask: "The currency, such as USD" },
        description: { name: "reason", ...reasonFlag },
      },
      examples: [
        `till billing adjust ${example} --amount 15.00 --currency USD --reason Onboarding`,
        `till billing adjust ${example} --amount=-4.10 --currency USD --reason SLA --yes --json`,
      ],
      look: (_app, call) => ({
        subject: call.organization(),
        changes: ({ amount, currency, description }) => [
          ["Next invoice", null, `${amount} ${currency}`],
          ["Reason on the invoice", null, description],
        ],
      }),
      confirm: (call, subject) =>
        `Add ${call.flag("amount") ?? ""} ${call.flag("currency") ?? ""} to the next invoice of ${subject}?`,
      columns: ["id", "organizationId", "amount currency", "description", "status", "createdBy"],
    },
  }),
];

const receiveWalletOperations = [
  operation({
    id: "adminGetReceiveWallet",
    group: "Admin",
    method: "GET",
    path: "/admin/billing/receive-wallet",
    summary: "Get the wallet at which the platform is paid",
    description: "All fields are null until a wallet is set.",
    access: platformRead,
    response: { status: 200, record: PlatformReceiveWalletRecord },
    errors: [],
    handle: (app) => getReceiveWallet(app),
    present: presentReceiveWallet,
  }),
  operation({
    id: "adminSetReceiveWallet",
    group: "Admin",
    method: "PUT",
    path: "/admin/billing/receive-wallet",
    summary: "Set the wallet at which the platform is paid",
    description:
      "The wallet must belong to the platform organization, and the token to the wallet's network. The setting applies to platform invoices that are issued from now on; open ones stay payable at the wallet that they name.",
    access: platformWrite,
    request: { body: SetPlatformReceiveWalletRequest },
    response: { status: 200, record: PlatformReceiveWalletRecord },
    errors: [ReceiveWalletUnusable],
    handle: (app, call) => setReceiveWallet(app, call.context, call.body),
    present: presentReceiveWallet,
  }),
  operation({
    id: "adminListPlatformWallets",
    group: "Admin",
    method: "GET",
    path: "/admin/billing/wallets",
    summary: "List the platform organization's wallets",
    access: platformRead,
    request: { query: pageParameters },
    response: { status: 200, record: WalletListRecord },
    errors: [],
    handle: (app, call) => listPlatformWallets(app, call.query),
    present: (page: Page<WalletView>) => mapPage(page, presentWallet),
  }),
];

export const billingModule: FeatureModule = {
  operations: [
    ...subscriptionOperations,
    ...balanceOperations,
    ...receiveWalletOperations,
    ...platformInvoiceOperations,
  ],
  checks: billingChecks,
  workers: (app) => [billingWorker(app)],
};
