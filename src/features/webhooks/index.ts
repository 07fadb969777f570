export { createDeliverer, type Deliverer } from "./delivery/deliverer.ts";
export { makeEndpointWriter } from "./endpoints/writer.ts";
export { makeFanOut } from "./delivery/fan-out.ts";
export { deliveryBacklog, type DeliveryBacklog } from "./delivery/backlog.ts";
export {
  deadLetters,
  listAllDeliveries,
  type PlatformDelivery,
  type PlatformDeliveryFilters,
} from "./delivery/operator-queries.ts";
export { presentDelivery } from "./present.ts";
export { CreateWebhookEndpointRequest, WebhookDeliveryRecord } from "./records.ts";
export { makeWebhookService, type WebhookService } from "./service.ts";
export { deliveryStatuses } from "./status.ts";
