/** The statuses of a subscription. */
export const subscriptionStatuses = [
  "trialing",
  "active",
  "past_due",
  "suspended",
  "canceled",
] as const;
export type SubscriptionStatus = (typeof subscriptionStatuses)[number];
