import { second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { AlarmKind, ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import {
  openAlarms,
  storedProviders,
  writeAlarms,
  writeProviders,
  type ProviderHealth,
} from "../../../platform/chain/state/provider-health.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { ProviderPool } from "../../../platform/chain/providers/pool.ts";
import type { Database } from "../../../platform/database/database.ts";
import { watcherContext, type LeaseGuard } from "./recorder.ts";
import type { ProviderCrossCheck } from "./provider-cross-check.ts";
import type { WalletReader } from "./readings/wallet-reading.ts";

/** Stores the health of a network's providers and its open alarms, so that every process can show them. */
export interface Monitor {
  /** Loads the state that the previous process stored, when this process begins to read the network. */
  resume(): Promise<void>;
  /**
   * Runs after a scan: probes the providers that are not in use, lets the crossCheck and the reader of wallets read due
   * ranges, and stores what changed. Returns true if more work is due.
   */
  recordStatus(guard: LeaseGuard): Promise<boolean>;
}

const everyMs = 15 * second;

export function makeMonitor(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly network: Network;
  readonly pool: ProviderPool;
  readonly alarms: ChainAlarms;
  readonly crossCheck: ProviderCrossCheck;
  readonly wallets: WalletReader;
}): Monitor {
  const { db, clock, network, pool, alarms, crossCheck, wallets } = deps;
  let writtenAt: Instant = 0;
  let written = "";

  return {
    async resume() {
      alarms.adopt(await openAlarms(db, network.id));
      endOfGone();
      const stored = await storedProviders(db, network.id);
      pool.resume(stored.map(({ health }) => health));
      writtenAt = 0;
    },

    async recordStatus(guard) {
      await pool.check();
      const isMore = await crossCheck.compare(guard);
      const hasWallets = await wallets.readSome(guard);
      await write(guard);
      return isMore || hasWallets;
    },
  };

  /** Clears alarms about providers and tokens that are no longer configured. */
  function endOfGone(): void {
    const providers = new Set(pool.providers.map(({ provider }) => provider));
    const tokens = new Set(network.tokens.map(({ symbol }) => symbol));
    for (const { kind, subject } of alarms.open()) {
      const isGone = kind === "token_disabled" ? !tokens.has(subject) : !providers.has(subject);
      const isOfConfigured = kind === "token_disabled" || isOfProvider(kind);
      if (isOfConfigured && isGone) alarms.clear(kind, subject);
    }
  }

  async function write(guard: LeaseGuard): Promise<void> {
    const health = pool.health();
    const conditions = JSON.stringify(health.map(conditionOf));
    const changes = alarms.changes();
    const at = clock.now();
    const isDue = at - writtenAt >= everyMs || conditions !== written;
    if (!isDue && changes.length === 0) return;
    // Read before the changes are written, because an operator may have acknowledged alarms meanwhile.
    if (alarms.open().length > 0) alarms.keepOpen(await openAlarms(db, network.id));
    await db.write(watcherContext, async (tx) => {
      await guard(tx);
      await writeProviders(tx, network.id, health, at);
      await writeAlarms(tx, network.id, changes, at);
    });
    alarms.written(changes);
    writtenAt = at;
    written = conditions;
  }
}

function isOfProvider(kind: AlarmKind): boolean {
  return (
    kind === "provider_wrong_chain" ||
    kind === "provider_silent_logs" ||
    kind === "provider_too_far_ahead" ||
    kind === "provider_wrong_time" ||
    kind === "provider_slow" ||
    kind === "block_time_disputed"
  );
}

function conditionOf({ provider, condition, isInUse, healedAt }: ProviderHealth) {
  return [provider, condition, isInUse, healedAt];
}
