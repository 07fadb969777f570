import { minute, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
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
  /** Orders organizations: those whose last lookup is longest ago first. */
  inTurn(organizationIds: readonly Id<"organization">[]): Id<"organization">[];
  /**
   * Takes lookups for the first claims in turn, at most `most`. An organization with a recent lookup leaves the reserve to
   * others. `costOf` returns the lookups that a claim needs of a provider.
   */
  take(
    claims: readonly ClaimRow[],
    most: number,
    costOf: (claim: ClaimRow) => number,
  ): readonly ClaimRow[];
}

export function makeStrangersShare(deps: {
  readonly clock: Clock;
  readonly network: Pick<Network, "pollMs">;
}): StrangersShare {
  const { clock } = deps;
  const earnedPerMs = ((strangersPercent / 100) * requestsPerLook) / deps.network.pollMs;
  let saved = savedMax;
  let countedAt: Instant = clock.now();
  /** The time of the last lookup of each organization that had one lately. */
  const lookedUpAt = new Map<Id<"organization">, Instant>();

  function count(): void {
    const at = clock.now();
    // A clock that is set earns nothing for its jump back, and at most the savings for one ahead.
    saved = Math.min(savedMax, saved + Math.max(0, at - countedAt) * earnedPerMs);
    countedAt = at;
    for (const [id, last] of lookedUpAt) {
      if (Math.abs(at - last) >= recentMs) lookedUpAt.delete(id);
    }
  }

  return {
    left() {
      count();
      return Math.floor(saved);
    },
    inTurn(organizationIds) {
      const last = (id: Id<"organization">) => lookedUpAt.get(id) ?? 0;
      return organizationIds.toSorted((one, other) => last(one) - last(other));
    },
    take(claims, most, costOf) {
      count();
      const taken: ClaimRow[] = [];
      for (const claim of claims) {
        const cost = costOf(claim);
        const floor = lookedUpAt.has(claim.organizationId) ? reserved : 0;
        if (taken.length === most) break;
        if (saved - cost < floor) continue;
        saved -= cost;
        lookedUpAt.set(claim.organizationId, clock.now());
        taken.push(claim);
      }
      return taken;
    },
  };
}

/**
 * Orders claims by turns: the organizations take turns, in the given order, and within each one its invoices. Each
 * organization's claims are given in the order in which they are due.
 */
export function inTurns(
  organizationIds: readonly Id<"organization">[],
  claims: readonly ClaimRow[],
): ClaimRow[] {
  const queues = organizationIds.map((id) =>
    turns(
      claims.filter(({ organizationId }) => organizationId === id),
      ({ invoiceId }) => invoiceId,
    ),
  );
  return turns(queues.flat(), ({ organizationId }) => organizationId);
}

/** Orders items by their places among those of the same key. */
function turns<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const places = new Map<string, number>();
  const placed = items.map((item) => {
    const place = places.get(keyOf(item)) ?? 0;
    places.set(keyOf(item), place + 1);
    return { item, place };
  });
  return placed.toSorted((one, other) => one.place - other.place).map(({ item }) => item);
}
