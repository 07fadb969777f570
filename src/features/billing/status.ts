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

/** When simulated merchants pay their platform invoices. */
export const paymentHabits = ["on-time", "late", "never"] as const;
export type PaymentHabit = (typeof paymentHabits)[number];

/** The name of the background worker, by which it is woken. */
export const billingWorkerName = "billing";
