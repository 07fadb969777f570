import { LRUCache } from "lru-cache";
import { perApp, type App } from "../../app.ts";
import { preparePage, type HtmlPage } from "../../http/page.ts";
import type { Instant } from "../../kernel/clock.ts";
import { notFound } from "../../kernel/errors.ts";
import { once } from "../../kernel/memo.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { removedNetwork } from "../../platform/chain/removed-network.ts";
import {
  networkStates,
  type NetworkState,
  type NetworkStateRow,
} from "../../platform/chain/state/network-state.ts";
import type { Networks } from "../../platform/config/config.ts";
import { atTip } from "../invoices/payer-view.ts";
import { quoteFor } from "../invoices/options/quotes.ts";
import {
  presentSession,
  sessionEdge,
  situationOf,
  versionOf,
  type CheckoutSession,
  type CheckoutView,
  type OfferedOption,
} from "./session.ts";
import {
  findCheckouts,
  findCheckoutVersions,
  type CheckoutVersion,
  type StoredCheckout,
} from "./store.ts";

/** Maximum number of cached checkouts, those that were seen last, about 8 KiB each with their response. */
const cachedMax = 3_000;
/** Maximum number of kept pages, about 35 KiB each with a compressed form. */
const cachedPagesMax = 300;
/** Maximum number of checkouts that one statement reads. */
const batchMax = 200;

/** A checkout between two changes, with what was made of it, which goes when the checkout changes. */
interface KeptCheckout {
  readonly stored: StoredCheckout;
  /** The state of the network and the time as far as the session depends on them. */
  readonly edge: string;
  readonly session: CheckoutSession;
  /** Returns the session's version. */
  readonly version: () => string;
  /** As it was last found: with the newest state of the network, which may not concern the session. */
  view: CheckoutView;
}

/**
 * The networks of a checkout's options: all in the table, because one that is disabled now may have been enabled when the
 * invoice was issued, and those that are read.
 */
export interface CheckoutNetworks extends Pick<Networks, "known"> {
  readonly enabled: Pick<ReadonlySet<string>, "has">;
}

/** Completes a stored checkout with its networks and their states. */
export function viewCheckout(
  stored: StoredCheckout,
  states: ReadonlyMap<string, NetworkState>,
  { known: networks, enabled }: CheckoutNetworks,
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

interface CheckoutCache {
  /**
   * Finds a checkout as it is in the store now; null if it does not exist. The checkout and its session are the same
   * objects while nothing has changed.
   */
  find(checkoutId: string): Promise<KeptCheckout | null>;
  /** Returns a checkout as it was last found, without reading the store; null if it is not cached. */
  last(checkoutId: string): KeptCheckout | null;
  /** Returns the checkout's page; it is rendered unless it was last seen in the same variant, such as a language. */
  pageOf(checkout: KeptCheckout, variant: string, render: () => HtmlPage): HtmlPage;
}

/** The reads of the store with which checkouts are found. */
interface CheckoutReads {
  readonly versions: (ids: readonly string[]) => Promise<ReadonlyMap<string, CheckoutVersion>>;
  readonly load: (ids: readonly string[]) => Promise<ReadonlyMap<string, StoredCheckout>>;
  readonly states: () => Promise<ReadonlyMap<string, NetworkStateRow>>;
}

export function checkoutReads(app: App): CheckoutReads {
  const { db } = app;
  return {
    versions: (ids) => findCheckoutVersions(db, ids),
    load: (ids) => findCheckouts(db, app, ids),
    states: () => networkStates(db),
  };
}

/**
 * Caches checkouts as they were last found.
 *
 * Each find reads the versions of the checkout and of its network's state, many with one statement. So changes by
 * other processes are seen at once. Checkouts and states are loaded only if their versions have changed.
 */
export function makeCheckoutCache(
  { clock, networks }: Pick<App, "clock" | "networks">,
  reads: CheckoutReads,
): CheckoutCache {
  let states: ReadonlyMap<string, NetworkStateRow> = new Map();
  const pages = new LRUCache<KeptCheckout, { readonly variant: string; readonly page: HtmlPage }>({
    max: cachedPagesMax,
  });
  const cached = new LRUCache<string, KeptCheckout>({
    max: cachedMax,
    dispose(checkout) {
      pages.delete(checkout);
    },
  });
  const load = batchReads(reads.load, batchMax);
  const readVersions = batchReads(async (checkoutIds) => {
    let versions = await reads.versions(checkoutIds);
    const isOld = [...versions.values()].some(
      ({ network, networkVersion }) => (states.get(network)?.version ?? null) !== networkVersion,
    );
    if (isOld) {
      states = await reads.states();
      // A state must not be newer than the payments beside it: a page could ask again for a payment that has returned.
      versions = await reads.versions(checkoutIds);
    }
    return { versions, states };
  }, batchMax);

  function store(
    checkoutId: string,
    stored: StoredCheckout,
    states: ReadonlyMap<string, NetworkState>,
    at: Instant,
  ): KeptCheckout {
    const view = viewCheckout(stored, states, networks);
    const situation = situationOf(view, at);
    const edge = sessionEdge(view, situation);
    const before = cached.get(checkoutId);
    if (before?.stored === stored && before.edge === edge) {
      before.view = view;
      return before;
    }
    const session = presentSession(view, situation);
    const found = { stored, edge, session, version: once(() => versionOf(session)), view };
    cached.set(checkoutId, found);
    return found;
  }

  async function find(checkoutId: string): Promise<KeptCheckout | null> {
    const { versions, states } = await readVersions(checkoutId);
    const version = versions.get(checkoutId)?.version;
    const known = cached.get(checkoutId)?.stored;
    if (version !== undefined && known?.version === version) {
      return store(checkoutId, known, states, clock.now());
    }
    const stored = version === undefined ? undefined : (await load(checkoutId)).get(checkoutId);
    if (stored === undefined) {
      cached.delete(checkoutId);
      return null;
    }
    return store(checkoutId, stored, states, clock.now());
  }

  return {
    find,
    last: (checkoutId) => cached.peek(checkoutId) ?? null,
    pageOf(checkout, variant, render) {
      const known = pages.get(checkout);
      if (known?.variant === variant) return known.page;
      const page = preparePage(render());
      pages.set(checkout, { variant, page });
      return page;
    },
  };
}

/** Returns the process's cache of checkouts. */
export const checkoutCacheOf = perApp((app) => makeCheckoutCache(app, checkoutReads(app)));

const checkoutIdPattern = /^chk_[0-9a-z]{26,64}$/;

/** Returns a checkout as it is in the store now. 404 if it does not exist; malformed ids are not looked up. */
export async function requireCheckout(app: App, checkoutId: string): Promise<KeptCheckout> {
  const isFormed = checkoutIdPattern.test(checkoutId);
  const checkout = isFormed ? await checkoutCacheOf(app).find(checkoutId) : null;
  if (checkout === null) throw notFound();
  return checkout;
}

/**
 * Returns a function that reads one key. Keys that are asked for while a read runs, or in one turn of the event loop,
 * are read together by the next one. So a read begins after each of its keys was asked for, and the results are as fresh
 * as if each key had been read alone.
 */
export function batchReads<R>(
  read: (keys: readonly string[]) => Promise<R>,
  batchMax: number,
): (key: string) => Promise<R> {
  let next: { readonly keys: Set<string>; readonly result: Promise<R> } | null = null;
  /** Ends with the last read, so that one runs at a time; never rejects. */
  let running: Promise<unknown> = Promise.resolve();

  function begin(keys: Set<string>): Promise<R> {
    const result = running
      .then(() => new Promise((resolve) => setImmediate(resolve)))
      .then(() => {
        if (next?.keys === keys) next = null;
        return read([...keys]);
      });
    running = result.catch(() => undefined);
    return result;
  }

  return (key) => {
    if (next === null || next.keys.size >= batchMax) {
      const keys = new Set<string>();
      next = { keys, result: begin(keys) };
    }
    next.keys.add(key);
    return next.result;
  };
}
