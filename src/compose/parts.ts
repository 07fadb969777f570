import type { Clock } from "../kernel/clock.ts";
import type { IdSource, RandomBytes } from "../kernel/id.ts";
import type { PooledProvider } from "../platform/chain/provider-member.ts";
import type { Config, ConfiguredNetwork } from "../platform/config/index.ts";
import type { Database } from "../platform/database/index.ts";
import type { Logger } from "../platform/logger/index.ts";
import type { Metrics } from "../platform/metrics/metrics.ts";
import type { PasswordCost } from "../platform/secrets/passwords.ts";
import type { ServerSecret } from "../platform/secrets/server-secret.ts";

/** What every service is made of. */
export interface Parts {
  readonly config: Config;
  readonly db: Database;
  readonly secret: ServerSecret;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
  /** What this process counts of its work. */
  readonly metrics: Metrics;
  /** Hashing cost of new passwords. */
  readonly passwordCost: PasswordCost;
  readonly baseUrl: () => string;
  /** Where this process listens, whatever links say. */
  readonly listening: () => string;
  /** Aborted when the program stops: what waits for a provider ends. */
  readonly stopping: AbortSignal;
  /** Instead of those that a network's endpoints name: only tests give them. */
  readonly providersOf?: (network: ConfiguredNetwork) => readonly PooledProvider[];
  /** Wakes a background worker by its name; filled when the workers are there. */
  readonly nudges: { nudge: (worker: string) => void };
}
