import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { presentSubscription, type SubscriptionView } from "../billing/records.ts";
import { presentMembership, presentUser } from "../members/records.ts";
import { presentOrganization } from "../organizations/records.ts";
import type { ReviewRow } from "../organizations/table.ts";
import { presentWallet } from "../wallets/records.ts";
import {
  AdminReviewHistoryItemRecord,
  type AdminOrganizationDetailRecord,
  type AdminOrganizationListRecord,
} from "./records.ts";
import type { Installed } from "./initialize.ts";
import type { OrganizationDetail, OrganizationEntry } from "./service.ts";

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
