import type { Instant } from "../../kernel/clock.ts";
import { en } from "./en.ts";

export type Catalogue = { readonly [Key in keyof typeof en]: string };

/** The languages that pages are written in; the first is for everybody else. */
const catalogues: readonly Catalogue[] = [en];

/** The catalogue of the first language that the browser asks for and that there is; `de-AT` takes `de`. */
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

/** The text with its words in braces filled in. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Making one takes longer than the rest of a page. */
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

/** A moment as people read it, with its zone: `21 Nov 2026, 10:05 UTC`. */
export function formatTime(catalogue: Catalogue, at: Instant): string {
  return `${timeFormatOf(catalogue.lang).format(at)} UTC`;
}
