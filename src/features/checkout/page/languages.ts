import type { Catalogue } from "./catalogue.ts";
import { ar } from "./words/ar.ts";
import { de } from "./words/de.ts";
import { en } from "./words/en.ts";
import { es } from "./words/es.ts";
import { fr } from "./words/fr.ts";
import { hi } from "./words/hi.ts";
import { id } from "./words/id.ts";
import { it } from "./words/it.ts";
import { ja } from "./words/ja.ts";
import { ptBR } from "./words/pt-BR.ts";
import { ru } from "./words/ru.ts";
import { tr } from "./words/tr.ts";
import { uk } from "./words/uk.ts";
import { vi } from "./words/vi.ts";
import { zhHans } from "./words/zh-Hans.ts";

/** The available languages, in the order in which the pages list them. */
export const catalogues: readonly Catalogue[] = [
  id,
  de,
  en,
  es,
  fr,
  it,
  ptBR,
  vi,
  tr,
  ru,
  uk,
  ar,
  hi,
  ja,
  zhHans,
];

/** The language of a request's page. */
interface ChosenLanguage {
  readonly text: Catalogue;
  /** `?lang=de` if the payer has chosen the language; links to other pages of the payment carry it. */
  readonly languageQuery: string;
}

/** A link to the same page in a language. */
export interface LanguageLink {
  readonly lang: string;
  /** Its name in itself. */
  readonly name: string;
  readonly href: string;
  readonly isCurrent: boolean;
}

/** Returns the language that the payer has chosen with `?lang=`, else the one that the browser prefers. */
export function readLanguage(request: {
  readonly query: URLSearchParams;
  readonly acceptLanguage: string;
}): ChosenLanguage {
  const chosen = findCatalogue(request.query.get("lang")?.toLowerCase() ?? "");
  if (chosen !== null) return { text: chosen, languageQuery: `?lang=${chosen.lang}` };
  return { text: chooseCatalogue(request.acceptLanguage), languageQuery: "" };
}

/** Returns links to a page in all languages. An empty `path` is the page that has the links. */
export function languageLinks(path: string, current: Catalogue): LanguageLink[] {
  return catalogues.map(({ lang, name }) => ({
    lang,
    name,
    href: `${path}?lang=${lang}`,
    isCurrent: lang === current.lang,
  }));
}

/** Codes that browsers still send for languages that have been renamed. */
const renamed: Readonly<Record<string, string>> = { in: "id" };
/** Chinese in the other script. */
const traditional = /^zh-(?:.+-)?(?:hant|hk|mo|tw)(?:-|$)/;

/**
 * Returns the catalogue of a language tag in lower case; null if its language is not available. Regions do not matter:
 * `de-at` finds `de`, and `pt-pt` finds `pt-BR`.
 */
function findCatalogue(tag: string): Catalogue | null {
  const [asked = ""] = tag.split("-");
  const language = renamed[asked] ?? asked;
  return catalogues.find(({ lang }) => lang.split("-")[0] === language) ?? null;
}

/**
 * Returns the catalogue that the Accept-Language header prefers (RFC 9110, 12.5.4), English if it names no available
 * language. A language with the quality 0 is refused. Readers of traditional Chinese get the simplified script only if
 * they ask for it, or for nothing else that is available.
 */
export function chooseCatalogue(acceptLanguage: string): Catalogue {
  const asked = acceptLanguage.split(",").map((part) => {
    const [range = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    const isOtherScript = traditional.test(range);
    return { range, quality: Number(quality) || 0, isOtherScript };
  });
  // The sort is stable, so that of equal qualities the first is preferred.
  const preferred = asked
    .filter(({ quality }) => quality > 0)
    .sort(
      (one, other) =>
        Number(one.isOtherScript) - Number(other.isOtherScript) || other.quality - one.quality,
    );
  for (const { range } of preferred) {
    const found = findCatalogue(range);
    if (found !== null) return found;
  }
  return en;
}
