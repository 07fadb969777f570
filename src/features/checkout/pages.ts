import { addressGroup } from "../../api/client-address.ts";
import { pagesOf, type HtmlPage, type PageAnswer, type PageCall } from "../../api/page.ts";
import { keepBody, keepHtml } from "../../api/representation.ts";
import { systemActor } from "../../kernel/actor.ts";
import { InvalidRequest, notFound } from "../../kernel/errors.ts";
import { TooManyClaims } from "../payments/index.ts";
import { findAsset } from "./page/assets.ts";
import type { Catalogue } from "./page/catalogue.ts";
import { readLanguage } from "./page/languages.ts";
import { makePageModel, type PageNotice } from "./page/page-model.ts";
import { renderCheckout, renderHome } from "./page/render.ts";
import { testWords } from "./page/english-only.ts";
import type { CheckoutSession } from "./present.ts";
import { sandboxActions, type CheckoutService } from "./service.ts";

const page = pagesOf<CheckoutService>();

export const checkoutPages = [
  page({ method: "GET", path: "/", limit: null, handle: showHome }),
  page({ method: "GET", path: "/pay/{checkoutId}", limit: "checkout", handle: showCheckout }),
  page({ method: "GET", path: "/pay/{checkoutId}/events", limit: "checkout", handle: follow }),
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
];

function showHome(service: CheckoutService, call: PageCall): Promise<PageAnswer> {
  const page = renderHome(service.basePath(), readLanguage(call).text);
  return Promise.resolve({ kind: "html", page });
}

async function showCheckout(service: CheckoutService, call: PageCall): Promise<PageAnswer> {
  const { text, languageQuery } = readLanguage(call);
  const basePath = service.basePath();
  const checkoutId = call.params["checkoutId"] ?? "";
  const session = await service.session(checkoutId);
  const hasSandbox = service.hasSandbox(session);
  const done = hasSandbox ? call.query.get("done") : null;
  const notice = noticeOf(call.query.get("hash"), text) ?? pressedNotice(done);
  const context = { basePath, text, languageQuery, hasSandbox, notice };
  const render = () => renderCheckout(makePageModel(session, context));
  // A page after a form has a message that no other visitor sees.
  const page = notice === null ? keptPage(session, text.lang + languageQuery, render) : render();
  return { kind: "html", page, at: service.now() };
}

/** The page of each session in the language in which it was last seen. A session changes with what its page shows. */
const pages = new WeakMap<CheckoutSession, { readonly variant: string; readonly page: HtmlPage }>();

function keptPage(session: CheckoutSession, variant: string, render: () => HtmlPage): HtmlPage {
  const known = pages.get(session);
  if (known?.variant === variant) return known.page;
  const { html, language } = render();
  const page = { html: typeof html === "string" ? keepHtml(html) : html, language };
  pages.set(session, { variant, page });
  return page;
}

/** Keeps a page informed: event `session` with the version of the current session, and `beat` every few seconds. */
async function follow(service: CheckoutService, call: PageCall): Promise<PageAnswer> {
  const session = await service.session(call.params["checkoutId"] ?? "");
  const address = addressGroup(call.clientAddress);
  service.live.requireRoom(session.id, address);
  return { kind: "events", subscribe: (sink) => service.live.watch(session, address, sink) };
}

async function showAsset(service: CheckoutService, call: PageCall): Promise<PageAnswer> {
  const name = call.params["file"] ?? "";
  const asset = await findAsset(name);
  if (asset !== null) return { kind: "file", file: asset };
  const logo = await service.logo(name);
  if (logo === null) throw notFound();
  return { kind: "file", file: await keepBody(logo.type, logo.body) };
}

async function actOnSandbox(service: CheckoutService, call: PageCall): Promise<PageAnswer> {
  const checkoutId = call.params["checkoutId"] ?? "";
  const done = await service.actOnSandbox(checkoutId, call.form.get("action") ?? "");
  return redirect(service, call, { done });
}

async function submitTransaction(service: CheckoutService, call: PageCall): Promise<PageAnswer> {
  const checkoutId = call.params["checkoutId"] ?? "";
  const context = {
    actor: systemActor("checkout"),
    requestId: call.requestId,
    ip: call.clientAddress,
  };
  const result = await resultOf(
    service.submitTransaction(context, checkoutId, call.form.get("transactionHash") ?? ""),
  );
  return redirect(service, call, { hash: result });
}

/** Sends the browser back to the payment after a form, with the form's result, in the same language. */
function redirect(
  service: CheckoutService,
  call: PageCall,
  result: Readonly<Record<string, string>>,
): PageAnswer {
  const query = new URLSearchParams(result);
  const { languageQuery, text } = readLanguage(call);
  if (languageQuery !== "") query.set("lang", text.lang);
  const path = `${service.basePath()}/pay/${call.params["checkoutId"] ?? ""}`;
  return { kind: "redirect", location: `${path}?${query.toString()}` };
}

/** Result of the submitted form. */
type HashResult = "received" | "malformed" | "too-many";

async function resultOf(submitting: Promise<unknown>): Promise<HashResult> {
  try {
    await submitting;
    return "received";
  } catch (error) {
    if (error instanceof InvalidRequest) return "malformed";
    if (error instanceof TooManyClaims) return "too-many";
    throw error;
  }
}

function noticeOf(result: string | null, text: Catalogue): PageNotice | null {
  switch (result) {
    case "received":
      return { isError: false, text: text.hashReceived };
    case "malformed":
      return { isError: true, text: text.hashMalformed };
    case "too-many":
      return { isError: true, text: text.hashTooMany };
    default:
      return null;
  }
}

/** Returns the message for a button of the test panel. */
function pressedNotice(done: string | null): PageNotice | null {
  const action = sandboxActions.find((known) => known === done);
  if (action === undefined) return null;
  const said = {
    pay: testWords.paid,
    underpay: testWords.underpaid,
    overpay: testWords.overpaid,
    mine: testWords.mined,
    reorganize: testWords.reorganized,
    expire: testWords.expired,
  }[action];
  return { isError: false, text: said };
}
