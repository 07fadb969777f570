import { transitions } from "../../kernel/transitions.ts";

export const verificationStatuses = [
  "unverified",
  "pending_review",
  "changes_requested",
  "approved",
  "rejected",
] as const;
export type VerificationStatus = (typeof verificationStatuses)[number];

export const decisions = ["approve", "reject", "request_changes"] as const;
export type Decision = (typeof decisions)[number];

/**
 * What becomes of money that comes after an invoice's deadline: it counts like any other, or it waits for the merchant.
 */
export const latePaymentRules = ["accept", "review"] as const;
export type LatePayments = (typeof latePaymentRules)[number];

/** How long an invoice's amount may wait for late money, in days. */
export const lateWindowDays = { least: 1, most: 90, usual: 7 } as const;

/** Who may be what next. An approved organization that changes a legal field is unverified again. */
export const verification = transitions<VerificationStatus>({
  unverified: ["pending_review"],
  pending_review: ["approved", "rejected", "changes_requested"],
  changes_requested: ["pending_review"],
  rejected: ["pending_review"],
  approved: ["unverified"],
});

export const statusAfter = {
  approve: "approved",
  reject: "rejected",
  request_changes: "changes_requested",
} as const satisfies Readonly<Record<Decision, VerificationStatus>>;

/** What the review is about: changing one of these undoes an approval. */
export const legalFields = [
  "legalName",
  "registrationNumber",
  "country",
  "address",
  "businessDescription",
] as const;

/** What a submission needs. */
const neededFields = [...legalFields, "contactEmail"] as const;

type Profile = { readonly [Name in (typeof neededFields)[number]]: string | null };

/** The fields that a submission lacks, in the order of the record. */
export function missingForReview(profile: Profile): readonly string[] {
  return neededFields.filter((name) => profile[name] === null);
}

/** Whether a change touches what was reviewed. */
export function changesLegalFields(
  current: Profile,
  changes: { readonly [Name in keyof Profile]?: string | null | undefined },
): boolean {
  return legalFields.some((name) => changes[name] !== undefined && changes[name] !== current[name]);
}
