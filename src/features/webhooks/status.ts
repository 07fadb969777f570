export const endpointStatuses = ["enabled", "disabled"] as const;
export type EndpointStatus = (typeof endpointStatuses)[number];

export const deliveryStatuses = [
  "pending",
  "in_progress",
  "succeeded",
  "failed",
  "dead_letter",
] as const;
/** `failed` is tried again; `dead_letter` never moves by itself. */
export type DeliveryStatus = (typeof deliveryStatuses)[number];
