import { second, type Clock, type Instant } from "../../kernel/clock.ts";
import { Defect, invalidField, notFound } from "../../kernel/errors.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { Database, WriteContext } from "../../platform/database/index.ts";
import type { CheckoutClaims, CheckoutSandbox, CheckoutSources } from "./ports.ts";
import { presentSession, type CheckoutSession, type CheckoutView } from "./present.ts";
import { createRecent } from "./recent.ts";
import { nextActionOf, stateOf } from "./rules.ts";

/** Maximum age of a response: any number of polling payers cost one load per second. */
const ageMaxMs = second;
/** Maximum number of cached checkouts, about 4 KiB each. */
const rememberedMax = 5_000;
export const sandboxActions = [
  "pay",
  "underpay",
  "overpay",
  "mine",
  "reorganize",
  "expire",
] as const;
export type SandboxAction = (typeof sandboxActions)[number];

export interface CheckoutService {
  /** Returns the path prefix of this instance, without a trailing slash. */
  basePath(): string;
  /** Returns the current time, on which a page's countdown is based. */
  now(): Instant;
  /** Whether the page of a session has a test panel. */
  hasSandbox(session: CheckoutSession): boolean;
  /**
   * Returns the session, made from data at most one second old; the same object while nothing changes within that
   * second. 404 if it does not exist.
   */
  session(checkoutId: string): Promise<CheckoutSession>;
  /**
   * Stores a transaction that a payer claims to have paid with, for a later lookup, and returns the session. 400 if the
   * text contains no hash, 404 if there is no such checkout, 409 `too_many_claims`.
   */
  submitTransaction(
    context: WriteContext,
    checkoutId: string,
    transactionHash: string,
  ): Promise<CheckoutSession>;
  /** Performs an action of the test panel and returns its name; 404 unless the invoice is on the test network. */
  actOnSandbox(checkoutId: string, action: string): Promise<SandboxAction>;
}

export interface CheckoutDependencies {
  readonly db: Pick<Database, "write">;
  readonly clock: Clock;
  /**
   * Every network in the table, because a network that is disabled now may have been enabled when the invoice was
   * issued.
   */
  readonly networks: ReadonlyMap<string, Network>;
  /** The ids of the networks that are read. */
  readonly enabled: ReadonlySet<string>;
  readonly baseUrl: () => string;
  readonly sources: CheckoutSources;
  readonly claims: CheckoutClaims;
  /** Null if the test network is disabled. */
  readonly sandbox: CheckoutSandbox | null;
}

interface Loaded {
  readonly view: CheckoutView;
  /** Presented once per load and state, not per request, because formatting addresses requires hashing. */
  session: CheckoutSession;
}

export function makeCheckoutService(deps: CheckoutDependencies): CheckoutService {
  const { clock, networks, sources } = deps;
  const recent = createRecent({ load, clock, ttlMs: ageMaxMs, sizeMax: rememberedMax });

  async function load(checkoutId: string): Promise<Loaded | null> {
    const invoice = await sources.invoiceOf(checkoutId);
    if (invoice === null) return null;
    const network = networks.get(invoice.network);
    if (network === undefined) {
      throw new Defect(
        `an invoice names the network ${invoice.network}, which is not in the table`,
      );
    }
    const [payments, submitted, merchantName, networkState] = await Promise.all([
      sources.paymentsOf(invoice.id),
      sources.submittedFor(invoice.id),
      sources.merchantName(invoice.organizationId),
      sources.networkState(invoice.network),
    ]);
    const token = invoice.payable.asset.code;
    const isAccepted =
      deps.enabled.has(network.id) && networkState?.disabledTokens.includes(token) !== true;
    const read = { merchantName, payments, submitted, networkState };
    const view = { invoice, network, isAccepted, ...read };
    return { view, session: presentSession(view, clock.now()) };
  }

  /** Presents again what was loaded less than a second ago if the time alone has changed its state since. */
  function current(found: Loaded): CheckoutSession {
    const now = clock.now();
    const { state, nextAction } = found.session;
    const newState = stateOf(found.view, now);
    if (newState !== state || nextActionOf(newState, found.view, now) !== nextAction) {
      found.session = presentSession(found.view, now);
    }
    return found.session;
  }

  /** The only access to the sandbox; null for an invoice on another network. */
  function sandboxOf(network: Network): CheckoutSandbox | null {
    return network.kind.isSimulated ? deps.sandbox : null;
  }

  async function loaded(checkoutId: string): Promise<Loaded | null> {
    // Malformed ids are not looked up.
    return checkoutIdPattern.test(checkoutId) ? recent.get(checkoutId) : null;
  }

  return {
    basePath: () => new URL(deps.baseUrl()).pathname.replace(/\/$/, ""),

    now: () => clock.now(),

    hasSandbox({ invoice }) {
      const network = networks.get(invoice.network);
      return network !== undefined && sandboxOf(network) !== null;
    },

    async session(checkoutId) {
      const found = await loaded(checkoutId);
      if (found === null) throw notFound();
      return current(found);
    },

    async submitTransaction(context, checkoutId, transactionHash) {
      const found = await loaded(checkoutId);
      if (found === null) throw notFound();
      const hash = found.view.network.kind.parseTransactionHash(transactionHash);
      if (hash === null) {
        throw invalidField(
          "/transactionHash",
          "invalid_format",
          "must be a transaction hash (64 digits and letters from a to f) or a block explorer's link to it",
        );
      }
      const session = await deps.db.write(context, async (tx) => {
        await deps.claims.submit(tx, found.view.invoice, hash);
        const submitted = await sources.submittedFor(found.view.invoice.id, tx);
        return presentSession({ ...found.view, submitted }, clock.now());
      });
      // The page that the payer sees next shows the hash.
      recent.forget(checkoutId);
      return session;
    },

    async actOnSandbox(checkoutId, action) {
      const found = await loaded(checkoutId);
      const sandbox = found === null ? null : sandboxOf(found.view.network);
      if (found === null || sandbox === null) throw notFound();
      const pressed = readAction(action);
      await act(sandbox, found.view, pressed);
      // The action affects every checkout on the network, and this payer's page reloads at once.
      recent.clear();
      return pressed;
    },
  };
}

const checkoutIdPattern = /^chk_[0-9a-z]{26,64}$/;

function readAction(text: string): SandboxAction {
  const action = sandboxActions.find((known) => known === text);
  if (action !== undefined) return action;
  throw invalidField("/action", "invalid_value", `must be one of ${sandboxActions.join(", ")}`);
}

function act(sandbox: CheckoutSandbox, view: CheckoutView, action: SandboxAction): Promise<void> {
  const { checkoutId } = view.invoice;
  switch (action) {
    case "pay":
      return sandbox.pay(checkoutId, "exact");
    case "underpay":
      return sandbox.pay(checkoutId, "under");
    case "overpay":
      return sandbox.pay(checkoutId, "over");
    case "mine":
      return sandbox.mine(1);
    case "reorganize":
      // Deep enough to remove a payment that has just been confirmed.
      return sandbox.reorganize(view.network.confirmations);
    case "expire":
      return sandbox.expire(checkoutId);
  }
}
