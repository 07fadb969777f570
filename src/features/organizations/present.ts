import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { logoPath } from "./branding/logos.ts";
import { OrganizationRecord, PaymentPolicyRecord } from "./records.ts";
import type { OrganizationRow } from "./table.ts";

export function presentOrganization(row: OrganizationRow): z.input<typeof OrganizationRecord> {
  return presentRow(OrganizationRecord, row, {
    logoPath: logoPath(row.logo),
    pendingLogoPath: logoPath(row.pendingLogo),
  });
}

export function presentPaymentPolicy(row: OrganizationRow): z.input<typeof PaymentPolicyRecord> {
  return presentRow(PaymentPolicyRecord, row);
}
