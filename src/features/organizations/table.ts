import type { Id } from "../../kernel/id.ts";
import {
  flag,
  integer,
  json,
  table,
  text,
  time,
  type RowOf,
} from "../../platform/database/schema/table.ts";
import type { PaymentOption } from "./checkout-policy/payment-options.ts";
import type { Decision, LatePayments, VerificationStatus } from "./rules.ts";

export const organizations = table(
  "organizations",
  {
    id: text<Id<"organization">>(),
    name: text(),
    /** The name that payers see. */
    displayName: text(),
    /** The requested new name, which awaits the platform's review; null: none. */
    pendingDisplayName: text().nullable(),
    /** The color of buttons and links on the pages of payers, such as `#0b5f4e`; null: the usual one. */
    accentColor: text().nullable(),
    /** The name of the logo's file that payers see. */
    logo: text().nullable(),
    /** The requested new logo, which awaits the platform's review; null: none. */
    pendingLogo: text().nullable(),
    /** True for the one organization that bills the others and whose admins review them. */
    isPlatform: flag(),
    status: text<"active" | "suspended">(),
    verificationStatus: text<VerificationStatus>(),
    legalName: text().nullable(),
    registrationNumber: text().nullable(),
    country: text().nullable(),
    address: text().nullable(),
    website: text().nullable(),
    contactEmail: text().nullable(),
    businessDescription: text().nullable(),
    reviewNote: text().nullable(),
    kybSubmittedAt: time().nullable(),
    reviewedAt: time().nullable(),
    /** Handling of payments after an invoice's deadline. */
    latePayments: text<LatePayments>(),
    /** The origins of the merchant's own pages, such as `https://shop.example`. */
    allowedOrigins: json<readonly string[]>(),
    /** Days after its deadline or cancellation for which an invoice's amount stays reserved for late payments. */
    lateWindowDays: integer(),
    /** The options of invoices whose request names none; null: a request must name them. */
    paymentOptions: json<readonly PaymentOption[]>().nullable(),
    /** The user who created it; null if the operator did, and for organizations of earlier versions. */
    createdBy: text<Id<"user">>().nullable(),
    version: integer(),
    createdAt: time(),
    updatedAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      {
        name: "organizations_creator",
        columns: ["createdBy", "verificationStatus"],
        where: "created_by IS NOT NULL",
      },
      {
        name: "organizations_platform",
        columns: ["isPlatform"],
        unique: true,
        where: "is_platform = 1",
      },
      { name: "organizations_verification", columns: ["verificationStatus", "id"] },
      {
        name: "organizations_late_review",
        columns: ["id"],
        where: "late_payments = 'review'",
      },
    ],
  },
);

export const organizationReviews = table(
  "organization_reviews",
  {
    id: text<Id<"review">>(),
    organizationId: text<Id<"organization">>(),
    decision: text<Decision | "submitted">(),
    fromStatus: text<VerificationStatus>(),
    toStatus: text<VerificationStatus>(),
    note: text().nullable(),
    reviewerId: text().nullable(),
    reviewerEmail: text().nullable(),
    createdAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [{ name: "organization_reviews_organization", columns: ["organizationId", "id"] }],
  },
);

/** The files of the logos that are shown or requested. */
export const organizationLogos = table(
  "organization_logos",
  {
    /** With a digest of the content: `logo.0123456789abcdef0123456789abcdef.png`. */
    name: text(),
    organizationId: text<Id<"organization">>(),
    /** In Base64. */
    image: text(),
  },
  {
    primaryKey: ["name", "organizationId"],
    indexes: [{ name: "organization_logos_organization", columns: ["organizationId"] }],
  },
);

/** The storage that organizations have used before their approval. */
export const organizationAllowances = table(
  "organization_allowances",
  {
    organizationId: text<Id<"organization">>(),
    /** The texts of rows, events, audit entries and kept answers. */
    bytes: integer(),
    /** The number of drafts that were created. */
    drafts: integer(),
  },
  { primaryKey: ["organizationId"] },
);

export type LogoRow = RowOf<typeof organizationLogos>;
export type OrganizationRow = RowOf<typeof organizations>;
export type ReviewRow = RowOf<typeof organizationReviews>;
