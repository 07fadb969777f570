import { perApp, type App } from "../../app.ts";
import { invalidField, notFound } from "../../kernel/errors.ts";
import { networkStates } from "../../platform/chain/state/network-state.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import { deriveKey } from "../../platform/secrets/server-secret.ts";
import { isSameSecret, proofOf } from "../../platform/secrets/tokens.ts";
import { InvoiceNotOpen } from "../invoices/errors.ts";
import { chooseOption, type ChosenOption } from "../invoices/options/choose.ts";
import { submitClaim } from "../payments/hash-claims/submit-claim.ts";
import { NotFromPaymentPage } from "../refunds/errors.ts";
import {
  offerPayerRefund,
  requestPayerRefund,
  type RefundInput,
  type RefundOffer,
  type RequestResult,
} from "../refunds/payer/payer-refunds.ts";
import { checkoutCacheOf, requireCheckout, viewCheckout, type CheckoutNetworks } from "./cache.ts";
import { countAct, requireRoomForAct } from "./payer-limits.ts";
import { mayChooseOption } from "./rules.ts";
import { presentSession, situationOf, type CheckoutSession, type CheckoutView } from "./session.ts";
import { findCheckoutLedger, findCheckouts } from "./store.ts";

/** The key of the tokens that the forms on payers' pages have. */
const pageKey = perApp(({ secret }) => deriveKey(secret, "refund-forms"));

/** The inputs of a payer, with the token of the page on which they were made. */
export interface RefundForm extends RefundInput {
  readonly pageToken: string;
}

/**
 * Returns the current session, whichever process changed it; the same object while nothing has changed. 404 if it does
 * not exist.
 */
export async function getCheckoutSession(app: App, checkoutId: string): Promise<CheckoutSession> {
  return (await requireCheckout(app, checkoutId)).session;
}

/**
 * Returns the origins whose pages may embed the checkout as this process last saw it, without reading the store; none if
 * it does not keep the checkout.
 */
export function lastCheckoutOrigins(app: App, checkoutId: string): readonly string[] {
  return checkoutCacheOf(app).last(checkoutId)?.view.merchant.allowedOrigins ?? [];
}

/**
 * Returns the current session if no payment that counts waits for confirmations, else null. Both are of one state of the
 * store. 404 if the checkout does not exist.
 */
export async function getConfirmedSession(
  app: App,
  checkoutId: string,
): Promise<CheckoutSession | null> {
  const { view, session } = await requireCheckout(app, checkoutId);
  return view.payments.some(({ status }) => status === "confirming") ? null : session;
}

/** Returns the origins that wallets in payers' browsers connect to: a page that stays open may show another network later. */
export function walletOriginsOf(
  { known, enabled }: CheckoutNetworks,
  {
    invoice,
    options,
  }: Pick<CheckoutSession, "options"> & {
    readonly invoice: Pick<CheckoutSession["invoice"], "network">;
  },
): readonly string[] {
  const offered = new Set([invoice, ...options].map(({ network }) => network));
  const read = [...known.values()].filter(({ id }) => enabled.has(id) && offered.has(id));
  return [...new Set(read.flatMap(({ kind }) => kind.browserWallets?.origins ?? []))];
}

/**
 * Stores a transaction that a payer claims to have paid with, for a later lookup, and returns the session. 400 if the text
 * contains no hash, 404 if there is no such checkout, 409 `too_many_claims`, 429 at a limit of `payerLimits`, as for every
 * other act of a payer.
 */
export async function submitCheckoutTransaction(
  app: App,
  context: WriteContext,
  checkoutId: string,
  transactionHash: string,
): Promise<CheckoutSession> {
  const { db, clock } = app;
  const { view } = await requireCheckout(app, checkoutId);
  const hash = view.network.kind.parseTransactionHash(transactionHash);
  if (hash === null) {
    throw invalidField(
      "/transactionHash",
      "invalid_format",
      "must be a transaction hash (64 digits and letters from a to f) or a block explorer's link to it",
    );
  }
  const { invoice } = view;
  // A repetition changes nothing, and gets its answer at a limit too.
  const isRepeated = view.submitted.some((each) => each.transactionHash === hash);
  if (!isRepeated) await requireRoomForAct(db, "hash", invoice, clock.now());
  return db.write(context, async (tx) => {
    const hasChanged = await submitClaim(tx, app, invoice, hash);
    if (hasChanged) await countAct(tx, "hash", invoice, clock.now());
    return sessionIn(tx, app, view);
  });
}

/** Returns the token of the forms on a checkout's page, without which nobody names the address of a refund. */
export function checkoutPageToken(app: App, checkoutId: string): string {
  return proofOf(pageKey(app), checkoutId);
}

/** The id of a checkout is in records, events and logs; the token is only in its page. */
function requirePage(app: App, checkoutId: string, { pageToken }: RefundForm): void {
  if (isSameSecret(pageToken, checkoutPageToken(app, checkoutId))) return;
  throw new NotFromPaymentPage("The pageToken is not the one in the form on this payment's page.");
}

/**
 * Returns the refund that a payer would ask for with these inputs, to be confirmed; null if one of the payment is open
 * already. 403 `not_from_payment_page`; 400, 409 `not_refundable`, `refund_too_early`, `too_many_refund_requests` and 422
 * `refund_address_refused` for the inputs, 404 without such a checkout.
 */
export async function offerCheckoutRefund(
  app: App,
  context: WriteContext,
  checkoutId: string,
  input: RefundForm,
): Promise<RefundOffer | null> {
  const { view } = await requireCheckout(app, checkoutId);
  requirePage(app, checkoutId, input);
  return offerPayerRefund(app, context, view.invoice, input);
}

/**
 * Stores a payer's request for a refund and returns the session. If one of the payment is open, that one stays as it is; if
 * the amount differs from the one in the input, nothing is stored. Problems as for `offerCheckoutRefund`.
 */
export async function requestCheckoutRefund(
  app: App,
  context: WriteContext,
  checkoutId: string,
  input: RefundForm,
): Promise<{ readonly session: CheckoutSession; readonly result: RequestResult }> {
  const { db, clock } = app;
  const { view } = await requireCheckout(app, checkoutId);
  requirePage(app, checkoutId, input);
  const { invoice } = view;
  return db.write(context, async (tx) => {
    const result = await requestPayerRefund(tx, app, invoice, input);
    if (result === "requested") await countAct(tx, "refund", invoice, clock.now());
    return { session: await sessionIn(tx, app, view), result };
  });
}

/** Returns the session with the payments and claims that the transaction sees. */
async function sessionIn(tx: Tx, { clock }: App, view: CheckoutView): Promise<CheckoutSession> {
  const ledger = await findCheckoutLedger(tx, view.invoice.id);
  const current = { ...view, ...ledger };
  return presentSession(current, situationOf(current, clock.now()));
}

/**
 * Puts another option of the invoice in force, and returns the session; see `chooseOption` of invoices for the errors. 409
 * `invoice_not_open` also while nothing should be sent.
 */
export async function chooseCheckoutOption(
  app: App,
  context: WriteContext,
  checkoutId: string,
  chosen: ChosenOption,
): Promise<CheckoutSession> {
  const { db, clock, networks } = app;
  const { view, session } = await requireCheckout(app, checkoutId);
  const { invoice } = view;
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
  if (!isInForce) await requireRoomForAct(db, "option", invoice, clock.now());
  return db.write(context, async (tx) => {
    const hasChanged = await chooseOption(tx, app, clock.now(), checkoutId, chosen);
    if (hasChanged) await countAct(tx, "option", invoice, clock.now());
    const stored = (await findCheckouts(tx, app, [checkoutId])).get(checkoutId);
    if (stored === undefined) throw notFound();
    const current = viewCheckout(stored, await networkStates(tx), networks);
    return presentSession(current, situationOf(current, clock.now()));
  });
}
