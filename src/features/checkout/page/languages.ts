import { fileURLToPath } from "node:url";
import { perApp, type App } from "../../../app.ts";
import { problemsOfFile, type ConfigProblem } from "../../../platform/config/config.ts";
import type { ParsedFile } from "../../../platform/config/files/parse-yaml.ts";
import { packageFile } from "../../../platform/files.ts";
import type { Catalogue, Texts } from "./catalogue.ts";
import { english, shippedLanguages } from "./generated/english.ts";
import { readLanguageFile, readOwnLanguages, type SomeTexts } from "./language-file.ts";

/** The payers' languages: those of config/languages/ with the changes and additions of the merchant's own folder. */
export interface Languages {
  /** In the order in which the pages list them. */
  readonly offered: Catalogue["offered"];
  /** The offered languages by the tags, in lower case, that each serves. */
  readonly byTag: Pick<ReadonlyMap<string, string>, "get">;
  /** Returns the texts of an offered language. */
  textsOf(lang: string): Catalogue;
}

/** Returns the languages of the settings. Faulty files are logged, and their texts not used. */
export const languagesOf = perApp(({ config, logger }: App) =>
  openLanguages(config.languagesFolder, ({ name, message }) => {
    logger.error(`${name} ${message}; the texts of this file are not used`);
  }),
);

const shippedNames: ReadonlyMap<string, string> = new Map(shippedLanguages);
/** The shipped files that were read, by their URLs. They do not change while the program runs. */
const shippedFiles = new Map<string, ParsedFile<SomeTexts>>();

/** The texts of a language that lacks some: what is missing in all files is in English. */
const englishTexts: Texts = { ...english, confirmationCount: { other: english.confirmationCount } };

/**
 * Reads the merchant's own folder, if there is one. The shipped file of a language is read once the language is first
 * asked for.
 */
export function openLanguages(
  folder: string | null,
  report: (problem: ConfigProblem) => void,
  shippedFolder = packageFile("config/languages/"),
): Languages {
  const own = folder === null ? null : readOwnLanguages(folder, new Set(shippedNames.keys()));
  own?.problems.forEach(report);
  const names = new Map(shippedNames);
  for (const [lang, { name = names.get(lang) ?? lang }] of own?.texts ?? []) names.set(lang, name);
  const collator = new Intl.Collator("en");
  const offered = [...names]
    .map(([lang, name]) => ({ lang, name }))
    .sort((one, other) => collator.compare(one.name, other.name));
  const made = new Map<string, Catalogue>();
  function textsOf(lang: string): Catalogue {
    const known = made.get(lang);
    if (known !== undefined) return known;
    const missing = lang === english.lang ? englishTexts : textsOf(english.lang);
    const shipped = shippedNames.has(lang) ? readShipped(shippedFolder, lang, report) : {};
    const texts = { ...missing, ...shipped, ...own?.texts.get(lang), lang, offered };
    made.set(lang, texts);
    return texts;
  }
  return { offered, byTag: groupByTag([...names.keys()]), textsOf };
}

/**
 * Groups languages by their own tags, and by those without a language of their own: a bare language (`pt`) has the
 * shipped file, else the first of the merchant's by tag; traditional Chinese (`zh-hant`) the first of a region.
 */
function groupByTag(langs: readonly string[]): ReadonlyMap<string, string> {
  const byTag = new Map(langs.map((lang) => [lang.toLowerCase(), lang]));
  const add = (tag: string, lang: string) => {
    if (!byTag.has(tag)) byTag.set(tag, lang);
  };
  const own = langs.filter((lang) => !shippedNames.has(lang)).sort();
  for (const lang of [...shippedNames.keys(), ...own]) {
    const [language = ""] = lang.split("-");
    add(language, lang);
    if (traditional.test(lang)) add("zh-hant", lang);
  }
  return byTag;
}

/** Returns the texts of the shipped file; none if it is faulty. */
function readShipped(
  folder: URL,
  lang: string,
  report: (problem: ConfigProblem) => void,
): SomeTexts {
  const url = new URL(`${lang}.yaml`, folder);
  const file = shippedFiles.get(url.href) ?? readLanguageFile(url, lang, true);
  shippedFiles.set(url.href, file);
  if (file.ok) return file.value;
  problemsOfFile(fileURLToPath(url), file.problems).forEach(report);
  return {};
}

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
export function readLanguage(
  app: App,
  request: { readonly query: URLSearchParams; readonly acceptLanguage: string },
): ChosenLanguage {
  const languages = languagesOf(app);
  const chosen = findLanguage(languages, request.query.get("lang")?.toLowerCase() ?? "");
  if (chosen !== null) return { text: languages.textsOf(chosen), languageQuery: `?lang=${chosen}` };
  const preferred = chooseLanguage(languages, request.acceptLanguage);
  return { text: languages.textsOf(preferred), languageQuery: "" };
}

/** Returns links to a page in all languages. An empty `path` is the page that has the links. */
export function languageLinks(path: string, { offered, lang: current }: Catalogue): LanguageLink[] {
  return offered.map(({ lang, name }) => ({
    lang,
    name,
    href: `${path}?lang=${lang}`,
    isCurrent: lang === current,
  }));
}

/** The code of a language. Browsers still send codes that have been renamed, such as `in` for `id` and `iw` for `he`. */
const languageCode = /^[a-z]{2,3}$/;
/** Chinese in the traditional script: that of these regions, unless the tag names the other one. */
const traditional = /^zh-(?!(?:.+-)?hans(?:-|$))(?:.+-)?(?:hant|hk|mo|tw)(?:-|$)/i;
/** Maximum number of a header's ranges that are read. Browsers send about ten; whoever sends more costs no more. */
const rangesMax = 50;
/** Maximum number of a tag's parts that are looked up. Language, script, region and variants are five or fewer. */
const partsMax = 8;

/**
 * Returns the language that suits a tag in lower case; null if none does. It is looked up like RFC 4647, 3.4: the tag is
 * shortened part by part, so that `de-at` finds `de`, and `pt-pt` what serves `pt`. Readers of traditional Chinese get
 * that before any other Chinese.
 */
function findLanguage({ byTag }: Languages, tag: string): string | null {
  const [asked = "", ...others] = tag.split("-", partsMax);
  const language = languageCode.test(asked) ? new Intl.Locale(asked).language : asked;
  for (let length = others.length; length > 0; length -= 1) {
    const found = byTag.get([language, ...others.slice(0, length)].join("-"));
    if (found !== undefined) return found;
  }
  const inScript = traditional.test(tag) ? byTag.get("zh-hant") : undefined;
  return inScript ?? byTag.get(language) ?? null;
}

/**
 * Returns the language that the Accept-Language header prefers (RFC 9110, 12.5.4), English if it names no available
 * one. A language with the quality 0 is refused. Readers of traditional Chinese get the simplified script only if they
 * ask for it, or for nothing else that is available.
 */
export function chooseLanguage(languages: Languages, acceptLanguage: string): string {
  const asked = acceptLanguage.split(",", rangesMax).flatMap((part) => {
    const [range = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    const lang = findLanguage(languages, range);
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
