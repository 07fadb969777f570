import { findCurrency } from "../../../kernel/money/asset.ts";
import { day, hour, minute, second, type Instant } from "../../../kernel/clock.ts";
import { de } from "./words/de.ts";
import { en, type Catalogue } from "./words/en.ts";

export type { Catalogue } from "./words/en.ts";

/** The available languages; the first one is the default. */
export const catalogues: readonly Catalogue[] = [en, de];

/** The language of a request's page. */
export interface ChosenLanguage {
  readonly text: Catalogue;
  /** `?lang=de` if the payer has chosen the language; links to other pages of the payment carry it. */
  readonly languageQuery: string;
}

/** Returns the language that the payer has chosen with `?lang=`, else the one that the browser prefers. */
export function readLanguage(request: {
  readonly query: URLSearchParams;
  readonly acceptLanguage: string;
}): ChosenLanguage {
  const chosen = findCatalogue(request.query.get("lang"));
  if (chosen !== null) return { text: chosen, languageQuery: `?lang=${chosen.lang}` };
  return { text: chooseCatalogue(request.acceptLanguage), languageQuery: "" };
}

/** Returns the catalogue of a language's code, such as `de`; null if it is not available. */
function findCatalogue(lang: string | null): Catalogue | null {
  return catalogues.find((catalogue) => catalogue.lang === lang) ?? null;
}

/**
 * Returns the catalogue that the Accept-Language header prefers (RFC 9110, 12.5.4). `de-AT` matches `de`; a language
 * with the quality 0 is refused.
 */
export function chooseCatalogue(acceptLanguage: string): Catalogue {
  const asked = acceptLanguage.split(",").map((part) => {
    const [range = "", ...parameters] = part.split(";").map((text) => text.trim());
    const quality = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2) ?? "1";
    return { lang: range.toLowerCase().split("-")[0] ?? "", quality: Number(quality) || 0 };
  });
  // The sort is stable, so that of equal qualities the first is preferred.
  const preferred = asked
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality);
  for (const { lang } of preferred) {
    const found = findCatalogue(lang);
    if (found !== null) return found;
  }
  return en;
}

/** A letter that is written from right to left: Hebrew, Arabic and their neighbors. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/**
 * Fills the placeholders in braces. Where the directions of text and value may differ, the value is isolated (U+2068 and
 * U+2069), as `<bdi>` does: otherwise `25 USDT` could be shown as `USDT 25`.
 */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  const isMixed = rightToLeft.test(text);
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return isMixed || rightToLeft.test(value) ? `\u2068${value}\u2069` : value;
  });
}

/** All numbers have the digits of the amounts that payers copy. */
const localeOf = (lang = ""): string => `${lang}-u-nu-latn`;

/** Cached, because creating a format takes longer than the rest of a page. */
function cached<T>(create: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const found = known.get(key) ?? create(key);
    known.set(key, found);
    return found;
  };
}

const timeFormats = cached(
  (lang) =>
    new Intl.DateTimeFormat(lang === "en" ? "en-GB" : localeOf(lang), {
      dateStyle: "medium",
      timeStyle: "short",
      timeZone: "UTC",
    }),
);

/** Formats a time for people, with its zone: `21 Nov 2026, 10:05 UTC`. */
export function formatTime({ lang }: Catalogue, at: Instant): string {
  return `${timeFormats(lang).format(at)} UTC`;
}

const unitFormats = cached((key) => {
  const [lang, unit] = key.split(" ");
  return new Intl.NumberFormat(localeOf(lang), { style: "unit", unit, unitDisplay: "long" });
});

/** Formats a duration in its largest unit, rounded: `2 minutes`. */
export function formatDuration({ lang }: Catalogue, ms: number): string {
  const units = [
    ["day", day],
    ["hour", hour],
    ["minute", minute],
  ] as const;
  const [unit, length] = units.find(([, each]) => ms >= each) ?? ["second", second];
  return unitFormats(`${lang} ${unit}`).format(Math.round(ms / length));
}

const currencyFormats = cached((key) => {
  const [lang, currency] = key.split(" ");
  return new Intl.NumberFormat(localeOf(lang), { style: "currency", currency });
});

/** Formats a decimal amount: a currency's with its symbol, `$25.00`, a token's as `25.00 USDT`. */
export function formatPrice({ lang }: Catalogue, amount: string, code: string): string {
  const currency = findCurrency(code);
  if (currency === null) return `${amount} ${code}`;
  // A number would lose digits; format() reads decimal text exactly.
  return currencyFormats(`${lang} ${code}`).format(amount as `${number}`);
}
