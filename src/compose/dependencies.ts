import type { Clock, Instant } from "../kernel/clock.ts";
import type { IdSource, RandomBytes } from "../kernel/id.ts";
import type { PooledProvider } from "../platform/chain/providers/provider.ts";
import type { ConfiguredNetwork, PlainConfig } from "../platform/config/config.ts";
import type { PlanCatalog } from "../platform/config/plans.ts";
import type { Database } from "../platform/database/database.ts";
import type { Logger } from "../platform/logger/index.ts";
import type { Metrics } from "../platform/metrics/metrics.ts";
import type { RatesPlan } from "../platform/rates/plan.ts";
import type { PasswordCost } from "../platform/secrets/passwords.ts";
import type { ServerSecret } from "../platform/secrets/server-secret.ts";
import type { Networks } from "./networks.ts";

/** Shared dependencies of the services. */
export interface Dependencies {
  readonly config: PlainConfig;
  /** The tables, which a command loads when it needs them. They throw a ConfigError. */
  readonly networks: () => Promise<Networks>;
  readonly plans: () => Promise<PlanCatalog>;
  readonly rates: () => Promise<RatesPlan>;
  readonly db: Database;
  readonly secret: ServerSecret;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
  /** Metrics of this process. */
  readonly metrics: Metrics;
  /** Hashing cost of new passwords. */
  readonly passwordCost: PasswordCost;
  readonly baseUrl: () => string;
  /** Returns the address on which this process listens, independent of the base URL. */
  readonly listening: () => string;
  /** Aborted when the program stops, so that waits for providers end. */
  readonly stopping: AbortSignal;
  /** Replaces a network's configured providers; tests only. */
  readonly providersOf?: (network: ConfiguredNetwork) => readonly PooledProvider[];
  /** Returns the time of the scheduler's last tick; null before the first. */
  readonly lastTickAt: () => Instant | null;
  /**
   * Wakes a background worker by name; `nudge` does so for a request without a credential, see `Background`. Both are
   * filled in once the workers exist.
   */
  readonly wakeUps: { wake: (worker: string) => void; nudge: (worker: string) => void };
}

/** Returns the function that gives the URL of a checkout. */
export function checkoutUrlOf(baseUrl: () => string): (checkoutId: string) => string {
  return (checkoutId) => `${baseUrl()}/pay/${checkoutId}`;
}
