import type { SystemActor } from "../../kernel/actor.ts";
import type { Clock, Instant } from "../../kernel/clock.ts";
import type { IdSource } from "../../kernel/id.ts";
import type { Database, Reader, Tx } from "../database/index.ts";
import { leases } from "./table.ts";

/** A lease that is held. The token fences: a write under a lease that was lost is refused. */
export interface Lease {
  readonly name: string;
  readonly token: number;
  readonly until: Instant;
}

export interface Leases {
  /**
   * Takes a lease, or takes it again; null while another process holds it. Holding it over several rounds costs a
   * write only when less than half of it is left.
   */
  acquire(name: string, lifeMs: number): Promise<Lease | null>;
  /** Whether this process holds it now, as far as it knows. */
  holds(name: string): boolean;
  /** Throws LeaseLost, and so rolls the transaction back, where the lease has passed to another process. */
  guard(tx: Tx, lease: Lease): Promise<void>;
  /**
   * Ends every lease, whoever held it: for a process that is the only one on its store, so that after a kill it need
   * not wait for what the dead one held. One that is not dead after all is fenced off by its token.
   */
  endAll(): Promise<void>;
  /** Gives back everything held, so that another process need not wait for the end. */
  releaseAll(): Promise<void>;
}

/** The work was done under a lease that another process has taken meanwhile: its result is thrown away. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** The names of the leases that some process holds. */
export async function heldLeases(reader: Reader, now: Instant): Promise<ReadonlySet<string>> {
  const rows = await reader.find(leases, "WHERE until > $1", [now]);
  return new Set(rows.map(({ name }) => name));
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
      const now = clock.now();
      const mine = held.get(name);
      if (mine !== undefined && mine.until - now > lifeMs / 2) return mine;
      const seen = await db.findOne(leases, "WHERE name = $1", [name]);
      if (seen !== null && seen.holder !== holder && seen.until > now) return null;
      const lease = await db.write(context, async (tx): Promise<Lease | null> => {
        const at = clock.now();
        const until = at + lifeMs;
        const row = await tx.lockOne(leases, "WHERE name = $1", [name]);
        if (row === null) {
          const first = { name, holder, token: 1, until };
          return (await tx.insertIfAbsent(leases, first)) ? first : null;
        }
        if (row.holder !== holder && row.until > at) return null;
        // A lease that ended may have been taken and given back meanwhile: only one still held keeps its token.
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
      if (row?.token !== lease.token) throw new LeaseLost(`the lease ${lease.name} was lost`);
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
