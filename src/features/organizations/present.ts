import type { z } from "zod";
import { toIso, toIsoOrNull } from "../../kernel/clock.ts";
import type { OrganizationRecord, PaymentPolicyRecord } from "./records.ts";
import type { OrganizationRow } from "./table.ts";

export function presentOrganization(row: OrganizationRow): z.input<typeof OrganizationRecord> {
  return {
    id: row.id,
    name: row.name,
    displayName: row.displayName,
    status: row.status,
    verificationStatus: row.verificationStatus,
    legalName: row.legalName,
    registrationNumber: row.registrationNumber,
    country: row.country,
    address: row.address,
    website: row.website,
    contactEmail: row.contactEmail,
    businessDescription: row.businessDescription,
    reviewNote: row.reviewNote,
    kybSubmittedAt: toIsoOrNull(row.kybSubmittedAt),
    reviewedAt: toIsoOrNull(row.reviewedAt),
    createdAt: toIso(row.createdAt),
    updatedAt: toIso(row.updatedAt),
  };
}

export function presentPaymentPolicy(row: OrganizationRow): z.input<typeof PaymentPolicyRecord> {
  return { latePayments: row.latePayments, lateWindowDays: row.lateWindowDays };
}
