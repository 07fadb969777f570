import { pagesOf, type PageAnswer, type PageCall } from "../../api/page.ts";
import { notFound, Problem } from "../../kernel/errors.ts";
import { findAsset } from "./assets.ts";
import { chooseCatalogue, type Catalogue } from "./catalogue.ts";
import { makePageModel } from "./page-model.ts";
import { renderCheckout, renderMessage } from "./render.ts";
import type { CheckoutService } from "./service.ts";

const page = pagesOf<CheckoutService>();

export const checkoutPages = [
  page({ method: "GET", path: "/pay/{checkoutId}", limit: "checkout", handle: showCheckout }),
  page({ method: "GET", path: "/pay/assets/{file}", limit: "checkout", handle: showAsset }),
  // No cookie and no credential: who can send this form has the link and may press its buttons, so there is no
  // request to forge. Money is free on the test network, and on every other the answer is 404.
  page({
    method: "POST",
    path: "/pay/{checkoutId}/sandbox",
    limit: "checkout",
    handle: actOnSandbox,
  }),
];

async function showCheckout(service: CheckoutService, call: PageCall): Promise<PageAnswer> {
  const text = chooseCatalogue(call.acceptLanguage);
  const basePath = service.basePath();
  const checkoutId = call.params["checkoutId"] ?? "";
  try {
    const view = await service.view(checkoutId);
    if (view === null) return notFoundPage(basePath, text);
    const html = renderCheckout(await makePageModel(view, basePath, text));
    return { kind: "html", status: 200, html };
  } catch (error) {
    // A payer who may just have paid is not shown a problem document.
    if (!(error instanceof Problem) || error.status !== 503) throw error;
    return unavailablePage(`${basePath}/pay/${checkoutId}`, basePath, text);
  }
}

function notFoundPage(basePath: string, text: Catalogue): PageAnswer {
  const html = renderMessage({
    text,
    basePath,
    title: text.notFoundHeadline,
    tone: "over",
    headline: text.notFoundHeadline,
    paragraphs: [text.notFoundLead],
    path: null,
  });
  return { kind: "html", status: 404, html };
}

function unavailablePage(path: string, basePath: string, text: Catalogue): PageAnswer {
  const html = renderMessage({
    text,
    basePath,
    title: text.unavailableHeadline,
    tone: "careful",
    headline: text.unavailableHeadline,
    paragraphs: [text.unavailableLead],
    path,
  });
  return { kind: "html", status: 503, html };
}

function showAsset(_service: CheckoutService, call: PageCall): Promise<PageAnswer> {
  const asset = findAsset(call.params["file"] ?? "");
  if (asset === null) throw notFound();
  return Promise.resolve({ kind: "file", type: asset.type, body: asset.body });
}

async function actOnSandbox(service: CheckoutService, call: PageCall): Promise<PageAnswer> {
  const checkoutId = call.params["checkoutId"] ?? "";
  await service.actOnSandbox(checkoutId, call.form.get("action") ?? "");
  return { kind: "redirect", location: `${service.basePath()}/pay/${checkoutId}` };
}
