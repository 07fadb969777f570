export { createDeliverer, type Deliverer } from "./deliverer.ts";
export { makeEndpointWriter } from "./endpoint-writer.ts";
export { makeFanOut } from "./fan-out.ts";
export { webhookOperations } from "./operations.ts";
export { makeWebhookService, type WebhookService } from "./service.ts";
