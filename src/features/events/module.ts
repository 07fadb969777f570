import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { eventOperations } from "./operations.ts";
import type { EventService } from "./service.ts";

export const eventsModule: FeatureModule<{ readonly events: EventService }> = {
  operations: { events: eventOperations },
};
