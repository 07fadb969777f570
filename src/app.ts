import type { StatusHooks } from "./features/admin/status/operations-status.ts";
import type { InvoiceHooks } from "./features/invoices/hooks.ts";
import type { PaymentHooks } from "./features/payments/hooks.ts";
import type { Clock } from "./kernel/clock.ts";
import type { IdSource, RandomBytes } from "./kernel/id.ts";
import type { PooledProvider } from "./platform/chain/providers/member.ts";
import type { Config, ConfiguredNetwork, Networks } from "./platform/config/config.ts";
import type { Database } from "./platform/database/database.ts";
import type { Background } from "./platform/jobs/background.ts";
import type { Leases } from "./platform/jobs/leases.ts";
import type { Journal } from "./platform/journal.ts";
import type { Logger } from "./platform/logger/index.ts";
import type { Metrics } from "./platform/metrics/metrics.ts";
import type { PasswordCost } from "./platform/secrets/passwords.ts";
import type { ServerSecret } from "./platform/secrets/server-secret.ts";

/** The context of every function. A server and a command each make one, which all calls get as their first argument. */
export interface App extends Outside {
  readonly config: Config;
  /** The networks of the running server, with the settings of this process. */
  readonly networks: Networks;
  readonly db: Database;
  readonly journal: Journal;
  /** The leases of this process. */
  readonly leases: Leases;
  readonly secret: ServerSecret;
  readonly ids: IdSource;
  /** Returns the URL with which links begin, without a trailing slash. */
  readonly baseUrl: () => string;
  /** Returns the address on which the server listens, independent of the base URL. */
  readonly listening: () => string;
  /** Aborted when the program stops, so that waits for providers end. */
  readonly stopping: AbortSignal;
  /** Replaces a network's configured providers; tests only. */
  readonly providersOf?: (network: ConfiguredNetwork) => readonly PooledProvider[];
  /** The calls of lower features to higher ones. */
  readonly hooks: InvoiceHooks & PaymentHooks & StatusHooks;
  /** The background work of a server; null in a command, whose work the servers find in the store. */
  running: Pick<Background, "wake" | "nudge" | "lastTickAt"> | null;
}

/** The function's context inside a transaction: it reads and writes with that only. */
export type InTx = Omit<App, "db">;

/** The parts that come from outside the program. */
export interface Outside {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly logger: Logger;
  /** Metrics of this process. */
  readonly metrics: Metrics;
  /** Hashing cost of new passwords. */
  readonly passwordCost: PasswordCost;
}

/** Returns the object of an app. */
interface PerApp<T> {
  (app: App | InTx): T;
  /** Gives an app another object than the one that it would make; for tests. */
  readonly give: (app: App | InTx, object: T) => void;
}

/**
 * Returns a function that makes an object with the first call for an app and returns the same one afterwards: for what
 * keeps a state in the process, such as a cache, and for what is derived from the secret.
 */
export function perApp<T>(make: (app: App) => T): PerApp<T> {
  const made = new WeakMap<App | InTx, { readonly object: T }>();
  const objectOf = (app: App | InTx) => {
    const known = made.get(app);
    if (known !== undefined) return known.object;
    const object = make(app as App);
    made.set(app, { object });
    return object;
  };
  return Object.assign(objectOf, {
    give(app: App | InTx, object: T) {
      made.set(app, { object });
    },
  });
}

/** Returns the path prefix of the instance, without a trailing slash. */
export function basePathOf({ baseUrl }: Pick<App, "baseUrl">): string {
  return new URL(baseUrl()).pathname.replace(/\/$/, "");
}

/** Returns the URL of a checkout. */
export function checkoutUrl({ baseUrl }: Pick<App, "baseUrl">, checkoutId: string): string {
  return `${baseUrl()}/pay/${checkoutId}`;
}
