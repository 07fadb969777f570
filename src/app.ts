import type { Clock, Instant } from "./kernel/clock.ts";
import type { IdSource, RandomBytes } from "./kernel/id.ts";
import type { PooledProvider } from "./platform/chain/providers/provider.ts";
import type { Config, ConfiguredNetwork } from "./platform/config/config.ts";
import type { Networks } from "./platform/config/enabled-networks.ts";
import type { Database } from "./platform/database/database.ts";
import type { Journal } from "./platform/journal/index.ts";
import type { Logger } from "./platform/logger/index.ts";
import type { Metrics } from "./platform/metrics/metrics.ts";
import type { PasswordCost } from "./platform/secrets/passwords.ts";
import type { ServerSecret } from "./platform/secrets/server-secret.ts";

/** The context of every function. A server and a command each make one, which all calls get as their first argument. */
export interface App {
  readonly config: Config;
  /** The networks of the running server, with the settings of this process. */
  readonly networks: Networks;
  readonly db: Database;
  readonly journal: Journal;
  readonly secret: ServerSecret;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
  /** Metrics of this process. */
  readonly metrics: Metrics;
  /** Hashing cost of new passwords. */
  readonly passwordCost: PasswordCost;
  /** Returns the URL with which links begin, without a trailing slash. */
  readonly baseUrl: () => string;
  /** Returns the address on which this process listens, independent of the base URL. */
  readonly listening: () => string;
  /** Aborted when the program stops, so that waits for providers end. */
  readonly stopping: AbortSignal;
  /** Replaces a network's configured providers; tests only. */
  readonly providersOf?: (network: ConfiguredNetwork) => readonly PooledProvider[];
  /** Returns the time of the scheduler's last tick; null before the first. */
  readonly lastTickAt: () => Instant | null;
  /** Wakes a background worker by its name. In a command it does nothing: the workers of servers find the work. */
  readonly wake: (worker: string) => void;
  /** Wakes a background worker for a request without a credential: see `Background`. */
  readonly nudge: (worker: string) => void;
}

/** Returns the URL of a checkout. */
export function checkoutUrl({ baseUrl }: Pick<App, "baseUrl">, checkoutId: string): string {
  return `${baseUrl()}/pay/${checkoutId}`;
}
