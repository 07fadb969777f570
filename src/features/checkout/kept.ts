import type { Clock, Instant } from "../../kernel/clock.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { removedNetwork } from "../../platform/chain/removed-network.ts";
import type { NetworkState, NetworkStateRow } from "../../platform/chain/state/network-state.ts";
import { atTip } from "../invoices/payer-view.ts";
import { quoteFor } from "../invoices/options/quotes.ts";
import { batchReads } from "./batched.ts";
import type { CheckoutSources, StoredCheckout } from "./ports.ts";
import {
  presentSession,
  sessionEdge,
  type CheckoutSession,
  type CheckoutView,
  type OfferedOption,
} from "./present.ts";
import { setRecent } from "../../kernel/recent.ts";

/** Maximum number of kept checkouts, those that were seen last, about 8 KiB each with their response. */
const keptMax = 3_000;
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

/** The networks of a checkout's options. */
export interface CheckoutNetworks {
  readonly networks: ReadonlyMap<string, Network>;
  /** The ids of the networks that are read. */
  readonly enabled: ReadonlySet<string>;
}

/** Completes a stored checkout with its networks and their states. */
export function viewCheckout(
  stored: StoredCheckout,
  states: ReadonlyMap<string, NetworkState>,
  { networks, enabled }: CheckoutNetworks,
): CheckoutView {
  const { network: id, payable } = stored.invoice;
  const network = networks.get(id) ?? removedNetwork(id);
  const networkState = states.get(id) ?? null;
  const slowest = slowestPayment(stored, networks, states);
  const invoice = atTip(stored.invoice, networkState?.tipHeight ?? null);
  const isAccepted = (of: string, token: string) =>
    enabled.has(of) && states.get(of)?.disabledTokens.includes(token) !== true;
  return {
    ...stored,
    invoice: slowest === null ? invoice : { ...invoice, confirmations: slowest.confirmations },
    network,
    confirmingOn: slowest?.network ?? network,
    networks,
    networkState,
    isAccepted: isAccepted(id, payable.asset.code),
    options: optionsToOffer(stored.invoice, networks, isAccepted),
  };
}

/**
 * Returns the confirmations of the unconfirmed payment that takes longest, with its network; null if none is on another
 * network than that in force.
 */
function slowestPayment(
  { invoice, payments }: StoredCheckout,
  networks: ReadonlyMap<string, Network>,
  states: ReadonlyMap<string, NetworkState>,
) {
  const confirming = payments.filter(({ status }) => status === "confirming");
  if (confirming.every(({ network }) => network === invoice.network)) return null;
  let slowest = null;
  let longestMs = -1;
  for (const payment of confirming) {
    const network = networks.get(payment.network);
    const quote = quoteFor(invoice.quotes, payment);
    if (network === undefined || quote === undefined) continue;
    const required = quote.requiredConfirmations;
    const confirmations = { current: 0, required };
    const tipHeight = states.get(network.id)?.tipHeight;
    if (tipHeight !== undefined) {
      const blocks = tipHeight - payment.blockHeight + 1;
      confirmations.current = Math.min(required, Math.max(0, blocks));
    }
    const leftMs = (required - confirmations.current) * network.blockTimeMs;
    if (leftMs <= longestMs) continue;
    longestMs = leftMs;
    slowest = { network, confirmations };
  }
  return slowest;
}

/** Returns the options that the payer can choose, and the one in force; the cheapest usual fee first. */
function optionsToOffer(
  { options, hasRoom, network: inForce, payable }: StoredCheckout["invoice"],
  networks: ReadonlyMap<string, Network>,
  isAccepted: (network: string, token: string) => boolean,
): readonly OfferedOption[] {
  return options
    .flatMap(({ network: id, tokenSymbol, isHeld }) => {
      const network = networks.get(id);
      const isInForce = id === inForce && tokenSymbol === payable.asset.code;
      const canBeChosen = isAccepted(id, tokenSymbol) && (isHeld || hasRoom);
      if (network === undefined || !(isInForce || canBeChosen)) return [];
      return [{ network, tokenSymbol, isInForce, isHeld }];
    })
    .toSorted((one, other) => one.network.feeRank - other.network.feeRank);
}

export interface KeptCheckouts {
  /**
   * Finds a checkout as it is in the store now; null if it does not exist. The session is the same object while nothing
   * has changed.
   */
  find(checkoutId: string): Promise<FoundCheckout | null>;
  /** Returns a checkout as it was last found, without a look at the store; null if it is not kept. */
  last(checkoutId: string): FoundCheckout | null;
}

/**
 * Keeps checkouts as they were last found.
 *
 * Each look reads the versions of the checkout and of its network's state, many looks with one statement. So changes by
 * other processes are seen at once. Checkouts and states are loaded only if their versions have changed.
 */
export function keepCheckouts(
  deps: CheckoutNetworks & {
    readonly sources: Pick<CheckoutSources, "versions" | "load" | "networkStates">;
    readonly clock: Clock;
  },
): KeptCheckouts {
  const { sources, clock } = deps;
  let states: ReadonlyMap<string, NetworkStateRow> = new Map();
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

  function keep(
    checkoutId: string,
    stored: StoredCheckout,
    states: ReadonlyMap<string, NetworkState>,
    at: Instant,
  ): Kept {
    const view = viewCheckout(stored, states, deps);
    const edge = sessionEdge(view, at);
    const before = kept.get(checkoutId);
    const isSame = before?.stored === stored && before.edge === edge;
    const session = isSame ? before.session : presentSession(view, at);
    const found = { stored, view, edge, session };
    setRecent(kept, checkoutId, found, keptMax);
    return found;
  }

  async function find(checkoutId: string): Promise<FoundCheckout | null> {
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
    return keep(checkoutId, stored, states, clock.now());
  }

  return { find, last: (checkoutId) => kept.get(checkoutId) ?? null };
}
