// The client of Till's API, `till/client`: it needs nothing but `fetch`, and runs on Node 20 and in browsers.
export { openTill } from "./client.ts";
export {
  isProblem,
  TillConnectionError,
  TillError,
  TillProblem,
  type ProblemCode,
} from "./errors.ts";
export { isEventOf, verifyWebhook, WebhookVerificationError } from "./webhook.ts";
export type { Delivery, EventName, EventNoun, EventOf, WebhookFault } from "./webhook.ts";
export type { Answer, CallOptions, ChangeOptions, TillOptions, WriteOptions } from "./transport.ts";
export type { Page, Pages } from "./pages.ts";
export type { Till } from "./generated/operations.ts";
export type * from "./generated/queries.ts";
export type * from "./generated/records.ts";
