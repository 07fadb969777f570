import type { z } from "zod";
import { toIso } from "../../kernel/clock.ts";
import { presentMembership } from "../members/index.ts";
import { presentOrganization, type ReviewRow } from "../organizations/index.ts";
import { presentWallet } from "../wallets/index.ts";
import type { AdminOrganizationDetailRecord, AdminReviewHistoryItemRecord } from "./records.ts";
import type { OrganizationDetail } from "./service.ts";

export function presentOrganizationDetail(
  detail: OrganizationDetail,
): z.input<typeof AdminOrganizationDetailRecord> {
  const owner = detail.members.find((member) => member.role === "owner");
  return {
    ...presentOrganization(detail.organization),
    ownerEmail: owner?.email ?? "",
    memberCount: detail.members.length,
    plan: null,
    subscriptionStatus: null,
    members: detail.members.map(presentMembership),
    wallets: detail.wallets.map(presentWallet),
    subscription: null,
    reviewHistory: detail.reviews.map(presentReview),
  };
}

function presentReview(review: ReviewRow): z.input<typeof AdminReviewHistoryItemRecord> {
  return {
    id: review.id,
    decision: review.decision,
    fromStatus: review.fromStatus,
    toStatus: review.toStatus,
    note: review.note,
    reviewerId: review.reviewerId,
    reviewerEmail: review.reviewerEmail,
    createdAt: toIso(review.createdAt),
  };
}
