import { basePathOf, perApp, type App } from "../../app.ts";
import {
  preparePage,
  page,
  type HtmlPage,
  type PageResponse,
  type PageCall,
} from "../../http/page.ts";
import type { Instant } from "../../kernel/clock.ts";
import { makeVerifyPage, type Verification } from "../checkout/page/verify-page.ts";
import { readLanguage } from "../checkout/page/languages.ts";
import { listReceiptKeys } from "./keys.ts";
import { signReceipt } from "./receipts.ts";
import { checkSigned, signedTextMax, type Verified } from "./signed-text.ts";

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
async function showKeys(app: App): Promise<PageResponse> {
  const body = JSON.stringify(await listReceiptKeys(app));
  return { kind: "data", type: "application/jwk-set+json", body };
}

async function download(app: App, call: PageCall): Promise<PageResponse> {
  const { jws, claims } = await signReceipt(app, call.params["checkoutId"] ?? "");
  return {
    kind: "data",
    type: "text/plain; charset=utf-8",
    body: `${jws}\n`,
    fileName: `receipt-${claims.reference}.txt`,
  };
}

/** The empty form in each language. */
const formsOf = perApp(() => new Map<string, HtmlPage>());

function showForm(app: App, call: PageCall): Promise<PageResponse> {
  const { text, languageQuery } = readLanguage(app, call);
  const variant = basePathOf(app) + text.lang + languageQuery;
  const forms = formsOf(app);
  const page = forms.get(variant) ?? preparePage(makePage(app, call, "", null));
  forms.set(variant, page);
  return Promise.resolve({ kind: "html", page });
}

async function verify(app: App, call: PageCall): Promise<PageResponse> {
  const given = call.form.get("text") ?? "";
  const found = await checkSigned(given, await listReceiptKeys(app));
  if (typeof found === "string") {
    return { kind: "html", page: makePage(app, call, given, { outcome: found, claims: {} }) };
  }
  const outcome = isOver(found, app.clock.now()) ? "expired_request" : found.kind;
  const result = { outcome, claims: found.claims } as const;
  return { kind: "html", page: makePage(app, call, given, result) };
}

/** Whether a document is a payment request whose time is over. */
export function isOver({ kind, claims }: Verified, now: Instant): boolean {
  return kind === "payment_request" && Date.parse(claims.expiresAt) < now;
}

function makePage(app: App, call: PageCall, given: string, result: Verification | null): HtmlPage {
  const basePath = basePathOf(app);
  const { text, languageQuery } = readLanguage(app, call);
  const shown = { basePath, text, languageQuery, given, lengthMax: signedTextMax };
  return makeVerifyPage({ ...shown, result });
}
