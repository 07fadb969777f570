export const endpointStatuses = ["enabled", "disabled"] as const;
export type EndpointStatus = (typeof endpointStatuses)[number];

export const deliveryStatuses = [
  "pending",
  "in_progress",
  "succeeded",
  "failed",
  "dead_letter",
] as const;
/** `failed` deliveries are retried; `dead_letter` ones only by a replay. */
export type DeliveryStatus = (typeof deliveryStatuses)[number];
