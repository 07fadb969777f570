import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { parse } from "yaml";
import { day, hour, minute, second } from "../../../src/kernel/clock.ts";
import {
  fill,
  formatDuration,
  formatPrice,
  formatTime,
  type Catalogue,
  type PlainKey,
} from "../../../src/features/checkout/page/catalogue.ts";
import { english as en } from "../../../src/features/checkout/page/generated/english.ts";
import { parseLanguage } from "../../../src/features/checkout/page/language-file.ts";
import { chooseLanguage } from "../../../src/features/checkout/page/language-tags.ts";
import { catalogues, shippedLanguages } from "./shipped-languages.ts";
import { aHash, checkoutId, openLab, startOfTime, type Lab } from "./lab.ts";

const folder = new URL("../../../config/languages/", import.meta.url);
const machineMark = "Machine translation of en.yaml, not yet reviewed by a native speaker.";

const sourceOf = (lang: string) => readFileSync(new URL(`${lang}.yaml`, folder), "utf8");

/** The texts of a file by their keys. The plural forms of one have keys of their own. */
function textsIn(lang: string): [keyof typeof en, string][] {
  const texts = parse(sourceOf(lang)) as Record<keyof typeof en, string | Record<string, string>>;
  return Object.entries(texts).flatMap(([key, given]) =>
    (typeof given === "string" ? [given] : Object.values(given)).map(
      (text): [keyof typeof en, string] => [key as keyof typeof en, text],
    ),
  );
}

/** The name of the English texts' state, which each translation's file has in its comment. */
const digest = createHash("sha256")
  .update(JSON.stringify(parse(sourceOf("en"))))
  .digest("hex")
  .slice(0, 12);

const placeholders = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();

const catalogueOf = (lang: string): Catalogue => shippedLanguages.textsOf(lang);

/** Texts whose place on a phone is limited, and their maximum width in Latin letters. */
const widths: readonly (readonly [number, readonly PlainKey[]])[] = [
  // Buttons of 272 pixels, with room for a name in `back`.
  [
    26,
    [
      "copyAmount",
      "copyAddress",
      "copied",
      "openWallet",
      "hashSend",
      "checkAgain",
      "print",
      "verifySend",
    ],
  ],
  [22, ["back"]],
  // May wrap once, below the receipt.
  [32, ["downloadReceipt"]],
  // Shown in a button for two seconds, where it may wrap once.
  [50, ["copyFailed"]],
  // The left column of the facts.
  [
    21,
    [
      "purpose",
      "order",
      "merchant",
      "asked",
      "invoiced",
      "received",
      "excess",
      "network",
      "reference",
      "paidAt",
      "expires",
      "expired",
      "sumPaid",
      "sumAsked",
      "sumExcess",
      "transaction",
      "details",
      "verifyAddress",
      "signedBy",
      "signedOn",
      "language",
    ],
  ],
  [
    48,
    [
      "showCode",
      "hideCode",
      "otherCode",
      "hashQuestion",
      "hashAnother",
      "hashLabel",
      "hashSubmitted",
      "paymentFolded",
      "refundAmount",
      "questions",
    ],
  ],
  [
    50,
    [
      "awaitingHeadline",
      "partlyPaidHeadline",
      "confirmingHeadline",
      "inReviewHeadline",
      "inReviewAmountHeadline",
      "paidHeadline",
      "overpaidHeadline",
      "paidLateHeadline",
      "lateHeadline",
      "expiredHeadline",
      "expiredPartlyHeadline",
      "canceledHeadline",
      "canceledPaidHeadline",
      "cannotCheckHeadline",
      "lookingHeadline",
      "sentFailedHeadline",
      "enteredHeadline",
      "missingHeadline",
      "goneHeadline",
      "notAcceptedHeadline",
      "revertedHeadline",
      "notFoundHeadline",
      "unavailableHeadline",
      "busyHeadline",
      "refusedHeadline",
      "failedHeadline",
      "homeHeadline",
      "verifyTitle",
      "verifyReceipt",
      "verifyRequest",
      "verifyRefused",
      "testRibbon",
    ],
  ],
];

/** The width of a text in Latin letters: Chinese and Japanese ones take two, combining marks none. */
function widthOf(text: string): number {
  const letters = text.replace(/\{\w+\}/g, "").replace(/\p{M}/gu, "");
  return letters.length + (letters.match(/[\u2e80-\u9fff\uff00-\uff60]/g) ?? []).length;
}

describe("the languages of a checkout", () => {
  it("are the fifteen that payers are offered, each in a file that says who has translated it", () => {
    expect(catalogues.map(({ lang }) => lang).sort()).to.deep.equal([
      ...["ar", "de", "en", "es", "fr", "hi", "id", "it", "ja", "pt-BR", "ru", "tr", "uk", "vi"],
      "zh-Hans",
    ]);
    const files = readdirSync(folder);
    expect(files.sort()).to.deep.equal(catalogues.map(({ lang }) => `${lang}.yaml`).sort());
    for (const { lang } of catalogues.filter((each) => each.lang !== "en")) {
      expect(sourceOf(lang), lang).to.contain(machineMark);
    }
  });

  it("are known to the program by the English texts, which npm run docs has written", () => {
    expect(en).to.deep.equal(parse(sourceOf("en")));
  });

  it("are translated from the English texts as they are now", () => {
    for (const { lang } of catalogues.filter((each) => each.lang !== "en")) {
      const file = sourceOf(lang).replace(/\n# /g, " ");
      const todo = `${lang}.yaml: translate what changed in en.yaml since, and write the digest ${digest} into its comment`;
      expect(
        file.includes(`Its texts are those of en.yaml with the digest ${digest}.`),
        todo,
      ).to.equal(true);
    }
  });

  for (const catalogue of catalogues) {
    const { lang } = catalogue;
    const entries = textsIn(lang);

    it(`have the same texts with the same placeholders: ${lang}`, () => {
      expect(Object.keys(parse(sourceOf(lang)) as object)).to.deep.equal(Object.keys(en));
      expect(parseLanguage(lang, sourceOf(lang), true)).to.include({ ok: true });
      for (const [key, text] of entries) {
        expect(text.trim(), key).to.equal(text).and.not.to.equal("");
        expect(placeholders(text), key).to.deep.equal(placeholders(en[key]));
        expect(text.replace(/\{\w+\}/g, "x"), key).not.to.match(/[{}<>]|\s\s/);
        if (lang !== "en" && en[key].length > 30) expect(text, key).not.to.equal(en[key]);
      }
    });

    it(`have a tag, a direction and digits that suit them: ${lang}`, () => {
      expect(Intl.getCanonicalLocales(lang)).to.deep.equal([lang]);
      expect(Intl.NumberFormat.supportedLocalesOf([lang])).to.deep.equal([lang]);
      expect(catalogue.dir).to.equal(/\p{Script=Arabic}/u.test(catalogue.name) ? "rtl" : "ltr");
      const numbers = [
        formatTime(catalogue, startOfTime),
        formatDuration(catalogue, 5 * minute),
        formatPrice(catalogue, "1250.00", "EUR"),
        ...entries.map(([, text]) => text),
      ];
      for (const text of numbers) expect(text).not.to.match(/(?![0-9])\p{Nd}/u);
    });

    it(`fit into buttons, labels and headlines: ${lang}`, () => {
      const tooWide = widths.flatMap(([most, keys]) =>
        keys
          .filter((key) => widthOf(catalogue[key]) > most)
          .map((key) => `${key}: ${String(widthOf(catalogue[key]))} > ${String(most)}`),
      );
      expect(tooWide).to.deep.equal([]);
    });
  }

  it("address the payer in one form in all texts", () => {
    const others = {
      de: /(?<!\p{L})(?:du|dich|dein\p{L}*)(?!\p{L})/iu,
      fr: /(?<!\p{L})(?:tu|toi|ton|tes)(?!\p{L})/iu,
      es: /(?<!\p{L})ustede?s?(?!\p{L})/iu,
      ru: /(?<!\p{L})(?:ты|тебе|тебя|тво\p{L}+)(?!\p{L})/iu,
      uk: /(?<!\p{L})(?:ти|тобі|тебе|тво\p{L}+)(?!\p{L})/iu,
      hi: /(?<!\p{L})(?:तुम|तू|तुम्हार)/u,
      "zh-Hans": /你/u,
    };
    for (const [lang, form] of Object.entries(others)) {
      for (const [key, text] of textsIn(lang)) {
        expect(text, `${lang} ${key}`).not.to.match(form);
      }
    }
  });

  it("never tell a payer to repeat a transfer: what is entered again is the transaction's ID, named as such", () => {
    // How a language tells to send tokens, and its word for the ID of a transaction.
    const words: Readonly<Record<string, readonly [RegExp, RegExp]>> = {
      ar: [/رسا?ل/u, /معرّف/u],
      de: [/send|schick/iu, /Transaktions-ID/u],
      en: [/sen[dt]|submit/iu, /transaction ID/u],
      es: [/env[ií]/iu, /ID/u],
      fr: [/env[oe]|renvo/iu, /identifiant/u],
      hi: [/भेज/u, /ID/u],
      id: [/kirim/iu, /ID/u],
      it: [/invi/iu, /ID/u],
      ja: [/送/u, /ID/u],
      "pt-BR": [/envi/iu, /ID/u],
      ru: [/отправ|присл|пришл/iu, /ID/u],
      tr: [/gönder/iu, /kod/u],
      uk: [/надс|надіш|відправ/iu, /ID/u],
      vi: [/gửi/iu, /mã/u],
      "zh-Hans": [/发送/u, /交易 ID/u],
    };
    for (const { lang, ...text } of catalogues) {
      const [send, hash] = words[lang] ?? [/^/, /$^/];
      expect(text.onlyHere, lang).to.match(send);
      for (const key of ["busyLead", "formNotReceived", "hashGivenUp", "hashDisplaced"] as const) {
        expect(text[key], `${lang} ${key}`).to.match(hash).and.not.to.match(send);
      }
      for (const key of ["hashUnknown", "hashMalformed", "hashTooMany", "hashSubmitted"] as const) {
        expect(text[key], `${lang} ${key}`).not.to.match(send);
      }
    }
  });

  it("keep French punctuation on the line of its word", () => {
    for (const [key, text] of textsIn("fr")) {
      expect(text, key).not.to.match(/ [:;!?»]|« /);
    }
  });

  it("are chosen by the browser's preferences", () => {
    const cases = [
      ["de-AT,en;q=0.8", "de"],
      ["en;q=0.5, de;q=0.9", "de"],
      ["en;q=0.5, DE;Q=0.9", "de"],
      ["xx, de;q=0, en", "en"],
      ["de;q=0, *", "en"],
      ["nl, ar;q=0.3, fr;q=0.4", "fr"],
      ["pt-PT", "pt-BR"],
      ["pt-BR,pt;q=0.9,en-US;q=0.8", "pt-BR"],
      ["es-419", "es"],
      ["in-ID", "id"],
      ["zh-CN", "zh-Hans"],
      ["zh-Hans-SG,en;q=0.9", "zh-Hans"],
      ["zh-TW,zh;q=0.9,en-US;q=0.8,en;q=0.7", "zh-Hans"],
      ["zh-Hant-HK, en;q=0.5", "en"],
      ["zh-TW", "zh-Hans"],
      ["*", "en"],
      ["", "en"],
      [";;,=q,de;q=x", "en"],
      [`${"de-".repeat(60)},fr`, "de"],
      ["__proto__, constructor, toString", "en"],
    ] as const;
    for (const [header, lang] of cases) {
      expect(chooseLanguage(shippedLanguages, header), header).to.equal(lang);
    }
  });

  it("form durations by the language's plurals, in sentences that suit each form", () => {
    const cases = [
      ["ru", "busyLead", second, "Время ожидания: 1 секунда"],
      ["ru", "busyLead", 2 * second, "Время ожидания: 2 секунды"],
      ["ru", "busyLead", 5 * second, "Время ожидания: 5 секунд"],
      ["ru", "busyLead", 21 * second, "Время ожидания: 21 секунда"],
      ["ru", "waitAbout", minute, "примерно 1 минута"],
      ["ru", "timeLeftToPay", 11 * day, "Осталось времени на оплату: 11 дней"],
      ["uk", "busyLead", second, "Час очікування: 1 секунда"],
      ["uk", "busyLead", 3 * second, "Час очікування: 3 секунди"],
      ["uk", "busyLead", 12 * second, "Час очікування: 12 секунд"],
      ["uk", "waitAbout", 22 * minute, "приблизно 22 хвилини"],
      ["ar", "busyLead", second, "مدة الانتظار: \u2068ثانية\u2069."],
      ["ar", "busyLead", 2 * second, "مدة الانتظار: \u2068ثانيتان\u2069."],
      ["ar", "busyLead", 5 * second, "مدة الانتظار: \u20685 ثوان\u2069."],
      ["ar", "busyLead", 11 * second, "مدة الانتظار: \u206811 ثانية\u2069."],
      ["ar", "waitAbout", 2 * hour, "\u2068ساعتان\u2069 تقريبًا"],
    ] as const;
    for (const [lang, key, ms, expected] of cases) {
      const text = catalogueOf(lang);
      expect(fill(text[key], { time: formatDuration(text, ms) })).to.contain(expected);
    }
  });

  it("write the month as a word, so that nobody takes it for the day", () => {
    const written = (lang: string) => formatTime(catalogueOf(lang), startOfTime);
    expect(written("en")).to.equal("21 Nov 2026, 09:30 UTC");
    expect(written("ar")).to.equal("21 نوفمبر 2026، 09:30 ص UTC");
    expect(written("ru")).to.equal("21 нояб. 2026 г., 09:30 UTC");
    expect(written("vi")).to.equal("09:30 UTC 21 thg 11, 2026");
  });

  it("isolate values whose direction may differ", () => {
    expect(fill("Pay {amount}", { amount: "25 USDT" })).to.equal("Pay 25 USDT");
    for (const merchant of ["مقهى", "\u05d0", "\u{1e900}\u{1e901}", "\u{10800}", "\u200f1"]) {
      expect(fill("Pay {merchant}", { merchant })).to.equal(`Pay \u2068${merchant}\u2069`);
    }
    expect(fill("ادفع {amount}", { amount: "25 USDT" })).to.equal("ادفع \u206825 USDT\u2069");
    for (const [key, text] of textsIn("ar").filter(([, each]) => /\{/.test(each))) {
      const values = Object.fromEntries(placeholders(text).map((name) => [name.slice(1, -1), "1"]));
      if (key === "stateTitle") continue;
      expect(fill(text, values).match(/\u20681\u2069/g), key).to.have.length(
        text.match(/\{/g)?.length ?? 0,
      );
    }
  });

  it("keep the parts of a price together in Arabic", () => {
    expect(formatPrice(catalogueOf("ar"), "25.00", "USD")).to.equal("25.00\u00a0US$");
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
      expect(page).to.contain("Wir warten auf Ihre Zahlung");
      expect(page).to.contain(`data-path="/pay/${checkoutId}?lang=de"`);
      expect(page).to.contain(`action="/pay/${checkoutId}/transactions?lang=de#transaction-hash"`);
      expect(page).to.contain(`href="/pay/${checkoutId}?lang=en" lang="en" hreflang="en"`);
      const unknown = await lab.get(`/pay/${checkoutId}?lang=%3Cscript%3E`);
      expect(unknown.headers.get("content-language")).to.equal("en");
      expect(await unknown.text()).not.to.contain("<script>");
      const form = await fetch(`${lab.url}/pay/${checkoutId}/transactions?lang=de`, {
        method: "POST",
        body: new URLSearchParams({ transactionHash: aHash("a") }),
        redirect: "manual",
      });
      expect(form.headers.get("location")).to.equal(`/pay/${checkoutId}?hash=received&lang=de#top`);
      const refused = await fetch(form.url, {
        method: "POST",
        body: new URLSearchParams({ transactionHash: "x" }),
      });
      expect(await refused.text()).to.contain('<html lang="de"');
    });

    it("are chosen by any tag of the language", async () => {
      lab = await openLab("sandbox");
      for (const [tag, lang] of [
        ["pt", "pt-BR"],
        ["PT-pt", "pt-BR"],
        ["zh-TW", "zh-Hans"],
        ["xx", "en"],
      ]) {
        const answer = await lab.get(`/pay/${checkoutId}?lang=${String(tag)}`);
        expect(answer.headers.get("content-language"), tag).to.equal(lang);
      }
    });

    it("are kept apart: each of two payers of one checkout gets the own one", async () => {
      lab = await openLab("sandbox");
      for (const lang of ["ar", "ja", "ar", "en", "ja"]) {
        const answer = await lab.get(`/pay/${checkoutId}`, { "Accept-Language": lang });
        expect(answer.headers.get("content-language")).to.equal(lang);
        expect(await answer.text()).to.contain(`<html lang="${lang}"`);
      }
    });

    it("can be switched on every page: the payment, the host's own, and problems", async () => {
      lab = await openLab("sandbox", { basePath: "/shop" });
      const page = `/shop/pay/${checkoutId}`;
      const wrong = { method: "POST", body: new URLSearchParams({ action: "x" }) };
      const cases = [
        ["/", {}, ""],
        [`/pay/${checkoutId}`, {}, page],
        ["/pay/nothing", {}, ""],
        [`/pay/${checkoutId}/sandbox`, wrong, page],
      ] as const;
      for (const [path, init, target] of cases) {
        const answer = await fetch(`${lab.url}${path}?lang=ar`, { ...init, redirect: "manual" });
        const html = await answer.text();
        expect(html, path).to.contain('<html lang="ar" dir="rtl">');
        const links = [...html.matchAll(/<a href="([^"]*\?lang=[^"]+)" lang="([^"]+)"/g)];
        expect(
          links.map(([, href, lang]) => [href, lang]),
          path,
        ).to.deep.equal(catalogues.map(({ lang }) => [`${target}?lang=${lang}`, lang]));
        expect(html).to.contain('lang="ar" hreflang="ar" aria-current="true"');
      }
    });

    it("are sent one at a time: each page is small and holds no other language's texts", async () => {
      lab = await openLab("ethereum");
      for (const { lang, lastDigits } of catalogues) {
        const html = await (await lab.get(`/pay/${checkoutId}?lang=${lang}`)).text();
        expect(gzipSync(html).length, lang).to.be.lessThan(8_000);
        expect(html, lang).to.contain(lastDigits.replaceAll("'", "&#39;"));
        for (const other of catalogues.filter((each) => each.lang !== lang)) {
          expect(html, other.lang).not.to.contain(other.lastDigits);
        }
      }
    });

    it("leave amounts, addresses and hashes from left to right, in the digits that wallets take", async () => {
      lab = await openLab("ethereum");
      await lab.submit(aHash("a"));
      const html = await (await lab.get(`/pay/${checkoutId}?lang=ar`)).text();
      expect(html).to.contain(
        '<bdi dir="ltr"><span id="amount">25.00<b class="tail">01</b></span>',
      );
      expect(html).to.match(/id="address" translate="no" dir="ltr"/);
      expect(html).not.to.match(/(?![0-9])\p{Nd}/u);
      expect(html, "isolated in sentences").to.contain("\u206825.0001 USDT\u2069");
    });

    for (const name of ["‮evil", "שלום 25", "\u{1e900}\u{1e901}", "1) 25 USDT", "<b>{amount}</b>"]) {
      it(`keep a merchant's name apart from the text around it: ${JSON.stringify(name)}`, async () => {
        lab = await openLab("tron");
        lab.world.merchantName = name;
        const html = await (await lab.get(`/pay/${checkoutId}?lang=ar`)).text();
        const shown = name.replace(/</g, "&lt;").replace(/>/g, "&gt;");
        expect(html).to.contain(`<bdi class="name">${shown}</bdi>`);
        const title = /<title>(.*)<\/title>/.exec(html)?.[1] ?? "";
        expect(title).to.contain(`\u2068${shown}\u2069`);
        expect(title).to.contain("\u206825.0001 USDT\u2069");
      });
    }
  });
});
