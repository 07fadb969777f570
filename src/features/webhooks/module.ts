import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { webhookChecks } from "./checks.ts";
import type { Deliverer } from "./delivery/deliverer.ts";
import {
  forgetSuperseded,
  mendDueTimes,
  pruneDeliveries,
  wipeOldSecrets,
} from "./delivery/retention.ts";
import { webhookOperations } from "./operations.ts";
import type { WebhookService } from "./service.ts";

export const webhooksModule: FeatureModule<{
  readonly webhooks: WebhookService;
  readonly deliverer: Deliverer;
}> = {
  operations: { webhooks: webhookOperations },
  checks: webhookChecks,
  prunings: {
    "wipe old webhook secrets": wipeOldSecrets,
    "prune deliveries": pruneDeliveries,
    "forget superseded choices": forgetSuperseded,
    "mend due times of deliveries": mendDueTimes,
  },
  workers: ({ deliverer }) => [deliverer],
};
