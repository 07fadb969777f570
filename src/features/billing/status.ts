/** The statuses of a subscription. */
export const subscriptionStatuses = [
  "trialing",
  "active",
  "past_due",
  "suspended",
  "canceled",
] as const;
export type SubscriptionStatus = (typeof subscriptionStatuses)[number];

/** When an operator's cancellation takes effect; `never` withdraws a scheduled one. */
export const cancelTimes = ["now", "period_end", "never"] as const;

/** The name of the background worker, by which it is woken. */
export const billingWorkerName = "billing";
