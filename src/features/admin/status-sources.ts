import type { Instant } from "../../kernel/clock.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { CronTask } from "../../platform/jobs/cron.ts";
import type { HoldUse } from "../invoices/index.ts";
import type { Watcher } from "../payments/index.ts";
import type { RatesReport } from "./work-checks.ts";

/** Where what the store cannot tell comes from. */
export interface StatusSources {
  /** The networks that are on. */
  readonly networks: readonly Network[];
  readonly watchers: readonly Pick<Watcher, "network" | "providers" | "health">[];
  /** Whether this process has a lease. */
  readonly holdsLease: (name: string) => boolean;
  /** When this process's scheduler last woke; null where it has none. */
  readonly lastTickAt: () => Instant | null;
  /** The tasks of the schedule. */
  readonly schedule: readonly Pick<CronTask, "name" | "everyMs">[];
  /** The fullest price of each network, as of a while ago. */
  readonly holdUse: () => Promise<readonly HoldUse[]>;
  /** How exchange rates stand; null where none are asked for. */
  readonly rates: (() => Promise<RatesReport>) | null;
  /** Free bytes where the store lies; null where that is another machine's. */
  readonly freeBytes: () => Promise<number | null>;
}
