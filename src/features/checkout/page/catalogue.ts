import { findCurrency } from "../../../kernel/money/money.ts";
import { day, hour, minute, second, type Instant } from "../../../kernel/clock.ts";
import type { english } from "./generated/english.ts";

/** The name of a text. */
export type TextKey = keyof typeof english;

/** The texts with a counted number, by whose placeholder a language's plural form is chosen. */
export const counted = { confirmationCount: "required" } as const satisfies Partial<
  Record<TextKey, string>
>;
type CountedKey = keyof typeof counted;
/** The name of a text that has one form. */
export type PlainKey = Exclude<TextKey, CountedKey>;

/** The plural forms of a text by their categories; a category without a form of its own has that of `other`. */
type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string };

/** The payers' texts in one language: the sentences of config/languages/, with placeholders in braces. */
export type Texts = { readonly [Key in Exclude<PlainKey, "dir">]: string } & {
  readonly [Key in CountedKey]: Forms;
} & { readonly dir: "ltr" | "rtl" };

/** A language that payers can choose, with its name in itself. */
interface OfferedLanguage {
  readonly lang: string;
  readonly name: string;
}

/** The payers' texts in one language, with all languages that they can choose, in the order of the pages. */
export type Catalogue = Texts & { readonly offered: readonly OfferedLanguage[] };

/**
 * A letter that is written from right to left (Hebrew, Arabic, their neighbors, and the scripts of the supplementary
 * plane, such as Adlam), or a mark that changes the direction like such a letter.
 */
const rightToLeft =
  /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

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

const pluralRules = cached((lang) => new Intl.PluralRules(lang));

/** Fills the placeholders of a text with a counted number, in the form that the number has in the language. */
export function fillCounted(
  text: Catalogue,
  key: CountedKey,
  values: Readonly<Record<string, string>>,
): string {
  const forms = text[key];
  const category = pluralRules(text.lang).select(Number(values[counted[key]]));
  return fill(forms[category] ?? forms.other, values);
}

/** Returns the locale that a page formats with: all numbers have the digits of the amounts that payers copy. */
export const localeOf = (lang = ""): string => `${lang}-u-nu-latn`;

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
      day: "numeric",
      month: "short",
      year: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      timeZone: "UTC",
      timeZoneName: "short",
    }),
);

/** Formats a time for people, with its zone and the month as a word: `21 Nov 2026, 10:05 UTC`. */
export function formatTime({ lang }: Catalogue, at: Instant): string {
  return timeFormats(lang).format(at);
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
  // A number would lose digits; format() reads decimal text exactly. Arabic prices begin with a mark that would move the
  // parts of a Latin symbol, such as US$; where directions may mix, fill() isolates the price.
  const price = currencyFormats(`${lang} ${code}`).format(amount as `${number}`);
  return price.replace(/^\u200f/, "");
}

/** Returns `TRON (TRC-20)`: the network always appears with its token standard, as far as it is known. */
export function networkText({
  networkTitle,
  tokenStandard,
}: {
  readonly networkTitle: string;
  readonly tokenStandard: string;
}): string {
  return tokenStandard === "" ? networkTitle : `${networkTitle} (${tokenStandard})`;
}
