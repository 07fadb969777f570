import { second, type Clock, type Instant } from "../../kernel/clock.ts";
import { Defect, invalidField, notFound } from "../../kernel/errors.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { parseTransactionHash } from "../../platform/chain/transaction-hash.ts";
import type { Database, WriteContext } from "../../platform/database/index.ts";
import type { CheckoutClaims, CheckoutSandbox, CheckoutSources } from "./ports.ts";
import { presentSession, type CheckoutSession, type CheckoutView } from "./present.ts";
import { createRecent } from "./recent.ts";

/** No answer is older than this, so that any number of polling payers cost the store one look. */
const ageMaxMs = second;
/** Checkouts that are remembered at once, some 4 KiB each. */
const rememberedMax = 5_000;
export const sandboxActions = [
  "pay",
  "underpay",
  "overpay",
  "mine",
  "reorganise",
  "expire",
] as const;
export type SandboxAction = (typeof sandboxActions)[number];

/** What the page shows, and when it was. */
export interface CheckoutPageView extends CheckoutView {
  readonly at: Instant;
  /** The text that the QR code encodes. */
  readonly qrCode: string;
  /** Whether the page has the panel of the test network. */
  readonly hasSandbox: boolean;
}

export interface CheckoutService {
  /** The path that this instance is reached under, without a slash at its end. */
  basePath(): string;
  /** The session, at most a second old; who asks within the second is given the same object. 404 where there is none. */
  session(checkoutId: string): Promise<CheckoutSession>;
  /** What the page shows, at most a second old; null where there is no such checkout. */
  view(checkoutId: string): Promise<CheckoutPageView | null>;
  /**
   * Notes a transaction that a payer says to have paid with, to be looked at later, and gives the session. 400 for text
   * that holds no hash, 404 where there is no such checkout, 409 `too_many_claims`.
   */
  submitTransaction(
    context: WriteContext,
    checkoutId: string,
    transactionHash: string,
  ): Promise<CheckoutSession>;
  /**
   * Does what a button of the test panel says, and gives which one it was; 404 for every invoice that is not on the test
   * network.
   */
  actOnSandbox(checkoutId: string, action: string): Promise<SandboxAction>;
}

export interface CheckoutDependencies {
  readonly db: Pick<Database, "write">;
  readonly clock: Clock;
  /** Every network of the table: what is off now may have been on when an invoice was issued. */
  readonly networks: ReadonlyMap<string, Network>;
  readonly baseUrl: () => string;
  readonly sources: CheckoutSources;
  readonly claims: CheckoutClaims;
  /** Null: the test network is off. */
  readonly sandbox: CheckoutSandbox | null;
}

interface Loaded {
  readonly view: CheckoutView;
  /** Presented once a load, not once a request: addresses cost hashing. */
  readonly session: CheckoutSession;
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
    const view = { invoice, network, merchantName, payments, submitted, networkState };
    return { view, session: presentSession(view, clock.now()) };
  }

  /** The only way to the sandbox: an invoice of a real network has none. */
  function sandboxOf(network: Network): CheckoutSandbox | null {
    return network.isTest ? deps.sandbox : null;
  }

  async function loaded(checkoutId: string): Promise<Loaded | null> {
    // Text that is no checkout id is not asked of the store.
    return checkoutIdPattern.test(checkoutId) ? recent.get(checkoutId) : null;
  }

  return {
    basePath: () => new URL(deps.baseUrl()).pathname.replace(/\/$/, ""),

    async session(checkoutId) {
      const found = await loaded(checkoutId);
      if (found === null) throw notFound();
      return found.session;
    },

    async view(checkoutId) {
      const found = await loaded(checkoutId);
      if (found === null) return null;
      const hasSandbox = sandboxOf(found.view.network) !== null;
      return { ...found.view, qrCode: found.session.qrCode, at: clock.now(), hasSandbox };
    },

    async submitTransaction(context, checkoutId, transactionHash) {
      const found = await loaded(checkoutId);
      if (found === null) throw notFound();
      const hash = parseTransactionHash(transactionHash);
      if (hash === null) {
        throw invalidField(
          "/transactionHash",
          "invalid_format",
          "must be a transaction's hash, 64 digits and letters from a to f, or an explorer's link to it",
        );
      }
      return deps.db.write(context, async (tx) => {
        await deps.claims.submit(tx, found.view.invoice, hash);
        return found.session;
      });
    },

    async actOnSandbox(checkoutId, action) {
      const found = await loaded(checkoutId);
      const sandbox = found === null ? null : sandboxOf(found.view.network);
      if (found === null || sandbox === null) throw notFound();
      const pressed = readAction(action);
      await act(sandbox, found.view, pressed);
      // What it did touches every checkout of the network, and this payer looks again at once.
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
    case "reorganise":
      // As deep as a payment that was confirmed a moment ago.
      return sandbox.reorganise(view.network.confirmations);
    case "expire":
      return sandbox.expire(checkoutId);
  }
}
