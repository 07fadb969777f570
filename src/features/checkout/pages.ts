import { pagesOf, type PageAnswer, type PageCall } from "../../api/page.ts";
import { systemActor } from "../../kernel/actor.ts";
import { InvalidRequest, notFound } from "../../kernel/errors.ts";
import { TooManyClaims } from "../payments/index.ts";
import { findAsset } from "./page/assets.ts";
import { chooseCatalogue, type Catalogue } from "./page/catalogue.ts";
import { makePageModel, type PageNotice } from "./page/page-model.ts";
import { renderCheckout, renderHome } from "./page/render.ts";
import { sandboxActions, type CheckoutService } from "./service.ts";

const page = pagesOf<CheckoutService>();

export const checkoutPages = [
  page({ method: "GET", path: "/", limit: null, handle: showHome }),
  page({ method: "GET", path: "/pay/{checkoutId}", limit: "checkout", handle: showCheckout }),
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
  const html = renderHome(service.basePath(), chooseCatalogue(call.acceptLanguage));
  return Promise.resolve({ kind: "html", html });
}

async function showCheckout(service: CheckoutService, call: PageCall): Promise<PageAnswer> {
  const text = chooseCatalogue(call.acceptLanguage);
  const basePath = service.basePath();
  const checkoutId = call.params["checkoutId"] ?? "";
  const session = await service.session(checkoutId);
  const hasSandbox = service.hasSandbox(session);
  const done = hasSandbox ? call.query.get("done") : null;
  const notice = noticeOf(call.query.get("hash"), text) ?? pressedNotice(done, text);
  const context = { basePath, text, at: service.now(), hasSandbox, notice };
  return { kind: "html", html: renderCheckout(await makePageModel(session, context)) };
}

async function showAsset(_service: CheckoutService, call: PageCall): Promise<PageAnswer> {
  const asset = findAsset(call.params["file"] ?? "");
  if (asset === null) throw notFound();
  return { kind: "file", file: await asset };
}

async function actOnSandbox(service: CheckoutService, call: PageCall): Promise<PageAnswer> {
  const checkoutId = call.params["checkoutId"] ?? "";
  const done = await service.actOnSandbox(checkoutId, call.form.get("action") ?? "");
  return { kind: "redirect", location: `${service.basePath()}/pay/${checkoutId}?done=${done}` };
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
  return { kind: "redirect", location: `${service.basePath()}/pay/${checkoutId}?hash=${result}` };
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
function pressedNotice(done: string | null, text: Catalogue): PageNotice | null {
  const action = sandboxActions.find((known) => known === done);
  if (action === undefined) return null;
  const said = {
    pay: text.testPaid,
    underpay: text.testUnderpaid,
    overpay: text.testOverpaid,
    mine: text.testMined,
    reorganize: text.testReorganized,
    expire: text.testExpired,
  }[action];
  return { isError: false, text: said };
}
