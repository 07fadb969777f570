import * as z from "zod";
import {
  country,
  datetime,
  describeFields,
  email,
  id,
  line,
  listRecord,
  paragraph,
  presentRow,
  requestRecord,
  responseRecord,
  webAddress,
} from "../../http/declare/record.ts";
import { logoBytesMax, logoPath } from "./logos.ts";
import { originList, paymentOptionsInput } from "./checkout-policy.ts";
import { latePaymentRules, lateWindowDays, verificationStatuses } from "./rules.ts";
import type { OrganizationRow } from "./store.ts";

const nameLengthMax = 120;
const addressLengthMax = 500;
const descriptionLengthMax = 2_000;
/** Length of the largest logo in Base64. */
const logoTextMax = 4 * Math.ceil(logoBytesMax / 3);

export const OrganizationRecord = responseRecord("Organization", {
  id: id("organization"),
  name: z.string(),
  displayName: z.string().meta({ description: "The name that payers see." }),
  pendingDisplayName: z.string().nullable().meta({
    description:
      "The new name that payers will see once the platform has approved it. Null: none is waiting.",
  }),
  accentColor: z.string().nullable().meta({
    description: "The color of buttons and links on the pages of payers. Null: the usual one.",
  }),
  logoPath: z.string().nullable().meta({
    description: "The path of the logo that payers see, below this instance's address.",
  }),
  pendingLogoPath: z.string().nullable().meta({
    description:
      "The path of the new logo that payers will see once the platform has approved it. Null: none is waiting.",
  }),
  allowedOrigins: z.array(z.string()).meta({
    description:
      "The origins of the merchant's own pages: payers return to them, and their pages may embed the checkout and read it by scripts.",
  }),
  status: z.enum(["active", "suspended"]),
  verificationStatus: z.enum(verificationStatuses),
  legalName: z.string().nullable(),
  registrationNumber: z.string().nullable(),
  country: z.string().nullable(),
  address: z.string().nullable(),
  website: z.string().nullable().meta({ description: "Shown to payers." }),
  contactEmail: z.string().nullable().meta({
    description: "Shown to payers, for questions about their payments.",
  }),
  businessDescription: z.string().nullable(),
  reviewNote: z.string().nullable(),
  kybSubmittedAt: datetime().nullable(),
  reviewedAt: datetime().nullable(),
  createdAt: datetime(),
  updatedAt: datetime(),
});
describeFields(OrganizationRecord, {
  name: "The organization's name, which its members see.",
  status: "A `suspended` organization is read-only.",
  verificationStatus: "The state of the verification by the platform.",
  legalName: "The registered name of the business; null until it is given.",
  registrationNumber: "The number of the business in its register; null until it is given.",
  country: "The country of the business: ISO 3166-1 alpha-2, such as `DE`; null until it is given.",
  address: "The postal address of the business; null until it is given.",
  businessDescription: "The goods or services that the business sells; null until it is given.",
  reviewNote: "The platform's note about its last decision; null without one.",
  kybSubmittedAt: "Time of the last submission for review: ISO 8601, UTC; null without one.",
  reviewedAt: "Time of the platform's last decision: ISO 8601, UTC; null without one.",
});

export function presentOrganization(row: OrganizationRow): z.input<typeof OrganizationRecord> {
  return presentRow(OrganizationRecord, row, {
    logoPath: logoPath(row.logo),
    pendingLogoPath: logoPath(row.pendingLogo),
  });
}

export const OrganizationListRecord = listRecord("OrganizationList", OrganizationRecord);

export const CreateOrganizationRequest = requestRecord("CreateOrganizationRequest", {
  name: line(nameLengthMax),
});
describeFields(CreateOrganizationRequest, {
  name: "The organization's name.",
});
export type CreateOrganizationInput = z.output<typeof CreateOrganizationRequest>;

export const UpdateOrganizationRequest = requestRecord("UpdateOrganizationRequest", {
  name: line(nameLengthMax).optional(),
  displayName: line(nameLengthMax).optional().meta({
    description:
      "The name that payers see. Where verification is required, a new name of an organization that was reviewed before waits in `pendingDisplayName` for the next approval.",
  }),
  accentColor: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i, { error: "must be a color such as #0b5f4e" })
    .toLowerCase()
    .nullish()
    .meta({
      description:
        "The color of buttons and links on the pages of payers, such as `#0b5f4e`. Where it would be hard to read, the pages use a lighter or darker shade of it. Null: the usual color.",
    }),
  logo: z
    .base64({ error: "must be the content of an image file in Base64" })
    .max(logoTextMax, { error: `must have at most ${String(logoTextMax)} characters` })
    .nullish()
    .meta({
      description:
        "The content of the logo's file in Base64: a PNG, JPEG or WebP image of at most 64 KiB, 32 to 1,024 pixels wide and high, without animation. Payers receive the file as it is, with its metadata. Where verification is required, a new logo of an organization that was reviewed before waits for the next approval. Null removes the logo.",
    }),
  allowedOrigins: originList().optional().meta({
    description:
      "The origins of your own pages, such as `https://shop.example`; `http` for localhost only. Invoices that are issued from now on may send payers back to these origins only, pages of these origins may embed the checkout, and their scripts may read it with `GET`. While the list is empty, payers may be sent back anywhere and nobody may embed the checkout.",
  }),
  legalName: line(nameLengthMax).nullish(),
  registrationNumber: line(nameLengthMax).nullish(),
  country: country().nullish(),
  address: paragraph(addressLengthMax).nullish(),
  website: webAddress().nullish(),
  contactEmail: email().nullish(),
  businessDescription: paragraph(descriptionLengthMax).nullish(),
});
describeFields(UpdateOrganizationRequest, {
  name: "The organization's name, which its members see.",
  legalName:
    "The registered name of the business; null removes it. Changing it revokes an approval.",
  registrationNumber:
    "The number of the business in its register; null removes it. Changing it revokes an approval.",
  country:
    "The country of the business: ISO 3166-1 alpha-2, such as `DE`; null removes it. Changing it revokes an approval.",
  address: "The postal address of the business; null removes it. Changing it revokes an approval.",
  website: "The website that payers see: an http or https URL; null removes it.",
  contactEmail:
    "The e-mail address that payers see, for questions about their payments; null removes it.",
  businessDescription:
    "The goods or services that the business sells; null removes it. Changing it revokes an approval.",
});
export type UpdateOrganizationInput = z.output<typeof UpdateOrganizationRequest>;

const latePayments = () =>
  z.enum(latePaymentRules).meta({
    description:
      "Payments after an invoice's deadline: `accept` counts them, `review` holds them for the merchant's decision.",
  });

const windowDays = () =>
  z.int().min(lateWindowDays.least).max(lateWindowDays.most).meta({
    description:
      "Days after its deadline or cancellation for which an invoice can still be paid and its amount stays reserved; 7 by default. A shorter window frees amounts at shared addresses sooner.",
  });

export const UsualPaymentOptionRecord = responseRecord("UsualPaymentOption", {
  network: z.string(),
  tokenSymbol: z.string(),
  walletId: id("wallet").nullable(),
});

export const PaymentPolicyRecord = responseRecord("PaymentPolicy", {
  latePayments: latePayments(),
  lateWindowDays: windowDays(),
  paymentOptions: z.array(UsualPaymentOptionRecord).nullable().meta({
    description:
      "The tokens and networks that an invoice offers if its request names none. Null: a request must name them.",
  }),
});

export function presentPaymentPolicy(row: OrganizationRow): z.input<typeof PaymentPolicyRecord> {
  return presentRow(PaymentPolicyRecord, row);
}

export const UpdatePaymentPolicyRequest = requestRecord("UpdatePaymentPolicyRequest", {
  latePayments: latePayments().optional(),
  lateWindowDays: windowDays().optional(),
  paymentOptions: paymentOptionsInput().nullish().meta({
    description:
      "The tokens and networks that an invoice offers if its request names none, each combination once; the first is in force at the issue. Null: a request must name them.",
  }),
});
export type UpdatePaymentPolicyInput = z.output<typeof UpdatePaymentPolicyRequest>;
