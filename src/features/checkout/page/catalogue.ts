import type { Instant } from "../../../kernel/clock.ts";
import { en } from "./en.ts";

export type Catalogue = { readonly [Key in keyof typeof en]: string };

/** The available languages; the first one is the default. */
const catalogues: readonly Catalogue[] = [en];

/** Returns the catalogue of the first available language in Accept-Language; `de-AT` matches `de`. */
export function chooseCatalogue(acceptLanguage: string): Catalogue {
  const asked = acceptLanguage
    .split(",")
    .map((part) => part.split(";")[0]?.trim().toLowerCase().split("-")[0] ?? "");
  for (const language of asked) {
    const found = catalogues.find(({ lang }) => lang === language);
    if (found !== undefined) return found;
  }
  return en;
}

/** Fills the placeholders in braces. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Cached, because creating a format takes longer than the rest of a page. */
const timeFormats = new Map<string, Intl.DateTimeFormat>();

function timeFormatOf(lang: string): Intl.DateTimeFormat {
  const known = timeFormats.get(lang);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat(lang === "en" ? "en-GB" : lang, {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: "UTC",
  });
  timeFormats.set(lang, format);
  return format;
}

/** Formats a time for people, with its zone: `21 Nov 2026, 10:05 UTC`. */
export function formatTime(catalogue: Catalogue, at: Instant): string {
  return `${timeFormatOf(catalogue.lang).format(at)} UTC`;
}
