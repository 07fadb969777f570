import { basePathOf, type App } from "../../app.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { page, type PageResponse, type PageCall } from "../../http/page.ts";
import { systemActor } from "../../kernel/actor.ts";
import { InvalidRequest, Problem } from "../../kernel/errors.ts";
import { StoreUnavailable } from "../../platform/database/errors.ts";
import { makeLinkPage, makePosterPage } from "../checkout/page/link-pages.ts";
import { readLanguage } from "../checkout/page/languages.ts";
import { AmountTooLarge, AmountTooSmall } from "../invoices/errors.ts";
import { logoPath } from "../organizations/logos.ts";
import { paymentLinkOperations } from "./api.ts";
import {
  getPublicLink,
  optionPointer,
  startLinkPayment,
  type PublicLink,
} from "./payment-links.ts";
import type { LinkTerms } from "./terms.ts";

export const paymentLinkPages = [
  page({ method: "GET", path: "/link/{paymentLinkId}", limit: "checkout", handle: showForm }),
  page({
    method: "GET",
    path: "/link/{paymentLinkId}/poster",
    limit: "checkout",
    handle: showPoster,
  }),
  // No CSRF token: anyone may start a payment. Browsers say which forms other sites send, and those are refused.
  page({
    method: "POST",
    path: "/link/{paymentLinkId}",
    // The link's own limit comes last: what a range of clients is refused must not use it up.
    limit: ["link", "linkRange", "linkInvoices"],
    handle: startPayment,
  }),
];

/** Stands beside the pages, because commands load the operations without them. */
export const paymentLinksModule: FeatureModule = {
  operations: paymentLinkOperations,
  pages: paymentLinkPages,
};

/** Reasons why a payment was not started. */
const failures = ["amount", "option", "terms", "unavailable"] as const;

async function showForm(app: App, call: PageCall): Promise<PageResponse> {
  const found = await getPublicLink(app, call.params["paymentLinkId"] ?? "");
  const failure = failures.find((known) => known === call.query.get("failed")) ?? null;
  return { kind: "html", page: makeLinkPage({ ...contextOf(app, call, found), failure }) };
}

async function showPoster(app: App, call: PageCall): Promise<PageResponse> {
  const found = await getPublicLink(app, call.params["paymentLinkId"] ?? "");
  return { kind: "html", page: makePosterPage(contextOf(app, call, found)) };
}

async function startPayment(app: App, call: PageCall): Promise<PageResponse> {
  const found = await getPublicLink(app, call.params["paymentLinkId"] ?? "");
  const { link } = found;
  const { languageQuery } = readLanguage(app, call);
  const context = {
    actor: systemActor("payment link"),
    requestId: call.requestId,
    ip: call.clientAddress,
  };
  try {
    const checkoutId = await startLinkPayment(app, context, found, {
      amount: call.form.get("amount") ?? "",
      option: call.form.get("option") ?? "",
    });
    const location = `${basePathOf(app)}/pay/${checkoutId}${languageQuery}`;
    return { kind: "redirect", location };
  } catch (error) {
    const query = new URLSearchParams({ failed: failureOf(error, link) });
    for (const [name, lang] of new URLSearchParams(languageQuery)) query.set(name, lang);
    const location = `${basePathOf(app)}/link/${link.id}?${query.toString()}`;
    return { kind: "redirect", location };
  }
}

/**
 * Returns why a payment was not started: because of the amount, if the payer entered it; of the option; of other fields, which only the
 * merchant can correct; or of the moment. Rethrows defects and an unavailable store, which have pages of their own.
 */
export function failureOf(
  error: unknown,
  { amount }: Pick<PublicLink["link"], "amount">,
): (typeof failures)[number] {
  if (error instanceof StoreUnavailable || !(error instanceof Problem)) throw error;
  const isInvalid = error instanceof InvalidRequest;
  const { errors } = error;
  const isAboutAmount =
    [AmountTooLarge, AmountTooSmall].some((kind) => error instanceof kind) ||
    (isInvalid && errors.length > 0 && errors.every(({ pointer }) => pointer === "/amount"));
  if (isAboutAmount && amount === null) return "amount";
  if (isInvalid && errors.some(({ pointer }) => pointer === optionPointer)) return "option";
  return isInvalid ? "terms" : "unavailable";
}

/** Returns the tokens that the link names; null if it leaves them to the organization's payment policy. */
function tokensOf({ tokenSymbol, paymentOptions }: LinkTerms): string | null {
  if (paymentOptions === undefined) return tokenSymbol ?? null;
  return [...new Set(paymentOptions.map((option) => option.tokenSymbol))].join(" · ");
}

function contextOf(app: App, call: PageCall, { link, merchant, network, options }: PublicLink) {
  const { terms } = link;
  return {
    ...readLanguage(app, call),
    basePath: basePathOf(app),
    link: {
      id: link.id,
      url: link.url,
      amount: link.amount,
      minAmount: link.minAmount,
      maxAmount: link.maxAmount,
      currency: terms.settlementCurrency,
      description: terms.description ?? null,
      tokenSymbol: tokensOf(terms),
      network,
      options,
    },
    merchant: {
      name: merchant.displayName,
      accentColor: merchant.accentColor,
      logoPath: logoPath(merchant.logo),
    },
  };
}
