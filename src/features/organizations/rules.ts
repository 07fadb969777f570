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

/** Handling of payments after an invoice's deadline: they count like others, or await the merchant's decision. */
export const latePaymentRules = ["accept", "review"] as const;
export type LatePayments = (typeof latePaymentRules)[number];

/** How long an invoice's amount may stay reserved for late payments, in days. */
export const lateWindowDays = { least: 1, most: 90, usual: 7 } as const;

/** Allowed transitions. Changing a legal field in an approved organization makes it unverified again. */
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

/** The reviewed fields. Changing one of them revokes an approval. */
const legalFields = [
  "legalName",
  "registrationNumber",
  "country",
  "address",
  "businessDescription",
] as const;

/** Fields required for a submission. */
const neededFields = [...legalFields, "contactEmail"] as const;

type Profile = { readonly [Name in (typeof neededFields)[number]]: string | null };

/** Returns the missing fields of a submission, in the order of the record. */
export function missingForReview(profile: Profile): readonly string[] {
  return neededFields.filter((name) => profile[name] === null);
}

/** Whether a change affects a reviewed field. */
export function changesLegalFields(
  current: Profile,
  changes: { readonly [Name in keyof Profile]?: string | null | undefined },
): boolean {
  return legalFields.some((name) => changes[name] !== undefined && changes[name] !== current[name]);
}
