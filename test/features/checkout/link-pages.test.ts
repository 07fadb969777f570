import { expect } from "chai";
import { catalogues, en, shippedLanguages } from "./shipped-languages.ts";
import {
  makeLinkPage,
  makePosterPage,
  type LinkContext,
} from "../../../src/features/checkout/page/link-pages.ts";
import { testNetworks } from "../../support/merchants.ts";

const networks = testNetworks("tron", "sandbox");
const [tron = null, sandbox = null] = ["tron", "sandbox"].map((id) => networks.get(id) ?? null);

const link: LinkContext["link"] = {
  id: "lnk_1",
  url: "https://pay.example/shop/link/lnk_1",
  amount: null,
  minAmount: null,
  maxAmount: null,
  currency: "USD",
  description: null,
  tokenSymbol: null,
  network: null,
  options: [],
};
const merchant = { name: "Café Zürich", accentColor: null, logoPath: null };

function contextOf(
  changes: Partial<LinkContext["link"]>,
  more: Partial<LinkContext> = {},
): LinkContext {
  const shown = { ...link, ...changes };
  return { basePath: "/shop", text: en, languageQuery: "", merchant, ...more, link: shown };
}

/** The text of a page's body, as a browser shows it. */
function sourceOf(html: unknown): string {
  return String(html);
}

function textOf(html: unknown): string {
  const [, body = ""] = String(html).split("</head>");
  return body
    .replace(/<[^>]*>/g, " ")
    .replaceAll("&#39;", "'")
    .replace(/\s+/g, " ");
}

describe("the pages of a payment link", () => {
  const form = (...given: Parameters<typeof contextOf>) =>
    makeLinkPage({ ...contextOf(...given), failure: null }).html;

  it("let the payer choose among several options by a labeled list, in every language, without a script", () => {
    if (tron === null || sandbox === null) throw new Error("the networks are not enabled");
    const options = [
      { value: "sandbox/USDC", network: sandbox, option: { tokenSymbol: "USDC" } },
      { value: "tron/USDT", network: tron, option: { tokenSymbol: "USDT" } },
    ];
    for (const text of catalogues) {
      const html = sourceOf(form({ options, tokenSymbol: "USDC · USDT" }, { text }));
      expect(html).to.contain(`<label for="option">${text.linkOption}</label>`);
      expect(html).to.contain('<select id="option" name="option">').and.not.to.contain("<script");
      expect(html).to.match(/<option value="sandbox\/USDC" selected>.*USDC.*Sandbox/);
      expect(html).to.match(/<option value="tron\/USDT">.*USDT.*TRON \(TRC-20\)/);
      const refused = makeLinkPage({ ...contextOf({ options }, { text }), failure: "option" }).html;
      expect(textOf(refused)).to.contain(text.linkBadOption);
      expect(sourceOf(refused)).to.contain('aria-invalid="true" aria-describedby="failure"');
    }
  });

  it("name the tokens, and the network with its standard, as far as the link does", () => {
    for (const [changes, said] of [
      [{ tokenSymbol: "USDT", network: tron }, "USDT on TRON (TRC-20)"],
      [{ tokenSymbol: "USDT · USDC" }, "USDT · USDC"],
    ] as const) {
      for (const html of [form(changes), makePosterPage(contextOf(changes)).html]) {
        expect(textOf(html)).to.contain(said);
      }
    }
    for (const changes of [{}, { network: tron }]) {
      for (const html of [form(changes), makePosterPage(contextOf(changes)).html]) {
        expect(textOf(html)).not.to.match(/null|undefined|TRON/);
      }
    }
  });

  it("say on a test network alone that no money is real", () => {
    const isTest = [sandbox, tron, null].map((network) =>
      textOf(form({ tokenSymbol: "USDT", network })).includes("no real money"),
    );
    expect(isTest).to.deep.equal([true, false, false]);
  });

  it("show the merchant's logo, or else the first letter of the name", () => {
    const withLogo = form({}, { merchant: { ...merchant, logoPath: "/pay/assets/logo.png" } });
    expect(withLogo).to.contain('<img class="sign" src="/shop/pay/assets/logo.png"');
    expect(form({}))
      .to.contain('<span class="sign" aria-hidden="true">C</span>')
      .and.not.to.contain("<img");
  });

  it("ask for an amount within the bounds, unless the link has one", () => {
    const fixed = form({ amount: "25.00" });
    expect(textOf(fixed)).to.contain("$25.00");
    expect(fixed).not.to.contain("<input");
    for (const [bounds, said] of [
      [{ minAmount: "5.00", maxAmount: "50.00" }, "From $5.00 to $50.00"],
      [{ minAmount: "5.00" }, "At least $5.00"],
      [{ maxAmount: "50.00" }, "At most $50.00"],
    ] as const) {
      const html = form(bounds);
      expect(textOf(html)).to.contain("Amount in USD").and.to.contain(said);
      expect(html).to.contain('aria-describedby="range"');
    }
    expect(form({})).to.contain("<input").and.not.to.contain("range");
  });

  it("say why a payment could not be started, in the payer's language", () => {
    const said = (failure: "amount" | "unavailable" | null) =>
      makeLinkPage({ ...contextOf({}), failure }).html as string;
    expect(said(null)).not.to.contain('role="alert"').and.not.to.contain("aria-invalid");
    expect(textOf(said("amount"))).to.contain("That amount doesn't work here.");
    expect(said("amount")).to.contain("aria-invalid");
    expect(textOf(said("unavailable"))).to.contain("or contact Café Zürich.");
    expect(said("unavailable")).to.contain('role="alert"').and.not.to.contain("aria-invalid");
    const german = form({}, { text: shippedLanguages.textsOf("de"), languageQuery: "?lang=de" });
    expect(german).to.contain('action="/shop/link/lnk_1?lang=de"');
  });
});
