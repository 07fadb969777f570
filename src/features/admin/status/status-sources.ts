import type { Instant } from "../../../kernel/clock.ts";
import type { SealKey } from "../../../platform/audit/chain.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { CronTask } from "../../../platform/jobs/cron.ts";
import type { HoldUse } from "../../invoices/capacity/capacity.ts";
import type { Watcher } from "../../payments/watcher/watcher.ts";
import type { Check } from "./health.ts";
import type { RatesReport } from "./work-checks.ts";

/** Status information that is not in the store. */
export interface StatusSources {
  /** The enabled networks. */
  readonly networks: readonly Network[];
  readonly auditKey: SealKey;
  readonly watchers: readonly Pick<Watcher, "network" | "providers" | "health">[];
  /** Whether this process holds a lease. */
  readonly holdsLease: (name: string) => boolean;
  /** Time of the scheduler's last tick in this process; null if it has none. */
  readonly lastTickAt: () => Instant | null;
  /** The scheduled tasks. */
  readonly schedule: readonly Pick<CronTask, "name" | "line">[];
  /** The price with the highest use of payment amounts on each network, cached for a short time. */
  readonly holdUse: () => Promise<readonly HoldUse[]>;
  /** Status of exchange rates; null if no pair uses a source. */
  readonly rates: (() => Promise<RatesReport>) | null;
  /** Returns the latest time at which a backup was due; null without a schedule. */
  readonly backupDueAt: (now: Instant) => Instant | null;
  /** The check of the certificate of the public URL; null unless it is https. */
  readonly certificate: () => Promise<Check | null>;
  /** Free bytes on the store's disk; null for PostgreSQL, which may be on another machine. */
  readonly freeBytes: () => Promise<number | null>;
}
