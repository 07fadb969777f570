import { basePathOf, type App } from "../../app.ts";
import { addressGroup } from "../../http/client-address.ts";
import { page, type HtmlPage, type PageResponse, type PageCall } from "../../http/page.ts";
import { RateLimited } from "../../http/declare/problems.ts";
import { prepareBody } from "../../http/representation.ts";
import { systemActor } from "../../kernel/actor.ts";
import { InvalidRequest, notFound, Problem } from "../../kernel/errors.ts";
import { cleanPasted } from "../../kernel/text.ts";
import { parseAnyAddress } from "../../platform/chain/kinds.ts";
import { StoreUnavailable } from "../../platform/database/errors.ts";
import type { WriteContext } from "../../platform/database/database.ts";
import { InvoiceNotOpen, OptionLimitReached } from "../invoices/errors.ts";
import { findLogo } from "../organizations/logos.ts";
import { TooManyClaims } from "../payments/errors.ts";
import type { RefundOffer } from "../refunds/payer/payer-refunds.ts";
import { checkoutCacheOf, requireCheckout } from "./cache.ts";
import {
  checkoutPageToken,
  chooseCheckoutOption,
  offerCheckoutRefund,
  requestCheckoutRefund,
  submitCheckoutTransaction,
  walletOriginsOf,
  type RefundForm,
} from "./checkouts.ts";
import { liveStreamsOf } from "./live.ts";
import { PayerLimitReached } from "./payer-limits.ts";
import { embedScript, findAsset } from "./page/assets.ts";
import {
  NotRefundable,
  RefundAddressRefused,
  RefundTooEarly,
  TooManyRefundRequests,
} from "../refunds/errors.ts";
import { fill, networkText, type Catalogue, type PlainKey } from "./page/catalogue.ts";
import { valuesOf, type FormField, type PageNotice } from "./page/page-words.ts";
import { readLanguage } from "./page/languages.ts";
import { makePageModel } from "./page/page-model.ts";
import { renderCheckout, renderHome, renderRefund } from "./page/render.ts";
import { isLastSearchedFor } from "./page/state-words.ts";
import { testWords } from "./page/english-only.ts";
import type { CheckoutSession } from "./session.ts";
import { hasTestPanel, pressTestPanel, type PanelResult } from "./test-panel.ts";

/** The longest inputs of the refund's form, in characters. */
const hashLengthMax = 2_048;
const addressLengthMax = 200;

/** The results of a refund's form that the payment's page shows after a redirect. */
const refundResults = {
  received: "refundReceived",
  already: "refundAlready",
} as const satisfies Record<string, keyof Catalogue>;

/** Merchants' pages name this script, so an update reaches them within an hour. */
const embedScriptSeconds = 3_600;

const pressedWords: Readonly<Record<PanelResult, string>> = {
  pay: testWords.paid,
  underpay: testWords.underpaid,
  overpay: testWords.overpaid,
  mine: testWords.mined,
  reorganize: testWords.reorganized,
  "no-payment": testWords.noPayment,
  expire: testWords.expired,
};

/** The digits of an ID, without 0x. */
const idLength = 64;

export const checkoutPages = [
  page({ method: "GET", path: "/", limit: null, handle: showHome }),
  page({ method: "GET", path: "/pay/{checkoutId}", limit: "checkout", handle: showCheckout }),
  page({ method: "GET", path: "/pay/{checkoutId}/events", limit: "checkout", handle: follow }),
  page({ method: "GET", path: "/embed.js", limit: null, handle: showEmbedScript }),
  page({ method: "GET", path: "/pay/assets/{file}", limit: null, handle: showAsset }),
  // No CSRF token: the link itself is the authorization, without cookies or credentials. The form works only on the
  // test network; on any other the response is 404.
  page({
    method: "POST",
    path: "/pay/{checkoutId}/sandbox",
    limit: "checkout",
    handle: actOnSandbox,
  }),
  // Same here: anyone with the link may send the form, which only starts a lookup of a public transaction.
  page({
    method: "POST",
    path: "/pay/{checkoutId}/transactions",
    limit: "submit",
    handle: submitTransaction,
  }),
  // A browser that reloads the answer to a form gets the payment.
  page({
    method: "GET",
    path: "/pay/{checkoutId}/transactions",
    limit: "checkout",
    handle: returnToPayment,
  }),
  page({
    method: "GET",
    path: "/pay/{checkoutId}/refund",
    limit: "checkout",
    handle: returnToPayment,
  }),
  // Here too: a request moves no money, and the merchant decides about it.
  page({
    method: "POST",
    path: "/pay/{checkoutId}/refund",
    limit: "submit",
    handle: requestRefund,
  }),
  // Same here: it changes the token and network in which the payment is asked for.
  page({ method: "POST", path: "/pay/{checkoutId}/option", limit: "submit", handle: chooseOption }),
];

/** A refusal of a form: its text, the field that is wrong, and the problem that a text with `{problem}` names. */
interface Refusal {
  readonly text: PlainKey;
  readonly field: FormField;
  readonly problem?: HashProblem;
}

/** Shows a refund's address once more before it is stored: a wrong address loses the money. */
async function requestRefund(app: App, call: PageCall): Promise<PageResponse> {
  const checkoutId = call.params["checkoutId"] ?? "";
  const context = payerOf(call);
  const input = {
    transactionHash: (call.form.get("transactionHash") ?? "").slice(0, hashLengthMax),
    address: (call.form.get("address") ?? "").slice(0, addressLengthMax),
    pageToken: call.form.get("pageToken") ?? "",
  };
  try {
    const amount = call.form.get("amount");
    if (amount !== null) {
      const { result } = await requestCheckoutRefund(app, context, checkoutId, {
        ...input,
        amount,
      });
      if (result === "requested") return redirect(app, call, { refund: "received" }, "#top");
    }
    // Also if the amount has changed since the payer saw it.
    const offer = await offerCheckoutRefund(app, context, checkoutId, input);
    if (offer === null) return redirect(app, call, { refund: "already" }, "#top");
    const { text, languageQuery } = readLanguage(app, call);
    const { session, view } = await requireCheckout(app, checkoutId);
    const shown = { basePath: basePathOf(app), text, languageQuery };
    const page = makeRefundPage(session, input, offer, shown);
    const policy = { connects: [], embedders: view.merchant.allowedOrigins };
    return { kind: "html", page, policy };
  } catch (error) {
    // The page shows the merchant's reasons, and whom to contact.
    if (error instanceof TooManyRefundRequests) return redirect(app, call, {}, "#top");
    return refuseForm(app, call, "refund", refundRefusalOf(error, input.transactionHash), input);
  }
}

/** Returns the refusal for a problem with the inputs; rethrows other errors. */
function refundRefusalOf(error: unknown, transactionHash: string): Refusal {
  if (error instanceof NotRefundable) return { text: "refundNothing", field: "transactionHash" };
  if (error instanceof RefundTooEarly) return { text: "refundTooEarly", field: "transactionHash" };
  if (error instanceof RefundAddressRefused) {
    return { text: "refundAddressRefused", field: "address" };
  }
  if (!(error instanceof InvalidRequest)) throw error;
  const isHash = error.errors.some(({ pointer }) => pointer === "/transactionHash");
  return isHash ? malformed(transactionHash) : { text: "refundBadAddress", field: "address" };
}

function malformed(transactionHash: string): Refusal {
  const problem = findHashProblem(transactionHash);
  return { text: "hashMalformed", field: "transactionHash", problem };
}

/** Answers a form with the payment's page: the refusal stands beside the field, which keeps what was entered. */
function refuseForm(
  app: App,
  call: PageCall,
  form: "hash" | "refund",
  { text: refusal, field, problem }: Refusal,
  given: Readonly<Record<FormField, string>>,
): Promise<PageResponse> {
  return respondWithPage(app, call, (session, text) => {
    const values = { ...noticeValues(session), problem: problem ? text[problem] : "" };
    return { form, isError: true, text: fill(text[refusal], values), field, given };
  });
}

function showHome(app: App, call: PageCall): Promise<PageResponse> {
  const page = renderHome(basePathOf(app), readLanguage(app, call).text);
  return Promise.resolve({ kind: "html", page });
}

function showCheckout(app: App, call: PageCall): Promise<PageResponse> {
  const { query } = call;
  return respondWithPage(
    app,
    call,
    (session, text) =>
      hashNotice(query.get("hash"), session, text) ??
      refundNotice(query.get("refund"), session, text) ??
      choiceNotice(query.get("option"), text) ??
      (hasTestPanel(app, session) ? pressedNotice(query.get("done")) : null),
  );
}

/** Answers with the page of a payment. `noticeFor` returns the result of a form that was just sent. */
async function respondWithPage(
  app: App,
  call: PageCall,
  noticeFor: (session: CheckoutSession, text: Catalogue) => PageNotice | null,
): Promise<PageResponse> {
  const { text, languageQuery } = readLanguage(app, call);
  const basePath = basePathOf(app);
  const checkoutId = call.params["checkoutId"] ?? "";
  const checkout = await requireCheckout(app, checkoutId);
  const { session } = checkout;
  const { allowedOrigins } = checkout.view.merchant;
  const notice = noticeFor(session, text);
  const render = () =>
    renderCheckout(
      makePageModel(session, {
        basePath,
        text,
        languageQuery,
        hasSandbox: hasTestPanel(app, session),
        notice,
        pageToken: checkoutPageToken(app, checkoutId),
        allowedOrigins,
        version: checkout.version(),
      }),
    );
  // A page after a form has a message that no other visitor sees.
  const page =
    notice === null
      ? checkoutCacheOf(app).pageOf(checkout, text.lang + languageQuery, render)
      : render();
  const policy = { connects: walletOriginsOf(app.networks, session), embedders: allowedOrigins };
  return { kind: "html", page, policy, at: app.clock.now() };
}

/** Keeps a page informed: event `session` with the version of the current session, and `beat` every few seconds. */
async function follow(app: App, call: PageCall): Promise<PageResponse> {
  const { session, version } = await requireCheckout(app, call.params["checkoutId"] ?? "");
  const address = addressGroup(call.clientAddress);
  const live = liveStreamsOf(app);
  live.requireRoom(session.id, address);
  return {
    kind: "events",
    subscribe: (sink) => live.watch({ id: session.id, version: version() }, address, sink),
  };
}

async function showAsset(app: App, call: PageCall): Promise<PageResponse> {
  const name = call.params["file"] ?? "";
  const asset = await findAsset(name);
  if (asset !== null) return { kind: "file", file: asset };
  const logo = await findLogo(app.db, name);
  if (logo === null) throw notFound();
  return { kind: "file", file: await prepareBody(logo.type, logo.body) };
}

function showEmbedScript(): Promise<PageResponse> {
  return Promise.resolve({ kind: "data", ...embedScript, cacheSeconds: embedScriptSeconds });
}

async function actOnSandbox(app: App, call: PageCall): Promise<PageResponse> {
  const checkoutId = call.params["checkoutId"] ?? "";
  const done = await pressTestPanel(app, checkoutId, call.form.get("action") ?? "");
  return redirect(app, call, { done });
}

async function submitTransaction(app: App, call: PageCall): Promise<PageResponse> {
  const checkoutId = call.params["checkoutId"] ?? "";
  const given = call.form.get("transactionHash") ?? "";
  try {
    await submitCheckoutTransaction(app, payerOf(call), checkoutId, given);
  } catch (error) {
    const input = { transactionHash: given.slice(0, hashLengthMax), address: "" };
    return refuseForm(app, call, "hash", hashRefusalOf(error, given), input);
  }
  return redirect(app, call, { hash: "received" }, "#top");
}

/** Returns the refusal of a submitted hash; rethrows other errors. */
function hashRefusalOf(error: unknown, given: string): Refusal {
  if (error instanceof InvalidRequest) return malformed(given);
  if (error instanceof TooManyClaims || error instanceof PayerLimitReached)
    return { text: "hashTooMany", field: "transactionHash" };
  throw error;
}

function payerOf(call: PageCall): WriteContext {
  return {
    actor: systemActor("checkout"),
    requestId: call.requestId,
    ip: call.clientAddress,
  };
}

async function chooseOption(app: App, call: PageCall): Promise<PageResponse> {
  const [network = "", ...symbol] = (call.form.get("option") ?? "").split("/");
  const chosen = { network, tokenSymbol: symbol.join("/") };
  const result = await choiceOf(
    chooseCheckoutOption(app, payerOf(call), call.params["checkoutId"] ?? "", chosen),
  );
  return redirect(app, call, { option: result });
}

function returnToPayment(app: App, call: PageCall): Promise<PageResponse> {
  return Promise.resolve(redirect(app, call, {}));
}

/**
 * Sends the browser back to the payment after a form, with the form's result, in the same language. Without a fragment,
 * the browser keeps that of the form's address.
 */
function redirect(
  app: App,
  call: PageCall,
  result: Readonly<Record<string, string>>,
  fragment: "" | "#top" = "",
): PageResponse {
  const query = new URLSearchParams(result);
  const { languageQuery } = readLanguage(app, call);
  for (const [name, lang] of new URLSearchParams(languageQuery)) query.set(name, lang);
  const path = `${basePathOf(app)}/pay/${call.params["checkoutId"] ?? ""}`;
  return {
    kind: "redirect",
    location: path + (query.size === 0 ? "" : `?${query.toString()}`) + fragment,
  };
}

/** Result of the form in which the payer chooses an option. */
type ChoiceResult = "chosen" | "full" | "closed" | "refused";

async function choiceOf(choosing: Promise<unknown>): Promise<ChoiceResult> {
  try {
    await choosing;
    return "chosen";
  } catch (error) {
    if (error instanceof OptionLimitReached) return "full";
    if (error instanceof InvoiceNotOpen) return "closed";
    if (error instanceof PayerLimitReached) return "refused";
    // The store may have the choice, or may not; and whoever is to wait gets a page that says how long.
    if (error instanceof StoreUnavailable || error instanceof RateLimited) throw error;
    if (error instanceof Problem && error.status !== 404) return "refused";
    throw error;
  }
}

function choiceNotice(result: string | null, text: Catalogue): PageNotice | null {
  switch (result) {
    case "chosen":
      return { form: "option", isError: false, text: text.optionChosen };
    case "full":
      return { form: "option", isError: true, text: text.optionsFull };
    case "closed":
      return { form: "option", isError: true, text: text.optionClosed };
    case "refused":
      return { form: "option", isError: true, text: text.optionRefused };
    default:
      return null;
  }
}

/** Returns the message for a hash that was submitted. */
function hashNotice(
  result: string | null,
  session: CheckoutSession,
  text: Catalogue,
): PageNotice | null {
  if (result !== "received") return null;
  // The page says itself that the transaction is looked for.
  if (session.state === "awaiting" && isLastSearchedFor(session)) return null;
  return { form: "hash", isError: false, text: text.hashReceived };
}

/** Returns the message for a refund's form. */
function refundNotice(
  result: string | null,
  session: CheckoutSession,
  text: Catalogue,
): PageNotice | null {
  if (result !== "received" && result !== "already") return null;
  const said = fill(text[refundResults[result]], noticeValues(session));
  return { form: "refund", isError: false, text: said };
}

/** Returns the values for a notice. Only notices about a refund name a network: that of the refunded payment. */
function noticeValues(session: CheckoutSession): Readonly<Record<string, string>> {
  return { ...valuesOf(session), network: networkText(session.refundable ?? session) };
}

/** Returns the message for a button of the test panel. */
function pressedNotice(done: string | null): PageNotice | null {
  if (done === null || !Object.hasOwn(pressedWords, done)) return null;
  const text = pressedWords[done as PanelResult];
  return { form: null, isError: done === "no-payment", text };
}

/** The text that says what is wrong with a transaction's ID. */
type HashProblem = keyof Pick<
  Catalogue,
  "hashTooShort" | "hashTooLong" | "hashWrongCharacter" | "hashNotInLink" | "hashIsAddress"
>;

/** Returns what is wrong with a text in which no transaction's ID was found. */
function findHashProblem(text: string): HashProblem {
  const pasted = cleanPasted(text);
  if (pasted.includes("/")) return "hashNotInLink";
  if (parseAnyAddress(pasted) !== null) return "hashIsAddress";
  const digits = pasted.replace(/^0x/i, "");
  if (!/^[0-9a-f]*$/i.test(digits)) return "hashWrongCharacter";
  return digits.length < idLength ? "hashTooShort" : "hashTooLong";
}

/** Renders the page on which a payer confirms a refund. `path` is that of the payment's page. */
function makeRefundPage(
  session: CheckoutSession,
  { transactionHash: hash, pageToken }: RefundForm,
  { amount, tokenSymbol, network, address }: RefundOffer,
  context: {
    readonly basePath: string;
    readonly text: Catalogue;
    readonly languageQuery: string;
  },
): HtmlPage {
  const { basePath, text, languageQuery } = context;
  const page = `${basePath}/pay/${session.id}`;
  const values = {
    merchant: session.merchantDisplayName,
    amount: `${amount} ${tokenSymbol}`,
    network: `${network.title} (${network.tokenStandard})`,
  };
  return renderRefund({
    text,
    basePath,
    title: text.refundCheck,
    lead: fill(text.refundCheckLead, values),
    address,
    amount,
    hash,
    pageToken,
    action: `${page}/refund${languageQuery}`,
    path: page + languageQuery,
    isTest: session.isTest,
  });
}
