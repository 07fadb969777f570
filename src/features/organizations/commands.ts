import type { App } from "../../app.ts";
import { latePaymentRules } from "./rules.ts";
import {
  commandsOf,
  organizationArgument,
  neededOrganization,
  type Column,
  type CommandCall,
  type Looked,
} from "../../api/declare/command.ts";
import { InvalidRequest } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { readOptionFlag } from "./checkout-policy/option-list.ts";
import { getOrganization, updateOrganization } from "./organizations.ts";
import { updatePaymentPolicy } from "./payment-policy.ts";
import {
  presentOrganization,
  presentPaymentPolicy,
  UpdateOrganizationRequest,
  UpdatePaymentPolicyRequest,
} from "./records.ts";

const command = commandsOf<App>();

const columns: readonly Column<ReturnType<typeof presentPaymentPolicy>>[] = [
  "latePayments",
  { title: "Late window", value: (policy) => `${String(policy.lateWindowDays)} days` },
  {
    title: "Payment options",
    value: ({ paymentOptions }) =>
      paymentOptions?.map(({ network, tokenSymbol }) => `${network}/${tokenSymbol}`).join(" ") ??
      null,
  },
];

export const paymentPolicyCommands = [
  command({
    name: "payments policy",
    summary: "Show how late payments are handled, and which tokens invoices offer",
    flags: [neededOrganization],
    examples: [
      "till payments policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till payments policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: (app, call) => getOrganization(app, call.flag("organization") as Id<"organization">),
    present: presentPaymentPolicy,
    columns,
    identify: (policy) => policy.latePayments,
  }),
  command({
    name: "payments set-policy",
    summary: "Set how late payments are handled, and which tokens invoices offer",
    flags: [
      neededOrganization,
      {
        flags: "--late-payments <rule>",
        choices: latePaymentRules,
        description:
          "payments after the invoice's deadline: accept counts them, review leaves the decision to the merchant",
      },
      {
        flags: "--late-window-days <days>",
        description:
          "days for which an expired invoice's amount stays reserved for late payments, 1 to 90",
      },
      {
        flags: "--payment-options <options>",
        description:
          "tokens and networks that invoices offer if their request names none: tron/USDT ethereum/USDC",
      },
      {
        flags: "--drop-payment-options",
        description: "every request for an invoice must name its token and network",
      },
    ],
    examples: [
      "till payments set-policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --late-payments review",
      "till payments set-policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --late-payments accept --yes",
      "till payments set-policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --late-window-days 3 --yes",
      "till payments set-policy --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --payment-options 'tron/USDT ethereum/USDC' --yes",
    ],
    effect: "write",
    look: async (app, call) => ({
      subject: call.organization(),
      before: presentPaymentPolicy(
        await getOrganization(app, call.flag("organization") as Id<"organization">),
      ),
    }),
    confirm: (call, subject) => `Set ${changesIn(call)} for ${subject}?`,
    handle(app, call) {
      changesIn(call);
      const days = call.flag("late-window-days");
      return updatePaymentPolicy(
        app,
        call.context,
        call.flag("organization") as Id<"organization">,
        call.parse(UpdatePaymentPolicyRequest, {
          latePayments: call.flag("late-payments"),
          lateWindowDays: days === undefined ? undefined : Number(days),
          paymentOptions: call.isSet("drop-payment-options") ? null : readOptionFlag(call),
        }),
        () => undefined,
      );
    },
    present: presentPaymentPolicy,
    columns,
    identify: (policy) => policy.latePayments,
  }),
];

export const brandingCommands = [
  command({
    name: "org brand",
    summary: "Set the logo and the color that an organization's payers see",
    arguments: [organizationArgument],
    flags: [
      {
        flags: "--accent-color <color>",
        description: "color of buttons and links, such as #0b5f4e",
      },
      {
        flags: "--logo <file>",
        description: "PNG, JPEG or WebP of at most 64 KiB, 32 to 1,024 pixels wide and high",
      },
      { flags: "--drop-accent-color", description: "show the usual color again" },
      { flags: "--drop-logo", description: "show no logo any more" },
    ],
    examples: [
      "till org brand org_01kq3v5m8w2f6n9r4t7x0z1c3e --accent-color '#7a1f5c' --logo shop.png",
      "till org brand org_01kq3v5m8w2f6n9r4t7x0z1c3e --drop-logo",
    ],
    effect: "write",
    look,
    async handle(app, call) {
      for (const name of ["accent-color", "logo"]) {
        if (call.flag(name) !== undefined && call.isSet(`drop-${name}`)) {
          throw new InvalidRequest(`Give either --${name} or --drop-${name}, not both.`);
        }
      }
      const file = call.flag("logo");
      const input = {
        accentColor: call.isSet("drop-accent-color") ? null : call.flag("accent-color"),
        logo: call.isSet("drop-logo")
          ? null
          : file === undefined
            ? undefined
            : (await call.readFile(file)).toString("base64"),
      };
      if (input.accentColor === undefined && input.logo === undefined) {
        throw new InvalidRequest(
          "Nothing to change: give --accent-color, --logo, --drop-accent-color or --drop-logo.",
        );
      }
      return updateOrganization(
        app,
        call.context,
        call.argument("organizationId") as Id<"organization">,
        call.parse(UpdateOrganizationRequest, input),
        () => undefined,
      );
    },
    present: presentOrganization,
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
  }),
];

export const originCommands = [
  command({
    name: "org origins",
    summary: "Set the origins of an organization's own pages",
    arguments: [organizationArgument],
    flags: [
      {
        flags: "--origins <list>",
        field: "allowedOrigins",
        description: "all allowed origins with commas between them, such as https://shop.example",
      },
      { flags: "--none", description: "allow no origin: nobody may embed the checkout" },
    ],
    examples: [
      "till org origins org_01kq3v5m8w2f6n9r4t7x0z1c3e --origins https://shop.example,https://www.shop.example",
      "till org origins org_01kq3v5m8w2f6n9r4t7x0z1c3e --none",
    ],
    effect: "write",
    look,
    handle(app, call) {
      const list = call.flag("origins");
      if ((list === undefined) === !call.isSet("none")) {
        throw new InvalidRequest("Give either --origins or --none.");
      }
      const allowedOrigins = list?.split(",").map((origin) => origin.trim()) ?? [];
      return updateOrganization(
        app,
        call.context,
        call.argument("organizationId") as Id<"organization">,
        call.parse(UpdateOrganizationRequest, { allowedOrigins }),
        () => undefined,
      );
    },
    present: presentOrganization,
    columns: [
      "id",
      ["displayName", "Name"],
      { title: "Origins", value: (one) => one.allowedOrigins.join(", ") },
    ],
  }),
];

async function look(
  app: App,
  call: CommandCall,
): Promise<Looked<ReturnType<typeof presentOrganization>>> {
  const row = await getOrganization(app, call.argument("organizationId") as Id<"organization">);
  return {
    subject: `${row.displayName} (${row.id}), ${row.verificationStatus}`,
    before: presentOrganization(row),
  };
}

/** Returns the new values in words: `late payments to review and the late window to 3 days`. */
function changesIn(call: CommandCall): string {
  const rule = call.flag("late-payments");
  const days = call.flag("late-window-days");
  const options = call.flag("payment-options");
  const isDropped = call.isSet("drop-payment-options");
  if (options !== undefined && isDropped) {
    throw new InvalidRequest("Give --payment-options or --drop-payment-options, not both.");
  }
  const changes = [
    ...(rule === undefined ? [] : [`late payments to ${rule}`]),
    ...(days === undefined ? [] : [`the late window to ${days} days`]),
    ...(options === undefined ? [] : [`the payment options to ${options}`]),
    ...(isDropped ? ["no payment options"] : []),
  ];
  if (changes.length > 0) return changes.join(" and ");
  throw new InvalidRequest(
    "Nothing to change: give --late-payments, --late-window-days, --payment-options or --drop-payment-options.",
  );
}
