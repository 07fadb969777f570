import { z } from "zod";
import { pageParameters } from "../../api/declare/list.ts";
import {
  datetime,
  email,
  id,
  line,
  listRecord,
  paragraph,
  record,
  requestRecord,
  responseRecord,
} from "../../api/declare/record.ts";
import { SubscriptionRecord } from "../billing/index.ts";
import { MembershipRecord } from "../members/index.ts";
import { decisions, OrganizationRecord, verificationStatuses } from "../organizations/index.ts";
import { WalletRecord } from "../wallets/index.ts";

const noteLengthMax = 2_000;
const nameLengthMax = 120;
const searchLengthMax = 200;

export const AdminReviewHistoryItemRecord = responseRecord("AdminReviewHistoryItem", {
  id: id("review"),
  decision: z.enum(["submitted", ...decisions]),
  fromStatus: z.string(),
  toStatus: z.string(),
  note: z.string().nullable(),
  reviewerId: z.string().nullable(),
  reviewerEmail: z.string().nullable(),
  createdAt: datetime(),
});

const AdminOrganizationRecord = record(
  "AdminOrganization",
  OrganizationRecord.extend({
    ownerEmail: z.string(),
    memberCount: z.int(),
    plan: z.string().nullable(),
    subscriptionStatus: z.string().nullable(),
  }),
);

export const AdminOrganizationDetailRecord = record(
  "AdminOrganizationDetail",
  AdminOrganizationRecord.extend({
    members: z.array(MembershipRecord),
    wallets: z.array(WalletRecord),
    subscription: SubscriptionRecord.nullable(),
    reviewHistory: z.array(AdminReviewHistoryItemRecord),
  }),
);

export const AdminOrganizationListRecord = listRecord(
  "AdminOrganizationList",
  AdminOrganizationRecord,
);

/** Filters of the list of organizations. */
export const organizationQuery = {
  ...pageParameters,
  verificationStatus: z.enum(verificationStatuses).optional(),
  search: z.string().min(1).max(searchLengthMax).optional(),
};
export const OrganizationQuery = z.strictObject(organizationQuery);

/** Input of `till init`. No operation takes it, so it has no public name. */
export const InitializeRequest = z.strictObject({
  adminEmail: email(),
  adminName: line(nameLengthMax),
  organization: line(nameLengthMax),
});

export const UpdateOrganizationVerificationRequest = requestRecord(
  "UpdateOrganizationVerificationRequest",
  {
    decision: z.enum(decisions),
    note: paragraph(noteLengthMax).nullish(),
  },
);
