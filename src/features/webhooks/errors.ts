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
  title: "The event's delivery to the endpoint has not ended",
  remedy:
    "Till tries the delivery again at its `nextAttemptAt`. To try at once, send a test event to the endpoint (`testWebhookEndpoint`), after which everything that waits follows; or read the event in the list of events.",
});
