export { webhookChecks } from "./checks.ts";
export { createDeliverer, type Deliverer } from "./deliverer.ts";
export { makeEndpointWriter } from "./endpoint-writer.ts";
export { makeFanOut } from "./fan-out.ts";
export { deliveryBacklog, type DeliveryBacklog } from "./glance.ts";
export { webhookOperations } from "./operations.ts";
export {
  deadLetters,
  listAllDeliveries,
  type PlatformDelivery,
  type PlatformDeliveryFilters,
} from "./oversight.ts";
export { presentDelivery } from "./present.ts";
export { WebhookDeliveryRecord } from "./records.ts";
export { makeWebhookService, type WebhookService } from "./service.ts";
export { pruneDeliveries, wipeOldSecrets } from "./retention.ts";
export { deliveryStatuses } from "./status.ts";
