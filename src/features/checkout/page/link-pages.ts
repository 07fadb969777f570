import type { HtmlPage } from "../../../http/page.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { styleSheetFor } from "./assets.ts";
import { fill, formatPrice, type Catalogue } from "./catalogue.ts";
import { languageLinks } from "./languages.ts";
import { monogramOf } from "./page-model.ts";
import { drawCode } from "./qr.ts";
import { renderTemplate } from "./render.ts";

/** A payment link as its payers see it. */
export interface LinkContext {
  readonly basePath: string;
  readonly text: Catalogue;
  readonly languageQuery: string;
  readonly link: {
    readonly id: string;
    readonly url: string;
    /** Null: the payer enters it, within the bounds. */
    readonly amount: string | null;
    readonly minAmount: string | null;
    readonly maxAmount: string | null;
    readonly currency: string;
    readonly description: string | null;
    /** Several are joined; null if the link names none. */
    readonly tokenSymbol: string | null;
    readonly network: Network | null;
    /** The options that the payer can choose, in the merchant's order; empty if there is no choice. */
    readonly options: readonly {
      readonly value: string;
      readonly network: Network;
      readonly option: { readonly tokenSymbol: string };
    }[];
  };
  readonly merchant: {
    readonly name: string;
    readonly accentColor: string | null;
    readonly logoPath: string | null;
  };
}

/** Renders the page on which a payer starts a payment; `failure` says why the last attempt was refused. */
export function makeLinkPage({
  failure,
  ...context
}: LinkContext & {
  readonly failure: "amount" | "option" | "terms" | "unavailable" | null;
}): HtmlPage {
  const { basePath, text, languageQuery, link, merchant } = context;
  const failures = {
    amount: text.linkBadAmount,
    option: text.linkBadOption,
    terms: text.linkBroken,
    unavailable: text.linkUnavailable,
  };
  return renderTemplate(text, "./link/link", {
    ...shared(context),
    action: `${basePath}/link/${link.id}${languageQuery}`,
    failure: failure === null ? null : fill(failures[failure], { merchant: merchant.name }),
    isAmountWrong: failure === "amount",
    isOptionWrong: failure === "option",
    options: optionsOf(context),
    amountLabel: fill(text.linkAmount, { currency: link.currency }),
    range: rangeOf(context),
  });
}

/** Renders the page with the link's QR code, to be printed. */
export function makePosterPage(context: LinkContext): HtmlPage {
  const { text, link } = context;
  return renderTemplate(text, "./link/poster", {
    ...shared(context),
    svg: drawCode(link.url),
    url: link.url,
  });
}

function shared({ basePath, text, link, merchant }: LinkContext) {
  const named = { merchant: merchant.name };
  const { network } = link;
  return {
    basePath,
    text,
    styleSheet: styleSheetFor(merchant.accentColor),
    script: null,
    title: fill(text.linkTitle, named),
    scan: fill(text.linkScan, named),
    merchant: merchant.name,
    logo: merchant.logoPath === null ? null : basePath + merchant.logoPath,
    monogram: monogramOf(merchant.name),
    purpose: link.description,
    amount: link.amount === null ? null : formatPrice(text, link.amount, link.currency),
    token:
      network === null || link.tokenSymbol === null
        ? link.tokenSymbol
        : nameOption(text, link.tokenSymbol, network),
    isTest: link.options[0]?.network.isTest ?? network?.isTest === true,
    languages: languageLinks("", text),
  };
}

/** Returns the options of the form, the cheapest usual fee first; the merchant's first one is selected. */
function optionsOf({ text, link: { options } }: LinkContext) {
  return options
    .map(({ value, network, option }, index) => ({
      value,
      words: nameOption(text, option.tokenSymbol, network),
      feeRank: network.feeRank,
      isSelected: index === 0,
    }))
    .toSorted((one, other) => one.feeRank - other.feeRank);
}

function nameOption(text: Catalogue, tokenSymbol: string, network: Network): string {
  return `${tokenSymbol} ${fill(text.onNetwork, { network: `${network.title} (${network.tokenStandard})` })}`;
}

function rangeOf({ text, link }: LinkContext): string | null {
  const { minAmount, maxAmount, currency } = link;
  const min = minAmount === null ? "" : formatPrice(text, minAmount, currency);
  const max = maxAmount === null ? "" : formatPrice(text, maxAmount, currency);
  if (min !== "" && max !== "") return fill(text.linkBetween, { min, max });
  if (min !== "") return fill(text.linkAtLeast, { min });
  return max === "" ? null : fill(text.linkAtMost, { max });
}
