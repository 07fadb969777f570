import { defineProblem } from "../../kernel/errors.ts";

export const WebhookUrlRefused = defineProblem({
  code: "webhook_url_refused",
  status: 422,
  title: "Webhooks to this address are not allowed",
});
export const WebhookEndpointLimit = defineProblem({
  code: "webhook_endpoint_limit",
  status: 409,
  title: "The organization has reached the limit of enabled endpoints",
});
export const EndpointDisabled = defineProblem({
  code: "endpoint_disabled",
  status: 409,
  title: "The endpoint is disabled",
});
export const DeliveryInFlight = defineProblem({
  code: "delivery_in_flight",
  status: 409,
  title: "The event is still being delivered to the endpoint",
});
