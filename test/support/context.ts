import type { App } from "../../src/app.ts";
import { systemActor } from "../../src/kernel/actor.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { createIds } from "../../src/kernel/id.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { createLeases } from "../../src/platform/jobs/leases.ts";
import { createJournal } from "../../src/platform/journal.ts";
import { silentLogger } from "../../src/platform/logger/index.ts";
import { noMetrics } from "../../src/platform/metrics/metrics.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";

/** Returns an app on a store, for functions that are tested without a server. Anything else that a function uses throws. */
export function appOf(given: Partial<App> & { readonly db: Database }): App {
  const ids = given.ids ?? createIds(systemRandom);
  const clock = given.clock ?? systemClock;
  const parts: Partial<App> = {
    clock,
    ids,
    randomBytes: systemRandom,
    leases: createLeases({ db: given.db, clock, ids, actor: systemActor("leases") }),
    journal: createJournal({ ids, wake: () => undefined }),
    logger: silentLogger,
    metrics: noMetrics,
    baseUrl: () => "https://till.example",
    listening: () => "https://till.example",
    stopping: new AbortController().signal,
    running: null,
    ...given,
  };
  return new Proxy(parts, {
    get(target, name) {
      if (name in target) return target[name as keyof App];
      throw new Error(`the test gives its app no ${String(name)}`);
    },
  }) as App;
}
