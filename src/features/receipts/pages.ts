import {
  keepPage,
  pagesOf,
  type HtmlPage,
  type PageAnswer,
  type PageCall,
} from "../../api/page.ts";
import { makeVerifyPage, type Verification } from "../checkout/page/verify-page.ts";
import { readLanguage } from "../checkout/page/languages.ts";
import type { ReceiptService } from "./service.ts";
import { signedTextMax } from "./signed-text.ts";

const page = pagesOf<ReceiptService>();

export const receiptPages = [
  page({ method: "GET", path: "/.well-known/jwks.json", limit: null, handle: showKeys }),
  page({
    method: "GET",
    path: "/pay/{checkoutId}/receipt.txt",
    limit: "checkout",
    handle: download,
  }),
  page({ method: "GET", path: "/verify", limit: null, handle: showForm }),
  // No CSRF token: the form changes nothing.
  page({ method: "POST", path: "/verify", limit: "verify", handle: verify }),
];

/** RFC 7517 names the media type of a key set. */
async function showKeys(service: ReceiptService): Promise<PageAnswer> {
  const body = JSON.stringify(await service.publishedKeys());
  return { kind: "data", type: "application/jwk-set+json", body };
}

async function download(service: ReceiptService, call: PageCall): Promise<PageAnswer> {
  const { jws, claims } = await service.receipt(call.params["checkoutId"] ?? "");
  return {
    kind: "data",
    type: "text/plain; charset=utf-8",
    body: `${jws}\n`,
    fileName: `receipt-${claims.reference}.txt`,
  };
}

/** The empty form in each language. */
const forms = new Map<string, HtmlPage>();

function showForm(service: ReceiptService, call: PageCall): Promise<PageAnswer> {
  const { text, languageQuery } = readLanguage(call);
  const variant = service.basePath() + text.lang + languageQuery;
  const page = forms.get(variant) ?? keepPage(makePage(service, call, "", null));
  forms.set(variant, page);
  return Promise.resolve({ kind: "html", page });
}

async function verify(service: ReceiptService, call: PageCall): Promise<PageAnswer> {
  const given = call.form.get("text") ?? "";
  const found = await service.check(given);
  if (typeof found === "string") {
    return { kind: "html", page: makePage(service, call, given, { outcome: found, claims: {} }) };
  }
  const outcome = service.isOver(found) ? "expired_request" : found.kind;
  const result = { outcome, claims: found.claims } as const;
  return { kind: "html", page: makePage(service, call, given, result) };
}

function makePage(
  service: ReceiptService,
  call: PageCall,
  given: string,
  result: Verification | null,
): HtmlPage {
  const basePath = service.basePath();
  const { text, languageQuery } = readLanguage(call);
  const shown = { basePath, text, languageQuery, given, lengthMax: signedTextMax };
  return makeVerifyPage({ ...shown, result });
}
