import { makeEventService, type EventService } from "../../features/events/service.ts";
import { createDeliverer, type Deliverer } from "../../features/webhooks/delivery/deliverer.ts";
import { makeEndpointWriter } from "../../features/webhooks/endpoints/writer.ts";
import { makeFanOut } from "../../features/webhooks/delivery/fan-out.ts";
import { makeWebhookService, type WebhookService } from "../../features/webhooks/service.ts";
import type { Journal } from "../../platform/journal/index.ts";
import { urlsOfHosts } from "../../platform/database/postgres/url.ts";
import { systemContext } from "../../platform/database/system-context.ts";
import type { Subscriber } from "../../platform/events/relay.ts";
import { createGuard } from "../../platform/outbound/guard.ts";
import { createResolve } from "../../platform/outbound/resolve.ts";
import { createSender } from "../../platform/outbound/sender.ts";
import { deriveKey } from "../../platform/secrets/server-secret.ts";
import type { Dependencies } from "../dependencies.ts";

export interface Webhooks {
  readonly events: EventService;
  readonly webhooks: WebhookService;
  /** Receives events from the relay. */
  readonly fanOut: Subscriber;
  readonly deliverer: Deliverer;
}

/** Creates the services that deliver events to merchants' endpoints. */
export function makeWebhooks(parts: Dependencies, journal: Journal): Webhooks {
  const { config, db, secret, clock, ids, randomBytes, logger, wakeUps } = parts;
  const guard = createGuard({
    allowCidrs: config.webhookAllowCidrs,
    resolve: createResolve(),
    ownServices: () => [
      parts.listening(),
      parts.baseUrl(),
      ...(config.databaseUrl === null ? [] : urlsOfHosts(config.databaseUrl)),
      ...[config.proxy.http, config.proxy.https].flatMap((proxy) => proxy ?? []),
      ...config.networks.flatMap((network) => network.endpoints.map(({ url }) => url)),
    ],
  });
  const endpointWriter = makeEndpointWriter({ journal });
  const secretKey = deriveKey(secret, "webhook-secrets");
  const wake = () => {
    wakeUps.wake("webhooks");
  };
  const common = { db, clock, ids, randomBytes, endpointWriter, secretKey, wake };
  return {
    events: makeEventService({ db, cursorKey: deriveKey(secret, "event-cursors") }),
    webhooks: makeWebhookService({ ...common, journal, guard }),
    fanOut: makeFanOut({ clock, ids, wake }),
    deliverer: createDeliverer({
      ...common,
      sender: createSender({ guard, clock }),
      context: systemContext("webhooks"),
      perSecond: config.webhookRatePerSecond,
      logger,
      metrics: parts.metrics,
    }),
  };
}
