import { english } from "./generated/english.ts";

// The tags of languages: which language serves a reader, and which one has the texts that another lacks.

/** Languages by the tags, in lower case, that each serves. */
export type LanguagesByTag = Pick<ReadonlyMap<string, string>, "get">;

/** The code of a language. Browsers still send codes that have been renamed, such as `in` for `id` and `iw` for `he`. */
const languageCode = /^[a-z]{2,3}$/;
/** Chinese in the traditional script: that of these regions, unless the tag names the other one. */
const traditional = /^zh-(?!(?:.+-)?hans(?:-|$))(?:.+-)?(?:hant|hk|mo|tw)(?:-|$)/i;
/** Maximum number of a header's ranges that are read. Browsers send about ten; whoever sends more costs no more. */
const rangesMax = 50;
/** Maximum number of a tag's parts that are looked up. Language, script, region and variants are five or fewer. */
const partsMax = 8;

/**
 * Groups languages by their own tags, in lower case, and by those without a language of their own: a bare language
 * (`pt`) and traditional Chinese (`zh-hant`) have the first that is given.
 */
export function groupByTag(langs: readonly string[]): LanguagesByTag {
  const byTag = new Map(langs.map((lang) => [lang.toLowerCase(), lang]));
  const add = (tag: string, lang: string) => {
    if (!byTag.has(tag)) byTag.set(tag, lang);
  };
  for (const lang of langs) {
    add(codeOf(lang), lang);
    if (traditional.test(lang)) add("zh-hant", lang);
  }
  return byTag;
}

/** Returns the code of a tag's language: `de` of `de-AT`. */
export function codeOf(lang: string): string {
  return lang.split("-", 1).join().toLowerCase();
}

/**
 * Returns the language whose texts a file of `lang` has where it has none of its own: what serves its readers without
 * that file, if it is in the same script. Null if they have to read English.
 */
export function findFallback(byTag: LanguagesByTag, lang: string): string | null {
  for (const other of suitable(byTag, lang.toLowerCase())) {
    if (other !== lang && scriptOf(other) === scriptOf(lang)) return other;
  }
  return null;
}

const scriptOf = (lang: string) => new Intl.Locale(lang).maximize().script;

/**
 * Yields the languages that suit a tag in lower case, the nearest first. They are looked up like RFC 4647, 3.4: the tag is
 * shortened part by part, so that `de-at` finds `de`, and `pt-pt` what serves `pt`. Readers of traditional Chinese get
 * that before any other Chinese.
 */
function* suitable(byTag: LanguagesByTag, tag: string): Generator<string, undefined> {
  const [asked = "", ...others] = tag.split("-", partsMax);
  const language = languageCode.test(asked) ? new Intl.Locale(asked).language : asked;
  const tags = others.map((_, at) => [language, ...others.slice(0, at + 1)].join("-")).reverse();
  if (traditional.test(tag)) tags.push("zh-hant");
  for (const each of [...tags, language]) {
    const found = byTag.get(each);
    if (found !== undefined) yield found;
  }
}

/** Returns the language that suits a tag in lower case; null if none does. */
export function findLanguage(byTag: LanguagesByTag, tag: string): string | null {
  return suitable(byTag, tag).next().value ?? null;
}

/**
 * Returns the language that the Accept-Language header prefers (RFC 9110, 12.5.4), English if it names no available
 * one. A language with the quality 0 is refused. Readers of traditional Chinese get the simplified script only if they
 * ask for it, or for nothing else that is available.
 */
export function chooseLanguage(
  { byTag }: { readonly byTag: LanguagesByTag },
  acceptLanguage: string,
): string {
  const asked = acceptLanguage.split(",", rangesMax).flatMap((part) => {
    const [range = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    const lang = findLanguage(byTag, range);
    if (lang === null || !(Number(quality) > 0)) return [];
    const isOtherScript = traditional.test(range) && !traditional.test(lang);
    return [{ lang, quality: Number(quality), isOtherScript }];
  });
  // The sort is stable, so that of equal qualities the first is preferred.
  const [preferred] = asked.sort(
    (one, other) =>
      Number(one.isOtherScript) - Number(other.isOtherScript) || other.quality - one.quality,
  );
  return preferred?.lang ?? english.lang;
}
