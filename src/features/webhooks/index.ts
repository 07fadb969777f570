export { createDeliverer, type Deliverer } from "./deliverer.ts";
export { makeEndpointWriter } from "./endpoint-writer.ts";
export { makeFanOut } from "./fan-out.ts";
export { webhookOperations } from "./operations.ts";
export {
  deadLetters,
  deliveryBacklog,
  listAllDeliveries,
  type DeliveryBacklog,
  type PlatformDelivery,
  type PlatformDeliveryFilters,
} from "./oversight.ts";
export { presentDelivery } from "./present.ts";
export { WebhookDeliveryRecord } from "./records.ts";
export { pruneDeliveries } from "./retention.ts";
export { makeWebhookService, type WebhookService } from "./service.ts";
export { deliveryStatuses } from "./status.ts";
