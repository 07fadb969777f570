import type { Clock, Instant } from "../../kernel/clock.ts";
import { invalidField, notFound } from "../../kernel/errors.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { Database, Tx, WriteContext } from "../../platform/database/database.ts";
import { keepCheckouts, viewCheckout, type CheckoutNetworks, type FoundCheckout } from "./kept.ts";
import { InvoiceNotOpen } from "../invoices/errors.ts";
import type { ChosenOption } from "../invoices/options/choose.ts";
import { NotFromPaymentPage } from "../refunds/errors.ts";
import type { RefundInput, RefundOffer, RequestResult } from "../refunds/payer/payer-refunds.ts";
import { isSameSecret, proofOf } from "../../platform/secrets/tokens.ts";
import type {
  CheckoutChoice,
  CheckoutClaims,
  CheckoutRefunds,
  CheckoutSandbox,
  CheckoutSources,
} from "./ports.ts";
import { presentSession, type CheckoutSession, type CheckoutView } from "./present.ts";
import { countAct, requireRoom } from "./payer-limits.ts";
import { createLiveStreams, type LiveStreams } from "./live.ts";
import { mayChooseOption } from "./rules.ts";

const sandboxActions = ["pay", "underpay", "overpay", "mine", "reorganize", "expire"] as const;
type SandboxAction = (typeof sandboxActions)[number];
/** The action that was performed; `no-payment` if a reorganization can remove no payment of the invoice. */
export type SandboxResult = SandboxAction | "no-payment";

export interface CheckoutService {
  readonly live: LiveStreams;
  /** Returns the path prefix of this instance, without a trailing slash. */
  basePath(): string;
  /** Returns the current time, on which a page's countdown is based. */
  now(): Instant;
  /** Returns the origins that wallets in payers' browsers connect to from the page of a session. */
  walletOrigins(session: CheckoutSession): readonly string[];
  /** Whether the page of a session has a test panel. */
  hasSandbox(session: CheckoutSession): boolean;
  /**
   * Returns the current session, whichever process changed it; the same object while nothing has changed. 404 if it
   * does not exist.
   */
  session(checkoutId: string): Promise<CheckoutSession>;
  /**
   * Returns the current session with the origins whose pages may embed it and read it by scripts. 404 if it does not
   * exist.
   */
  checkout(checkoutId: string): Promise<CheckoutWithOrigins>;
  /**
   * Returns the origins whose pages may embed the checkout as this process last saw it, without a look at the store;
   * none if it does not keep the checkout.
   */
  lastOrigins(checkoutId: string): readonly string[];
  /** Returns the file of a merchant's logo by its name; null if no merchant has it. */
  logo(name: string): ReturnType<CheckoutSources["logo"]>;
  /**
   * Returns the current session if no payment that counts waits for confirmations, else null. Both are of one state of
   * the store. 404 if the checkout does not exist.
   */
  confirmedSession(checkoutId: string): Promise<CheckoutSession | null>;
  /**
   * Stores a transaction that a payer claims to have paid with, for a later lookup, and returns the session. 400 if the
   * text contains no hash, 404 if there is no such checkout, 409 `too_many_claims`, 429 at a limit of `payerLimits`, as for
   * every other act of a payer.
   */
  submitTransaction(
    context: WriteContext,
    checkoutId: string,
    transactionHash: string,
  ): Promise<CheckoutSession>;
  /**
   * Returns the refund that a payer would ask for with these inputs, to be confirmed; null if one of the payment is open
   * already. 403 `not_from_payment_page`; 400, 409 `not_refundable`, `refund_too_early`, `too_many_refund_requests` and 422
   * `refund_address_refused` for the inputs, 404 without such a checkout.
   */
  offerRefund(
    context: WriteContext,
    checkoutId: string,
    input: RefundForm,
  ): Promise<RefundOffer | null>;
  /**
   * Stores a payer's request for a refund and returns the session. If one of the payment is open, that one stays as it
   * is; if the amount differs from the one in the input, nothing is stored. Problems as for `offerRefund`.
   */
  requestRefund(
    context: WriteContext,
    checkoutId: string,
    input: RefundForm,
  ): Promise<{ readonly session: CheckoutSession; readonly result: RequestResult }>;
  /**
   * Puts another option of the invoice in force, and returns the session; see `chooseOption` of invoices for the errors.
   * 409 `invoice_not_open` also while nothing should be sent.
   */
  chooseOption(
    context: WriteContext,
    checkoutId: string,
    chosen: ChosenOption,
  ): Promise<CheckoutSession>;
  /** Returns the token of the forms on a checkout's page, without which nobody names the address of a refund. */
  pageToken(checkoutId: string): string;
  /** Performs an action of the test panel; 404 unless the invoice is on the test network. */
  actOnSandbox(checkoutId: string, action: string): Promise<SandboxResult>;
}

/** The inputs of a payer, with the token of the page on which they were made. */
export interface RefundForm extends RefundInput {
  readonly pageToken: string;
}

export interface CheckoutWithOrigins {
  readonly session: CheckoutSession;
  readonly allowedOrigins: readonly string[];
}

export interface CheckoutDependencies {
  readonly db: Pick<Database, "write" | "dialect" | "find">;
  readonly clock: Clock;
  /**
   * Every network in the table, because a network that is disabled now may have been enabled when the invoice was
   * issued.
   */
  readonly networks: ReadonlyMap<string, Network>;
  /** The ids of the networks that are read. */
  readonly enabled: ReadonlySet<string>;
  readonly baseUrl: () => string;
  /** The key of the tokens that the forms on payers' pages have. */
  readonly pageKey: Uint8Array;
  readonly sources: CheckoutSources;
  readonly claims: CheckoutClaims;
  readonly refunds: CheckoutRefunds;
  readonly choose: CheckoutChoice;
  /** Null if the test network is disabled. */
  readonly sandbox: CheckoutSandbox | null;
}

export function makeCheckoutService(deps: CheckoutDependencies): CheckoutService {
  const { clock, networks, sources, refunds } = deps;
  const kept = keepCheckouts(deps);

  async function found(checkoutId: string): Promise<FoundCheckout> {
    // Malformed ids are not looked up.
    const checkout = checkoutIdPattern.test(checkoutId) ? await kept.find(checkoutId) : null;
    if (checkout === null) throw notFound();
    return checkout;
  }

  const pageToken = (checkoutId: string) => proofOf(deps.pageKey, checkoutId);

  /** The id of a checkout is in records, events and logs; the token is only in its page. */
  function requirePage(checkoutId: string, { pageToken: given }: RefundForm): void {
    if (isSameSecret(given, pageToken(checkoutId))) return;
    throw new NotFromPaymentPage(
      "The pageToken is not the one in the form on this payment's page.",
    );
  }

  async function session(checkoutId: string): Promise<CheckoutSession> {
    return (await found(checkoutId)).session;
  }

  return {
    live: createLiveStreams({ read: session }),

    basePath: () => new URL(deps.baseUrl()).pathname.replace(/\/$/, ""),

    now: () => clock.now(),

    walletOrigins: (of) => walletOriginsOf(deps, of),

    hasSandbox({ invoice }) {
      const network = networks.get(invoice.network);
      return network !== undefined && sandboxOf(deps, network) !== null;
    },

    session,

    async checkout(checkoutId) {
      const { view, session } = await found(checkoutId);
      return { session, allowedOrigins: view.merchant.allowedOrigins };
    },

    lastOrigins: (checkoutId) => kept.last(checkoutId)?.view.merchant.allowedOrigins ?? [],

    async confirmedSession(checkoutId) {
      const { view, session } = await found(checkoutId);
      return view.payments.some(({ status }) => status === "confirming") ? null : session;
    },

    logo: (name) => sources.logo(name),

    submitTransaction: async (context, checkoutId, transactionHash) =>
      submitTransaction(deps, context, (await found(checkoutId)).view, transactionHash),

    pageToken,

    async offerRefund(context, checkoutId, input) {
      const { view } = await found(checkoutId);
      requirePage(checkoutId, input);
      return refunds.offer(context, view.invoice, input);
    },

    async requestRefund(context, checkoutId, input) {
      const { view } = await found(checkoutId);
      requirePage(checkoutId, input);
      return requestRefund(deps, context, view, input);
    },

    chooseOption: async (context, checkoutId, chosen) =>
      choose(deps, context, await found(checkoutId), chosen),

    async actOnSandbox(checkoutId, action) {
      const { view } = await found(checkoutId);
      const sandbox = sandboxOf(deps, view.network);
      if (sandbox === null) throw notFound();
      return act(sandbox, view, readAction(action));
    },
  };
}

/** Returns the origins of all networks that the checkout offers: a page that stays open may show another one later. */
export function walletOriginsOf(
  { networks, enabled }: CheckoutNetworks,
  {
    invoice,
    options,
  }: Pick<CheckoutSession, "options"> & {
    readonly invoice: Pick<CheckoutSession["invoice"], "network">;
  },
): readonly string[] {
  const offered = new Set([invoice, ...options].map(({ network }) => network));
  const read = [...networks.values()].filter(({ id }) => enabled.has(id) && offered.has(id));
  return [...new Set(read.flatMap(({ kind }) => kind.browserWallets?.origins ?? []))];
}

/** The only access to the sandbox; null for an invoice on another network. */
function sandboxOf({ sandbox }: CheckoutDependencies, { kind }: Network): CheckoutSandbox | null {
  return kind.isSimulated ? sandbox : null;
}

async function submitTransaction(
  deps: CheckoutDependencies,
  context: WriteContext,
  view: CheckoutView,
  transactionHash: string,
): Promise<CheckoutSession> {
  const hash = view.network.kind.parseTransactionHash(transactionHash);
  if (hash === null) {
    throw invalidField(
      "/transactionHash",
      "invalid_format",
      "must be a transaction hash (64 digits and letters from a to f) or a block explorer's link to it",
    );
  }
  const { db, clock } = deps;
  const { invoice } = view;
  // A repetition changes nothing, and gets its answer at a limit too.
  const isRepeated = view.submitted.some((each) => each.transactionHash === hash);
  if (!isRepeated) await requireRoom(db, "hash", invoice, clock.now());
  return db.write(context, async (tx) => {
    const hasChanged = await deps.claims.submit(tx, invoice, hash);
    if (hasChanged) await countAct(tx, "hash", invoice, clock.now());
    return sessionIn(tx, deps, view);
  });
}

function requestRefund(
  deps: CheckoutDependencies,
  context: WriteContext,
  view: CheckoutView,
  input: RefundInput,
): ReturnType<CheckoutService["requestRefund"]> {
  const { db, clock } = deps;
  const { invoice } = view;
  return db.write(context, async (tx) => {
    const result = await deps.refunds.request(tx, invoice, input);
    if (result === "requested") await countAct(tx, "refund", invoice, clock.now());
    return { session: await sessionIn(tx, deps, view), result };
  });
}

/** Returns the session with the payments and claims that the transaction sees. */
async function sessionIn(
  tx: Tx,
  { sources, clock }: CheckoutDependencies,
  view: CheckoutView,
): Promise<CheckoutSession> {
  const ledger = await sources.ledgerIn(tx, view.invoice.id);
  return presentSession({ ...view, ...ledger }, clock.now());
}

async function choose(
  deps: CheckoutDependencies,
  context: WriteContext,
  { view, session }: FoundCheckout,
  chosen: ChosenOption,
): Promise<CheckoutSession> {
  const { db, clock, sources } = deps;
  const { invoice } = view;
  const { checkoutId } = invoice;
  const isInForce = view.options.some(
    ({ network, tokenSymbol, isInForce }) =>
      isInForce && network.id === chosen.network && tokenSymbol === chosen.tokenSymbol,
  );
  // A payment may be on its way back to the chain: whoever is shown another amount now may pay twice.
  if (!isInForce && !mayChooseOption(session.state, view, clock.now())) {
    throw new InvoiceNotOpen(
      `Nothing should be sent now: the payment's state is ${session.state}. Read the checkout to see its next step.`,
    );
  }
  if (!isInForce) await requireRoom(db, "option", invoice, clock.now());
  return db.write(context, async (tx) => {
    const hasChanged = await deps.choose(tx, checkoutId, chosen, clock.now());
    if (hasChanged) await countAct(tx, "option", invoice, clock.now());
    const seen = await sources.checkoutIn(tx, checkoutId);
    if (seen === null) throw notFound();
    return presentSession(viewCheckout(seen.stored, seen.states, deps), clock.now());
  });
}

const checkoutIdPattern = /^chk_[0-9a-z]{26,64}$/;

function readAction(text: string): SandboxAction {
  const action = sandboxActions.find((known) => known === text);
  if (action !== undefined) return action;
  throw invalidField("/action", "invalid_value", `must be one of ${sandboxActions.join(", ")}`);
}

async function act(
  sandbox: CheckoutSandbox,
  { invoice: { checkoutId } }: CheckoutView,
  action: SandboxAction,
): Promise<SandboxResult> {
  switch (action) {
    case "pay":
      await sandbox.pay(checkoutId, "exact");
      break;
    case "underpay":
      await sandbox.pay(checkoutId, "under");
      break;
    case "overpay":
      await sandbox.pay(checkoutId, "over");
      break;
    case "mine":
      await sandbox.mine(1);
      break;
    case "reorganize":
      if (!(await sandbox.reorganize(checkoutId))) return "no-payment";
      break;
    case "expire":
      await sandbox.expire(checkoutId);
  }
  return action;
}
