import { expect } from "chai";
import {
  catalogues,
  chooseCatalogue,
  fill,
} from "../../../src/features/checkout/page/catalogue.ts";
import { en } from "../../../src/features/checkout/page/words/en.ts";
import { checkoutId, openLab, type Lab } from "./lab.ts";

const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();

describe("the languages of a checkout", () => {
  for (const catalogue of catalogues) {
    it(`have the same placeholders and no empty text: ${catalogue.lang}`, () => {
      for (const [key, text] of Object.entries(catalogue)) {
        expect(text.trim(), key).not.to.equal("");
        expect(new Set(placeholders(text)), key).to.deep.equal(
          new Set(placeholders(en[key as keyof typeof en])),
        );
      }
    });
  }

  it("are chosen by the browser's preferences", () => {
    const cases = [
      ["de-AT,en;q=0.8", "de"],
      ["en;q=0.5, de;q=0.9", "de"],
      ["xx, de;q=0, en", "en"],
      ["*", "en"],
      ["", "en"],
      [";;,=q,de;q=x", "en"],
    ] as const;
    for (const [header, lang] of cases) expect(chooseCatalogue(header).lang, header).to.equal(lang);
  });

  it("isolate values whose direction may differ", () => {
    expect(fill("Pay {amount}", { amount: "25 USDT" })).to.equal("Pay 25 USDT");
    expect(fill("Pay {merchant}", { merchant: "مقهى" })).to.equal("Pay \u2068مقهى\u2069");
    expect(fill("ادفع {amount}", { amount: "25 USDT" })).to.equal("ادفع \u206825 USDT\u2069");
  });

  describe("on the page", () => {
    let lab: Lab;
    afterEach(() => lab.close());

    it("are announced, and a chosen one stays chosen", async () => {
      lab = await openLab("sandbox");
      const german = await lab.get(`/pay/${checkoutId}`, { "Accept-Language": "de" });
      expect(german.headers.get("content-language")).to.equal("de");
      expect(german.headers.get("vary")).to.contain("Accept-Language");
      expect(await german.text()).to.contain('<html lang="de" dir="ltr">');
      const chosen = await lab.get(`/pay/${checkoutId}?lang=de`, { "Accept-Language": "en" });
      const page = await chosen.text();
      expect(chosen.headers.get("content-language")).to.equal("de");
      expect(page).to.contain("Wir warten auf deine Zahlung");
      expect(page).to.contain(`data-path="/pay/${checkoutId}?lang=de"`);
      expect(page).to.contain(`action="/pay/${checkoutId}/transactions?lang=de"`);
      expect(page).to.contain(`href="/pay/${checkoutId}?lang=en" lang="en" hreflang="en"`);
      const unknown = await lab.get(`/pay/${checkoutId}?lang=%3Cscript%3E`);
      expect(unknown.headers.get("content-language")).to.equal("en");
      expect(await unknown.text()).not.to.contain("<script>");
      const form = await fetch(`${lab.url}/pay/${checkoutId}/transactions?lang=de`, {
        method: "POST",
        body: new URLSearchParams({ transactionHash: "x" }),
        redirect: "manual",
      });
      expect(form.headers.get("location")).to.equal(`/pay/${checkoutId}?hash=malformed&lang=de`);
    });
  });
});
