import type { App, Outside } from "./app.ts";
import { hooks } from "./hooks.ts";
import { systemActor } from "./kernel/actor.ts";
import { createIds } from "./kernel/id.ts";
import { networksOf, type EnabledNetworks } from "./platform/config/config.ts";
import { createLeases } from "./platform/jobs/leases.ts";
import { createJournal } from "./platform/journal.ts";

/** The parts of an app that differ between a server, a command and a rehearsal. */
interface AppParts
  extends Outside, Pick<App, "config" | "db" | "secret" | "baseUrl" | "listening"> {
  /** The networks of the running server; by default those of the settings. */
  readonly enabled?: EnabledNetworks;
  readonly stopping?: AbortSignal;
  readonly providersOf?: NonNullable<App["providersOf"]>;
}

export function makeApp({ config, enabled, ...parts }: AppParts): App {
  const { clock, db } = parts;
  const ids = createIds(parts.randomBytes);
  const networks = enabled ?? { ...config, unlisted: [] };
  const app: App = {
    stopping: new AbortController().signal,
    ...parts,
    config: { ...config, networks: networks.networks },
    networks: networksOf(networks),
    ids,
    journal: createJournal({ ids, wake: () => app.running?.wake("relay") }),
    leases: createLeases({ db, clock, ids, actor: systemActor("leases") }),
    hooks,
    running: null,
  };
  return app;
}
