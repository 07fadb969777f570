import type { App } from "../../app.ts";
import { authenticated, organization } from "../../http/declare/permissions.ts";
import type { CommandCall } from "../../http/declare/command.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { pageParameters } from "../../http/declare/list.ts";
import { operation } from "../../http/declare/operation.ts";
import type { Id } from "../../kernel/id.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { readOptionList } from "./option-list.ts";
import {
  createOrganization,
  getOrganization,
  InReview,
  KeyHasNoOwner,
  listOrganizations,
  TooManyUnapproved,
  updateOrganization,
  updatePaymentPolicy,
} from "./organizations.ts";
import {
  CreateOrganizationRequest,
  OrganizationListRecord,
  OrganizationRecord,
  PaymentPolicyRecord,
  presentOrganization,
  presentPaymentPolicy,
  UpdateOrganizationRequest,
  UpdatePaymentPolicyRequest,
} from "./records.ts";
import type { OrganizationRow } from "./store.ts";
import {
  KybIncomplete,
  organizationChecks,
  submitKyb,
  VerificationConflict,
} from "./verification.ts";

/** The columns of a payment policy in a terminal. */
const policyColumns = [
  "latePayments",
  {
    title: "Late window",
    value: ({ lateWindowDays }: { readonly lateWindowDays: number }) =>
      `${String(lateWindowDays)} days`,
  },
  {
    title: "Payment options",
    value: ({ paymentOptions }: ReturnType<typeof presentPaymentPolicy>) =>
      paymentOptions?.map(({ network, tokenSymbol }) => `${network}/${tokenSymbol}`).join(" ") ??
      null,
  },
] as const;

/** Returns the new policy in words: `late payments to review and the late window to 3 days`. */
function policyIn(call: CommandCall): string {
  const named = [
    ["late payments to ", call.flag("late-payments"), ""],
    ["the late window to ", call.flag("late-window-days"), " days"],
    ["the payment options to ", call.flag("payment-options"), ""],
    ["no payment options", call.isSet("drop-payment-options") ? "" : undefined, ""],
  ] as const;
  return named
    .flatMap(([before, value, after]) => (value === undefined ? [] : `${before}${value}${after}`))
    .join(" and ");
}

/** Reads the organization of a command that names it by its argument. */
async function look(app: App, call: CommandCall) {
  const row = await getOrganization(app, call.argument("organizationId") as Id<"organization">);
  return {
    subject: `${row.displayName} (${row.id}), ${row.verificationStatus}`,
    before: presentOrganization(row),
  };
}

const organizationOperations = [
  operation({
    id: "listOrganizations",
    group: "Organizations",
    method: "GET",
    path: "/organizations",
    summary: "List your organizations",
    description:
      "A user gets the organizations of which they are a member; an API key gets its own.",
    access: authenticated("organization:read"),
    request: { query: pageParameters },
    response: { status: 200, record: OrganizationListRecord },
    errors: [],
    handle: (app, call) => listOrganizations(app, call.actor, call.query),
    present: (page: Page<OrganizationRow>) => mapPage(page, presentOrganization),
  }),
  operation({
    id: "createOrganization",
    group: "Organizations",
    method: "POST",
    path: "/organizations",
    summary: "Create an organization",
    description: "The caller becomes the owner; with an API key, the user who created the key.",
    access: authenticated("organizations:create"),
    request: { body: CreateOrganizationRequest },
    response: { status: 201, record: OrganizationRecord },
    errors: [KeyHasNoOwner, TooManyUnapproved],
    handle: (app, call) => createOrganization(app, call.context, call.actor, call.body),
    present: presentOrganization,
  }),
  operation({
    id: "getOrganization",
    group: "Organizations",
    method: "GET",
    path: "/organizations/{organizationId}",
    summary: "Get an organization",
    access: organization("organization:read"),
    response: { status: 200, record: OrganizationRecord },
    errors: [],
    handle: (app, call) => getOrganization(app, call.organizationId),
    present: presentOrganization,
  }),
  operation({
    id: "updateOrganization",
    group: "Organizations",
    method: "PATCH",
    path: "/organizations/{organizationId}",
    summary: "Update an organization's profile and legal fields",
    description:
      "Legal fields, the display name and the logo cannot be changed during the review. Changing one in an approved organization resets it to `unverified`, which only stops the issuing of invoices.",
    access: organization("organization:write"),
    request: { body: UpdateOrganizationRequest },
    response: { status: 200, record: OrganizationRecord },
    errors: [InReview],
    handle: (app, call) =>
      updateOrganization(app, call.context, call.organizationId, call.body, call.expect),
    present: presentOrganization,
    cli: [
      {
        name: "org brand",
        summary: "Set the logo and the color that an organization's payers see",
        organization: "argument",
        fields: ["accentColor", "logo"],
        flags: {
          accentColor: {
            placeholder: "color",
            description: "color of buttons and links, such as #0b5f4e",
            alternative: {
              name: "drop-accent-color",
              description: "show the usual color again",
              value: null,
            },
          },
          logo: {
            placeholder: "file",
            description: "PNG, JPEG or WebP of at most 64 KiB, 32 to 1,024 pixels wide and high",
            read: async (file, call) => (await call.readFile(file)).toString("base64"),
            alternative: { name: "drop-logo", description: "show no logo any more", value: null },
          },
        },
        examples: [
          "till org brand org_01kq3v5m8w2f6n9r4t7x0z1c3e --accent-color '#7a1f5c' --logo shop.png",
          "till org brand org_01kq3v5m8w2f6n9r4t7x0z1c3e --drop-logo",
        ],
        look,
        columns: [
          "id",
          ["displayName", "Name"],
          "accentColor",
          ["logoPath", "Logo"],
          ["pendingLogoPath", "Requested logo"],
        ],
        next: (one) =>
          one.pendingLogoPath === null
            ? `till org show ${one.id}`
            : `till org approve ${one.id} shows the new logo to payers`,
      },
      {
        name: "org origins",
        summary: "Set the origins of an organization's own pages",
        organization: "argument",
        fields: ["allowedOrigins"],
        flags: {
          allowedOrigins: {
            name: "origins",
            description:
              "all allowed origins with commas between them, such as https://shop.example",
            alternative: {
              name: "none",
              description: "allow no origin: nobody may embed the checkout",
              value: [],
            },
          },
        },
        examples: [
          "till org origins org_01kq3v5m8w2f6n9r4t7x0z1c3e --origins https://shop.example,https://www.shop.example",
          "till org origins org_01kq3v5m8w2f6n9r4t7x0z1c3e --none",
        ],
        look,
        columns: [
          "id",
          ["displayName", "Name"],
          { title: "Origins", value: (one) => one.allowedOrigins.join(", ") },
        ],
      },
    ],
  }),
  operation({
    id: "submitOrganizationKyb",
    group: "Organizations",
    method: "POST",
    path: "/organizations/{organizationId}/kyb/submit",
    summary: "Submit an organization for review",
    access: organization("organization:write"),
    response: { status: 200, record: OrganizationRecord },
    errors: [KybIncomplete, VerificationConflict],
    handle: (app, call) => submitKyb(app, call.context, call.organizationId),
    present: presentOrganization,
  }),
  operation({
    id: "getPaymentPolicy",
    group: "Organizations",
    method: "GET",
    path: "/organizations/{organizationId}/payment-policy",
    summary: "Get how late payments are handled, and which tokens invoices offer",
    access: organization("organization:read"),
    response: { status: 200, record: PaymentPolicyRecord },
    errors: [],
    handle: (app, call) => getOrganization(app, call.organizationId),
    present: presentPaymentPolicy,
    cli: {
      name: "payments policy",
      summary: "Show how late payments are handled, and which tokens invoices offer",
      examples: [
        "till payments policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till payments policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
      ],
      columns: policyColumns,
      identify: (policy) => policy.latePayments,
    },
  }),
  operation({
    id: "updatePaymentPolicy",
    group: "Organizations",
    method: "PATCH",
    path: "/organizations/{organizationId}/payment-policy",
    summary: "Set how late payments are handled, and which tokens invoices offer",
    description: "Applies to future payments and invoices; earlier decisions remain.",
    access: organization("organization:write"),
    request: { body: UpdatePaymentPolicyRequest },
    response: { status: 200, record: PaymentPolicyRecord },
    errors: [],
    handle: (app, call) =>
      updatePaymentPolicy(app, call.context, call.organizationId, call.body, call.expect),
    present: presentPaymentPolicy,
    cli: {
      name: "payments set-policy",
      flags: {
        latePayments: { placeholder: "rule" },
        lateWindowDays: {
          placeholder: "days",
          description:
            "days for which an expired invoice's amount stays reserved for late payments, 1 to 90",
        },
        paymentOptions: {
          placeholder: "options",
          description:
            "tokens and networks that invoices offer if their request names none: tron/USDT ethereum/USDC",
          read: readOptionList,
          alternative: {
            name: "drop-payment-options",
            description: "every request for an invoice must name its token and network",
            value: null,
          },
        },
      },
      examples: [
        "till payments set-policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --late-payments review",
        "till payments set-policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --late-payments accept --yes",
        "till payments set-policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --late-window-days 3 --yes",
        "till payments set-policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --payment-options 'tron/USDT ethereum/USDC' --yes",
      ],
      look: async (app, call) => ({
        subject: call.organization(),
        before: presentPaymentPolicy(
          await getOrganization(app, call.flag("organization") as Id<"organization">),
        ),
      }),
      confirm: (call, subject) => `Set ${policyIn(call)} for ${subject}?`,
      columns: policyColumns,
      identify: (policy) => policy.latePayments,
    },
  }),
];

export const organizationsModule: FeatureModule = {
  operations: organizationOperations,
  checks: organizationChecks,
};
