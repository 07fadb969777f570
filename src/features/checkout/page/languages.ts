import { fileURLToPath } from "node:url";
import { perApp, type App } from "../../../app.ts";
import { problemsOfFile, type ConfigProblem } from "../../../platform/config/config.ts";
import { packageFile } from "../../../platform/files.ts";
import type { Catalogue, Texts } from "./catalogue.ts";
import { english, shippedLanguages } from "./generated/english.ts";
import {
  readLanguageFile,
  readOwnLanguages,
  type LanguageFile,
  type SomeTexts,
} from "./language-file.ts";
import {
  chooseLanguage,
  codeOf,
  findFallback,
  findLanguage,
  groupByTag,
  type LanguagesByTag,
} from "./language-tags.ts";

/** The payers' languages: those of config/languages/ with the changes and additions of the merchant's own folder. */
export interface Languages {
  /** In the order in which the pages list them. */
  readonly offered: Catalogue["offered"];
  readonly byTag: LanguagesByTag;
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

/** The texts of a language that lacks some: what is missing in all files is in English. */
const englishTexts: Texts = { ...english, confirmationCount: { other: english.confirmationCount } };

/**
 * Reads the merchant's own folder, if there is one. The shipped file of a language is read once the language is first
 * asked for. Each problem is reported once.
 */
export function openLanguages(
  folder: string | null,
  report: (problem: ConfigProblem) => void,
  shippedFolder = packageFile("config/languages/"),
): Languages {
  const own = folder === null ? null : readOwnLanguages(folder);
  own?.problems.forEach(report);
  const names = new Map(shippedNames);
  for (const [lang, { name = names.get(lang) ?? nameOf(lang) }] of own?.texts ?? []) {
    names.set(lang, name);
  }
  const collator = new Intl.Collator("en");
  const offered = [...names]
    .map(([lang, name]) => ({ lang, name }))
    .sort((one, other) => collator.compare(one.name, other.name));
  const byTag = groupByTag([...names.keys()]);
  const made = new Map<string, JoinedTexts>();
  const told = new Set<string>();
  function readShipped(lang: string): LanguageFile {
    const path = fileURLToPath(new URL(`${lang}.yaml`, shippedFolder));
    const file = readLanguageFile(path, lang, true);
    if (file.ok) return file;
    for (const problem of problemsOfFile(path, file.problems)) {
      if (!told.has(problem.name + problem.message)) report(problem);
      told.add(problem.name + problem.message);
    }
    return file;
  }
  function join(lang: string): JoinedTexts {
    const known = made.get(lang);
    if (known !== undefined) return known;
    const fallback = findFallback(byTag, lang) ?? (lang === english.lang ? null : english.lang);
    const missing =
      fallback === null ? { texts: englishTexts, writtenIn: english.lang } : join(fallback);
    // The English texts are a part of the program.
    const isInFile = shippedNames.has(lang) && lang !== english.lang;
    const shipped = isInFile ? readShipped(lang) : null;
    const found = { ...(shipped?.ok === true ? shipped.value : {}), ...own?.texts.get(lang) };
    const name = names.get(lang) ?? lang;
    const texts = { ...missing.texts, ...found, lang, name, offered };
    const joined = { texts, writtenIn: hasWords(found) ? lang : missing.writtenIn };
    // A file that cannot be read now is tried again for the next page.
    const isWhole = shipped?.isRead !== false && (fallback === null || made.has(fallback));
    if (isWhole) made.set(lang, joined);
    return joined;
  }
  function textsOf(lang: string): Catalogue {
    const { texts, writtenIn } = join(lang);
    // The page says in which language it is, for programs that read it out.
    return codeOf(writtenIn) === codeOf(lang) ? texts : join(writtenIn).texts;
  }
  return { offered, byTag, textsOf };
}

/** The texts of a language with those of others that it lacks. */
interface JoinedTexts {
  readonly texts: Catalogue;
  /** The language itself, or the one from which all texts are. */
  readonly writtenIn: string;
}

/** Returns the name of a language in itself, such as `Deutsch (Österreich)`. */
function nameOf(lang: string): string {
  const names = new Intl.DisplayNames([lang], { type: "language", languageDisplay: "standard" });
  const name = names.of(lang) ?? lang;
  return name.charAt(0).toLocaleUpperCase(lang) + name.slice(1);
}

function hasWords(texts: SomeTexts): boolean {
  return Object.keys(texts).some((key) => !["lang", "dir", "name"].includes(key));
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
  const chosen = findLanguage(languages.byTag, request.query.get("lang")?.toLowerCase() ?? "");
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
