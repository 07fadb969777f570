/** When simulated merchants pay their platform invoices. */
export const paymentHabits = ["on-time", "late", "never"] as const;
export type PaymentHabit = (typeof paymentHabits)[number];
