import type { App } from "../../src/app.ts";
import { systemActor } from "../../src/kernel/actor.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { createIds, type IdSource } from "../../src/kernel/id.ts";
import type { Config } from "../../src/platform/config/config.ts";
import { loadConfig } from "../../src/platform/config/load.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { createLeases } from "../../src/platform/jobs/leases.ts";
import { createJournal, type Journal } from "../../src/platform/journal.ts";
import { silentLogger } from "../../src/platform/logger/index.ts";
import { noMetrics } from "../../src/platform/metrics/metrics.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";
import { secret } from "./secret.ts";

/** The configuration of a server that is given only a secret, and that asks no public source of rates. */
export const testConfig: Config = await defaultConfig();

async function defaultConfig(): Promise<Config> {
  const env = { TILL_SECRET: secret, TILL_RATES: "off", TILL_DATA_DIR: "/nowhere" };
  const isWritable = () => Promise.resolve(true);
  return (await loadConfig({ mode: "serve", env, isWritable })).config;
}

/** Returns a source of ids like that of a new process. */
export const newIds = (): IdSource => createIds(systemRandom);

/** Returns a journal that wakes nobody. */
export const newJournal = (ids = newIds()): Journal =>
  createJournal({ ids, wake: () => undefined });

/** Returns an app on a store, for functions that are tested without a server. Anything else that a function uses throws. */
export function appOf(given: Partial<App> & { readonly db: Database }): App {
  const ids = given.ids ?? newIds();
  const clock = given.clock ?? systemClock;
  const parts: Partial<App> = {
    config: testConfig,
    clock,
    ids,
    randomBytes: systemRandom,
    leases: createLeases({ db: given.db, clock, ids, actor: systemActor("leases") }),
    journal: newJournal(ids),
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
