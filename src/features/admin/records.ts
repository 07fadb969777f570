import * as z from "zod";
import {
  datetime,
  describeFields,
  email,
  id,
  line,
  listRecord,
  paragraph,
  presentRow,
  record,
  requestRecord,
  responseRecord,
} from "../../http/declare/record.ts";
import { pageParameters } from "../../http/declare/list.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import {
  presentSubscription,
  SubscriptionRecord,
  type SubscriptionView,
} from "../billing/records.ts";
import { MembershipRecord, presentMembership, presentUser } from "../members/records.ts";
import { OrganizationRecord, presentOrganization } from "../organizations/records.ts";
import { decisions, verificationStatuses } from "../organizations/rules.ts";
import type { ReviewRow } from "../organizations/store.ts";
import { presentWallet, WalletRecord } from "../wallets/records.ts";
import type { Installed } from "./initialize.ts";
import type { OrganizationDetail, OrganizationEntry } from "./organizations.ts";

const noteLengthMax = 2_000;
const nameLengthMax = 120;
const searchLengthMax = 200;

const AdminReviewHistoryItemRecord = responseRecord("AdminReviewHistoryItem", {
  id: id("review"),
  decision: z.enum(["submitted", ...decisions]),
  fromStatus: z.string(),
  toStatus: z.string(),
  note: z.string().nullable(),
  reviewerId: z.string().nullable(),
  reviewerEmail: z.string().nullable(),
  createdAt: datetime(),
});
describeFields(AdminReviewHistoryItemRecord, {
  decision: "`submitted` by the organization, or the decision of the platform.",
  fromStatus: "The organization's `verificationStatus` before.",
  toStatus: "The organization's `verificationStatus` after.",
  note: "The reviewer's note to the organization; null without one.",
  reviewerId: "The id of the user or API key that decided; null for a submission or the operator.",
  reviewerEmail: "The e-mail address of the user who decided; null for others.",
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
describeFields(AdminOrganizationRecord, {
  ownerEmail: "The e-mail address of an owner.",
  memberCount: "Number of members.",
  plan: "The id of the organization's plan; null without a subscription, or if it is canceled.",
  subscriptionStatus: "The status of the subscription; null without one.",
});

export const AdminOrganizationDetailRecord = record(
  "AdminOrganizationDetail",
  AdminOrganizationRecord.extend({
    members: z.array(MembershipRecord),
    wallets: z.array(WalletRecord),
    subscription: SubscriptionRecord.nullable(),
    reviewHistory: z.array(AdminReviewHistoryItemRecord),
  }),
);
describeFields(AdminOrganizationDetailRecord, {
  members: "The organization's members.",
  wallets: "The organization's receiving wallets.",
  subscription: "The organization's subscription; null without one.",
  reviewHistory: "The submissions and decisions of its verification.",
});

export const AdminOrganizationListRecord = listRecord(
  "AdminOrganizationList",
  AdminOrganizationRecord,
);

/** Filters of the list of organizations. */
export const organizationQuery = {
  ...pageParameters,
  verificationStatus: z
    .enum(verificationStatuses)
    .optional()
    .meta({ description: "Only organizations with this status." }),
  search: z.string().min(1).max(searchLengthMax).optional().meta({
    description:
      "A part of the name, of the name that payers see, or of the contact's e-mail address; or a whole id. Case is ignored.",
  }),
};

/** The columns of an organization after a decision or change of its status, in a terminal. */
export const outcomeColumns = [
  "id",
  ["displayName", "Name"],
  "status",
  "verificationStatus",
  "ownerEmail",
  ["logoPath", "Logo"],
] as const;

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
describeFields(UpdateOrganizationVerificationRequest, {
  decision: "The platform's decision about the organization's verification.",
  note: "A note to the organization, which its members see as `reviewNote`.",
});

export function presentOrganizations(
  page: Page<OrganizationEntry>,
): z.input<typeof AdminOrganizationListRecord> {
  return mapPage(page, ({ organization, members, subscription }) => ({
    ...presentOrganization(organization),
    ...members,
    ...presentPlan(subscription),
  }));
}

export function presentOrganizationDetail(
  detail: OrganizationDetail,
): z.input<typeof AdminOrganizationDetailRecord> {
  const owner = detail.members.find((member) => member.role === "owner");
  return {
    ...presentOrganization(detail.organization),
    ownerEmail: owner?.email ?? "",
    memberCount: detail.members.length,
    ...presentPlan(detail.subscription),
    members: detail.members.map(presentMembership),
    wallets: detail.wallets.map(presentWallet),
    subscription: detail.subscription === null ? null : presentSubscription(detail.subscription),
    reviewHistory: detail.reviews.map(presentReview),
  };
}

/** Presents an organization's plan; null if its subscription is canceled or it never had one. */
function presentPlan(view: SubscriptionView | null) {
  if (view === null) return { plan: null, subscriptionStatus: null };
  const { status, terms } = view.subscription;
  return { plan: status === "canceled" ? null : terms.id, subscriptionStatus: status };
}

/** Presents the result of `till init`. */
export function presentInstalled({ organization, user }: Installed) {
  return { organization: presentOrganization(organization), user: presentUser(user) };
}

function presentReview(review: ReviewRow): z.input<typeof AdminReviewHistoryItemRecord> {
  return presentRow(AdminReviewHistoryItemRecord, review);
}
