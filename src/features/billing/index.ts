export { SubscriptionRecord } from "./records.ts";
