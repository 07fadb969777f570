export { eventOperations } from "./operations.ts";
export { makeEventService, type EventService } from "./service.ts";
