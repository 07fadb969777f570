import type { SystemActor } from "../../kernel/actor.ts";
import { minute, type Clock, type Instant } from "../../kernel/clock.ts";
import { Defect } from "../../kernel/errors.ts";
import type { IdSource } from "../../kernel/id.ts";
import type { Database, Reader, Tx } from "../database/database.ts";
import { leases } from "./table.ts";

/** A held lease. Its token is a fencing token: a write under a lost lease is refused. */
interface Lease {
  readonly name: string;
  readonly token: number;
  readonly until: Instant;
}

export interface Leases {
  /**
   * Acquires or renews a lease; null while another process holds it. Renewal writes only when less than half of the
   * lease is left.
   */
  acquire(name: string, lifeMs: number): Promise<Lease | null>;
  /** True if this process holds the lease, as far as it knows. */
  holds(name: string): boolean;
  /** Throws LeaseLost, which rolls the transaction back, if another process has taken the lease. */
  guard(tx: Tx, lease: Lease): Promise<void>;
  /**
   * Ends all leases, for a process that is the only one on its store: after a kill it need not wait for the leases of
   * its predecessor. If that process is alive after all, its tokens no longer match.
   */
  endAll(): Promise<void>;
  /** Releases all leases of this process, so that others need not wait for their end. */
  releaseAll(): Promise<void>;
}

/**
 * The difference between the clocks of two servers that a lease tolerates, in milliseconds. A server whose clock is behind
 * by more refuses the newest blocks of its networks.
 */
const skewMax = 10 * minute;

/** The longest life of a lease, in milliseconds: those of a killed server end within it. */
export const leaseLifeMax = 2 * minute;

/**
 * True if a lease has not ended. An end further ahead than its life is from a clock that was set back since: the lease
 * counts as ended, or nobody would do its work until then. The token refuses the writes of a holder that still works.
 */
function isLive(until: Instant, now: Instant, lifeMs: number): boolean {
  return until > now && until - now <= lifeMs + skewMax;
}

/** Thrown if another process has taken the lease meanwhile; the result of the work is discarded. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** Returns the names of all leases that are held by any process. */
export async function heldLeases(reader: Reader, now: Instant): Promise<ReadonlySet<string>> {
  const rows = await reader.find(leases, "WHERE until > $1", [now]);
  return new Set(rows.map(({ name }) => name));
}

/** Returns the names of the held leases that another process could not take now. */
export async function liveLeases(reader: Reader, now: Instant): Promise<readonly string[]> {
  const rows = await reader.find(leases, "WHERE until > $1 ORDER BY name", [now]);
  return rows.filter(({ until }) => isLive(until, now, leaseLifeMax)).map(({ name }) => name);
}

export function createLeases(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly actor: SystemActor;
}): Leases {
  const { db, clock, ids, actor } = deps;
  const context = { actor, requestId: null, ip: null };
  const holder = ids.unguessable("prc");
  const held = new Map<string, Lease>();

  return {
    async acquire(name, lifeMs) {
      if (lifeMs > leaseLifeMax) throw new Defect(`the lease ${name} would live too long`);
      const now = clock.now();
      const mine = held.get(name);
      if (mine !== undefined && mine.until - now > lifeMs / 2 && isLive(mine.until, now, lifeMs))
        return mine;
      const seen = await db.findOne(leases, "WHERE name = $1", [name]);
      if (seen !== null && seen.holder !== holder && isLive(seen.until, now, lifeMs)) return null;
      const lease = await db.write(context, async (tx): Promise<Lease | null> => {
        const at = clock.now();
        const until = at + lifeMs;
        const row = await tx.lockOne(leases, "WHERE name = $1", [name]);
        if (row === null) {
          const first = { name, holder, token: 1, until };
          return (await tx.insertIfAbsent(leases, first)) ? first : null;
        }
        if (row.holder !== holder && isLive(row.until, at, lifeMs)) return null;
        // An expired lease may have been taken and released by another process, so only a lease that is still held
        // keeps its token.
        const isMine = row.holder === holder && row.until > at;
        const token = isMine ? row.token : row.token + 1;
        await tx.update(leases, { holder, token, until }, "WHERE name = $1", [name]);
        return { name, token, until };
      });
      if (lease === null) held.delete(name);
      else held.set(name, lease);
      return lease;
    },

    holds: (name) => (held.get(name)?.until ?? 0) > clock.now(),

    async guard(tx, lease) {
      const row = await tx.lockOne(leases, "WHERE name = $1", [lease.name]);
      // After a restore, an old token may be given to another process once more.
      if (row?.token !== lease.token || row.holder !== holder)
        throw new LeaseLost(`the lease ${lease.name} was lost`);
    },

    async endAll() {
      await db.write(context, (tx) =>
        tx.update(leases, { until: clock.now() }, "WHERE until > $1", [clock.now()]),
      );
    },

    async releaseAll() {
      if (held.size === 0) return;
      held.clear();
      await db.write(context, (tx) =>
        tx.update(leases, { until: clock.now() }, "WHERE holder = $1", [holder]),
      );
    },
  };
}
