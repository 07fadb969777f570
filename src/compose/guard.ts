import { urlsOfHosts } from "../platform/database/postgres/url.ts";
import { createGuard, type Guard } from "../platform/outbound/guard.ts";
import { createResolve } from "../platform/outbound/resolve.ts";
import type { App } from "../app.ts";

/** Returns the guard that keeps webhooks away from this installation's own services and network. */
export function guardOf({ config, networks, listening, baseUrl }: App): Guard {
  const providers = [...networks.enabled.values()].flatMap(({ endpoints }) => endpoints);
  return createGuard({
    allowCidrs: config.webhookAllowCidrs,
    resolve: createResolve(),
    ownServices: () => [
      listening(),
      baseUrl(),
      ...(config.databaseUrl === null ? [] : urlsOfHosts(config.databaseUrl)),
      ...[config.proxy.http, config.proxy.https].flatMap((proxy) => proxy ?? []),
      ...providers.map(({ url }) => url),
    ],
  });
}
