export { makeEventService, type EventService } from "./service.ts";
