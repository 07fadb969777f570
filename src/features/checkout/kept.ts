import { Defect } from "../../kernel/errors.ts";
import type { Clock, Instant } from "../../kernel/clock.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { NetworkState, NetworkStateRow } from "../../platform/chain/state/network-state.ts";
import { atTip } from "../invoices/index.ts";
import { batchReads } from "./batched.ts";
import type { CheckoutSources, StoredCheckout } from "./ports.ts";
import { presentSession, sessionEdge, type CheckoutSession, type CheckoutView } from "./present.ts";

/** Maximum number of kept checkouts, about 25 KiB each with their response and page. */
const keptMax = 4_000;
/** Maximum number of checkouts that one statement reads. */
const batchMax = 200;

/** A checkout with its session, which was presented from it. */
export interface FoundCheckout {
  readonly view: CheckoutView;
  readonly session: CheckoutSession;
}

interface Kept extends FoundCheckout {
  readonly stored: StoredCheckout;
  /** The state of the network and the time as far as the session depends on them. */
  readonly edge: string;
}

/**
 * Returns a function that finds a checkout as it is in the store now; null if it does not exist. The session is the same
 * object while nothing has changed.
 *
 * Each look reads the versions of the checkout and of its network's state, many looks with one statement. So changes by
 * other processes are seen at once. Checkouts and states are loaded only if their versions have changed.
 */
export function keepCheckouts(deps: {
  readonly sources: Pick<CheckoutSources, "versions" | "load" | "networkStates">;
  readonly networks: ReadonlyMap<string, Network>;
  readonly enabled: ReadonlySet<string>;
  readonly clock: Clock;
}): (checkoutId: string) => Promise<FoundCheckout | null> {
  const { sources, networks, enabled, clock } = deps;
  let states: ReadonlyMap<string, NetworkStateRow> = new Map();
  /** In the order in which they were loaded. */
  const kept = new Map<string, Kept>();
  const load = batchReads(sources.load, batchMax);
  const look = batchReads(async (checkoutIds) => {
    let versions = await sources.versions(checkoutIds);
    const isOld = [...versions.values()].some(
      ({ network, networkVersion }) => (states.get(network)?.version ?? null) !== networkVersion,
    );
    if (isOld) {
      states = await sources.networkStates();
      // A state must not be newer than the payments beside it: a page could ask again for a payment that has returned.
      versions = await sources.versions(checkoutIds);
    }
    return { versions, states };
  }, batchMax);

  function viewOf(stored: StoredCheckout, states: ReadonlyMap<string, NetworkState>): CheckoutView {
    const { network: id, payable } = stored.invoice;
    const network = networks.get(id);
    if (network === undefined) {
      throw new Defect(`an invoice names the network ${id}, which is not in the table`);
    }
    const networkState = states.get(id) ?? null;
    const isDisabled = networkState?.disabledTokens.includes(payable.asset.code) === true;
    return {
      ...stored,
      invoice: atTip(stored.invoice, networkState?.tipHeight ?? null),
      network,
      networkState,
      isAccepted: enabled.has(id) && !isDisabled,
    };
  }

  function keep(
    checkoutId: string,
    stored: StoredCheckout,
    states: ReadonlyMap<string, NetworkState>,
    at: Instant,
  ): Kept {
    const view = viewOf(stored, states);
    const edge = sessionEdge(view, at);
    const before = kept.get(checkoutId);
    const isSame = before?.stored === stored && before.edge === edge;
    const session = isSame ? before.session : presentSession(view, at);
    const found = { stored, view, edge, session };
    kept.set(checkoutId, found);
    return found;
  }

  function makeRoom(): void {
    for (const oldest of kept.keys()) {
      if (kept.size < keptMax) return;
      kept.delete(oldest);
    }
  }

  return async (checkoutId) => {
    const { versions, states } = await look(checkoutId);
    const version = versions.get(checkoutId)?.version;
    const known = kept.get(checkoutId)?.stored;
    if (version !== undefined && known?.version === version) {
      return keep(checkoutId, known, states, clock.now());
    }
    const stored = version === undefined ? undefined : (await load(checkoutId)).get(checkoutId);
    if (stored === undefined) {
      kept.delete(checkoutId);
      return null;
    }
    if (kept.get(checkoutId)?.stored !== stored) {
      // Deleted first, so that what is loaded is last in the order.
      kept.delete(checkoutId);
      makeRoom();
    }
    return keep(checkoutId, stored, states, clock.now());
  };
}
