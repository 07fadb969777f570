import { minute, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { groupBy } from "../ledger/chain-diff.ts";
import type { ClaimRow } from "../table.ts";

/**
 * Lookups of transactions that strangers named and no provider had so far, in percent of the requests that the ordinary
 * looks at a network make: a tenth of a provider's day.
 */
export const strangersPercent = 10;
/** The requests of an ordinary look at an idle network. */
const requestsPerLook = 2;
/** The lookups that a network saves up while nobody needs them. */
export const savedMax = 20;
/** The saved lookups that are kept for organizations without a lookup in the last minute. */
export const reserved = 10;
const recentMs = minute;

/** The lookups that strangers have on a network, shared by organization. Counted by the process that reads the network. */
export interface StrangersShare {
  /** The number of lookups that are left now. */
  left(): number;
  /** Orders the organizations that wait: those whose last lookup is longest ago first. Forgets others in time. */
  inTurn(waiting: readonly Id<"organization">[]): Id<"organization">[];
  /**
   * Takes lookups for the first claims in turn, at most `most`. Organizations take turns; in each one its invoices, and
   * claims that were looked up before with those that were not. The claims of an organization are given
   * oldest first. An organization with a recent lookup leaves the reserve to others. If too
   * few lookups are left for a claim, it and those behind it wait. `costOf` returns the lookups that a claim needs of a
   * provider, at most `savedMax - reserved`.
   */
  take(
    claims: readonly ClaimRow[],
    most: number,
    costOf: (claim: ClaimRow) => number,
  ): readonly ClaimRow[];
}

interface Lookup {
  readonly at: Instant;
  /** Whether it was the claim's first lookup. */
  readonly wasFirst: boolean;
}

export function makeStrangersShare(deps: {
  readonly clock: Clock;
  readonly network: Pick<Network, "pollMs">;
}): StrangersShare {
  const { clock } = deps;
  const earnedPerMs = ((strangersPercent / 100) * requestsPerLook) / deps.network.pollMs;
  let saved = savedMax;
  let countedAt: Instant = clock.now();
  /** The last lookup of each organization that had one lately or waits for another one, in the order of the lookups. */
  const last = new Map<Id<"organization">, Lookup>();

  function count(): void {
    const at = clock.now();
    // A clock that is set earns nothing for its jump back, and at most the savings for one ahead.
    saved = Math.min(savedMax, saved + Math.max(0, at - countedAt) * earnedPerMs);
    countedAt = at;
  }

  function isRecent(id: Id<"organization">): boolean {
    const lookup = last.get(id);
    return lookup !== undefined && Math.abs(clock.now() - lookup.at) < recentMs;
  }

  function inTurn(organizationIds: readonly Id<"organization">[]): Id<"organization">[] {
    const waits = new Set(organizationIds);
    return [
      ...organizationIds.filter((id) => !last.has(id)),
      ...[...last.keys()].filter((id) => waits.has(id)),
    ];
  }

  /** Orders the claims of one organization: first and further lookups in turns, and one of each invoice before others. */
  function ownTurns(id: Id<"organization">, claims: readonly ClaimRow[]): ClaimRow[] {
    const begins = last.get(id)?.wasFirst === true ? isLookedUp : isFresh;
    const kinds = [claims.filter(begins), claims.filter((claim) => !begins(claim))];
    return merged([...groupBy(merged(kinds), ({ invoiceId }) => invoiceId).values()]);
  }

  return {
    left() {
      count();
      return Math.floor(saved);
    },
    inTurn(waiting) {
      const waits = new Set(waiting);
      for (const id of last.keys()) {
        if (!waits.has(id) && !isRecent(id)) last.delete(id);
      }
      return inTurn(waiting);
    },
    take(claims, most, costOf) {
      count();
      const of = groupBy(claims, ({ organizationId }) => organizationId);
      const queues = inTurn([...of.keys()]).map((id) => ownTurns(id, of.get(id) ?? []));
      const taken: ClaimRow[] = [];
      for (const claim of merged(queues).slice(0, most)) {
        const { organizationId } = claim;
        const cost = costOf(claim);
        // Claims behind it are of organizations with a later lookup, none of which may use more of what is left.
        if (saved - cost < (isRecent(organizationId) ? reserved : 0)) break;
        saved -= cost;
        last.delete(organizationId);
        last.set(organizationId, { at: clock.now(), wasFirst: isFresh(claim) });
        taken.push(claim);
      }
      return taken;
    },
  };
}

const isFresh = ({ attempts }: ClaimRow): boolean => attempts === 0;
const isLookedUp = (claim: ClaimRow): boolean => !isFresh(claim);

/** Returns the items of all queues: their first ones in the order of the queues, then their second ones, and so on. */
function merged<T>(queues: readonly (readonly T[])[]): T[] {
  const placed = queues.flatMap((queue) => queue.map((item, place) => ({ item, place })));
  return placed.toSorted((one, other) => one.place - other.place).map(({ item }) => item);
}
