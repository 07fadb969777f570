import type { Instant } from "../../../kernel/clock.ts";
import type { ChainClient } from "../client.ts";
import type { ProviderBudget } from "./budget.ts";
import type { ProviderLimits } from "./limits.ts";

/** A node of a network, as the settings or the network table name it. */
export interface ProviderEndpoint {
  readonly url: string;
  /** The headers of every request; their values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** The maximum number of calls in one batch request. */
  readonly batchMax: number;
  readonly requestsPerSecond: number;
  readonly requestsPerDay: number | null;
}

/** A provider of a network, with its budget of requests; null: unlimited. */
export interface PooledProvider {
  readonly client: ChainClient;
  readonly budget: ProviderBudget | null;
  /** The limits that the provider showed, and its speed; absent for simulated providers. */
  readonly limits?: ProviderLimits;
  /**
   * Returns when somebody last ended the provider's failures; 0: never. Only simulated providers have it: real ones
   * serve their whole backoff and quarantine.
   */
  healedAt?(): Promise<Instant>;
}
