import { z } from "zod";
import {
  datetime,
  id,
  paragraph,
  record,
  requestRecord,
  responseRecord,
} from "../../api/record.ts";
import { SubscriptionRecord } from "../billing/index.ts";
import { MembershipRecord } from "../members/index.ts";
import { decisions, OrganizationRecord } from "../organizations/index.ts";
import { WalletRecord } from "../wallets/index.ts";

const noteLengthMax = 2_000;

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

export const UpdateOrganizationVerificationRequest = requestRecord(
  "UpdateOrganizationVerificationRequest",
  {
    decision: z.enum(decisions),
    note: paragraph(noteLengthMax).nullish(),
  },
);
