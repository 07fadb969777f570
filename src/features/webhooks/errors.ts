import { defineProblem } from "../../kernel/errors.ts";

export const WebhookUrlRefused = defineProblem({
  code: "webhook_url_refused",
  status: 422,
  title: "Webhooks to this address are not allowed",
  remedy:
    "Use a public https address. On a machine for tests, the operator allows others with `TILL_WEBHOOK_ALLOW_CIDRS`.",
});
export const WebhookEndpointLimit = defineProblem({
  code: "webhook_endpoint_limit",
  status: 409,
  title: "The organization has reached the limit of enabled endpoints",
  remedy: "Disable an endpoint that is not needed any more.",
});
export const EndpointDisabled = defineProblem({
  code: "endpoint_disabled",
  status: 409,
  title: "The endpoint is disabled",
  remedy: "Enable the endpoint with `updateWebhookEndpoint` first.",
});
export const DeliveryInFlight = defineProblem({
  code: "delivery_in_flight",
  status: 409,
  title: "The event is still being delivered to the endpoint",
  remedy:
    "Nothing is lost: the delivery is retried. To have the event now, read it with `listEvents`; replay deliveries that have succeeded or are dead letters.",
});
