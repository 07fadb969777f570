import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { decodeUtf8, isSeen } from "../../../kernel/text.ts";
import { notUtf8, problemsOfFile, type ConfigProblem } from "../../../platform/config/config.ts";
import {
  parseYaml,
  type ParsedFile,
  type Report,
} from "../../../platform/config/files/parse-yaml.ts";
import { packageFile } from "../../../platform/files.ts";
import { counted, localeOf, type TextKey, type Texts } from "./catalogue.ts";
import { english, shippedLanguages } from "./generated/english.ts";
import { findFallback, groupByTag } from "./language-tags.ts";

// The files of the payers' languages: those of config/languages/, and those of the merchant's own folder.

/** Maximum size of a file, in bytes. */
const fileBytesMax = 262_144;
/** Maximum length of a text, and of a language's name, in characters. */
const textLengthMax = 1_000;
const nameLengthMax = 60;
/** Maximum number of files in the merchant's own folder. */
const filesMax = 200;
/** The name of a file of texts. Hidden files are those of editors and systems. */
const fileName = /^[^.].*\.ya?ml$/i;

/** The texts that a file has. */
export type SomeTexts = Partial<Texts>;

type CheckTexts = (texts: SomeTexts, report: Report) => void;

const word = z.string().max(textLengthMax);
/** A single form is that of all numbers. */
const forms = z.preprocess(
  (given) => (typeof given === "string" ? { other: given } : given),
  z.record(z.string(), word),
);
const schema = z
  .strictObject({
    ...Object.fromEntries(
      Object.keys(english).map((key) => [key, Object.hasOwn(counted, key) ? forms : word]),
    ),
    dir: z.enum(["ltr", "rtl"]),
    name: z.string().max(nameLengthMax),
  })
  .partial();

/**
 * Parses and checks a file of texts.
 * @param lang the language by the file's name
 * @param isNew whether no other file has the direction and the name of the language
 * @param check reports what else is wrong with the texts
 */
export function parseLanguage(
  lang: string,
  text: string,
  isNew: boolean,
  check?: CheckTexts,
): ParsedFile<SomeTexts> {
  return parseYaml(text, schema, (parsed, report) => {
    const unsuitable = findUnsuitableTag(lang);
    if (unsuitable !== null) report([], unsuitable);
    const texts = parsed as SomeTexts;
    for (const [key, value] of Object.entries(texts) as [TextKey, string | object][]) {
      if (typeof value === "string") checkText([key], value, english[key], report);
      else if (unsuitable === null) checkForms(lang, key, value, report);
    }
    if (unsuitable === null && texts.lang !== undefined && texts.lang !== lang) {
      report(["lang"], `must be ${lang}, like the name of the file`);
    }
    if (isNew && texts.dir === undefined) report(["dir"], "is missing: write ltr or rtl");
    if (isNew && texts.name === undefined) {
      report(["name"], "is missing: write the language's name in the language itself");
    }
    check?.(texts, report);
    return texts;
  });
}

/** Returns what is wrong with the tag of a language; null if nothing is. */
function findUnsuitableTag(lang: string): string | null {
  try {
    const locale = new Intl.Locale(lang);
    const named = `must be named ${locale.baseName}.yaml`;
    if (locale.toString() !== locale.baseName) return `${named}, without extension or private use`;
    if (locale.baseName !== lang) return named;
    // Formatting must not throw later, while a payer waits: the locale of the pages is checked here.
    return Intl.NumberFormat.supportedLocalesOf([localeOf(lang)]).length === 0
      ? "is for a language whose numbers and dates this Node.js cannot write"
      : null;
  } catch {
    return "must be named by the tag of a language and .yaml, such as nl.yaml or pt-BR.yaml";
  }
}

function checkText(path: readonly string[], text: string, inEnglish: string, report: Report): void {
  if (!isSeen(text)) {
    const state = text.trim() === "" ? "is empty" : "has no visible character";
    report(path, `${state}: write a text, or remove the entry`);
  }
  // Line breaks are among the control characters. The marks of U+202A to U+202E and of U+2066 to U+2069 change the order
  // of all that follows, and with it an amount or an address. Marks of single letters, such as U+200F, stay.
  const hidden = /[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u.exec(text)?.[0];
  if (hidden !== undefined) {
    const code = hidden.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    report(path, `has the character U+${code}, which may change how amounts look: remove it`);
  }
  const wanted = placeholdersOf(inEnglish);
  const had = placeholdersOf(text);
  if (had.join() !== wanted.join()) {
    const words = wanted.length === 0 ? "no placeholder" : `the placeholders ${wanted.join(", ")}`;
    report(path, `must have ${words}, as in English, not ${had.join(", ") || "none"}`);
  } else if (/[{}]/.test(text.replace(/\{\w+\}/g, ""))) {
    report(path, "has a brace that belongs to no placeholder: remove it");
  }
}

/** Returns the placeholders of a text, each once. */
function placeholdersOf(text: string): readonly string[] {
  return [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();
}

function checkForms(lang: string, key: TextKey, given: object, report: Report): void {
  const { pluralCategories } = new Intl.PluralRules(lang).resolvedOptions();
  for (const [category, text] of Object.entries(given) as [string, string][]) {
    checkText([key, category], text, english[key], report);
    if (!pluralCategories.some((known) => known === category)) {
      const known = pluralCategories.join(", ");
      report([key, category], `is not a plural form of this language, which has ${known}`);
    }
  }
  // The other categories may be missing: in some languages they are for millions only.
  if (!("other" in given)) report([key, "other"], "is missing: it is for all other numbers");
}

/** A file of texts. */
export type LanguageFile = ParsedFile<SomeTexts> & {
  /** Whether its content could be read; otherwise it may be readable later. */
  readonly isRead: boolean;
};

/** Reads and checks the file of a language: see `parseLanguage`. */
export function readLanguageFile(
  path: string,
  lang: string,
  isNew: boolean,
  check?: CheckTexts,
): LanguageFile {
  try {
    const stats = statSync(path);
    // Reading a pipe or a device might never end.
    if (!stats.isFile()) return unreadable("is not a regular file: remove it from the folder");
    if (stats.size > fileBytesMax) {
      return unreadable(`is larger than ${String(fileBytesMax / 1_024)} KiB`);
    }
    const text = decodeUtf8(readFileSync(path));
    if (text === null) return unreadable(notUtf8);
    return { ...parseLanguage(lang, text, isNew, check), isRead: true };
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    return unreadable(`cannot be read (${String(error.code)})`);
  }
}

function unreadable(message: string): LanguageFile {
  return { ok: false, problems: [{ path: "", line: 1, message }], isRead: false };
}

/** The languages of the merchant's own folder, without those of faulty files, and what is wrong with these. */
interface OwnLanguages {
  readonly texts: ReadonlyMap<string, SomeTexts>;
  readonly problems: readonly ConfigProblem[];
}

/** Reads the merchant's own folder. */
export function readOwnLanguages(folder: string): OwnLanguages {
  let names: readonly string[];
  try {
    names = readdirSync(folder).filter((name) => fileName.test(name));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    const message = `cannot be read as a folder of languages (${code})`;
    return { texts: new Map(), problems: [{ name: folder, message }] };
  }
  if (names.length > filesMax) {
    const message = `has more than ${String(filesMax)} files of languages`;
    return { texts: new Map(), problems: [{ name: folder, message }] };
  }
  const shipped = shippedLanguages.map(([lang]) => lang);
  const texts = new Map<string, SomeTexts>();
  const problems: ConfigProblem[] = [];
  // In this order, a language comes before its regions, and a script before the regions that are written in it.
  const inOrder = names
    .map((name) => ({ path: join(folder, name), lang: name.replace(/\.yaml$/, "") }))
    .sort((one, other) => (one.lang.toLowerCase() < other.lang.toLowerCase() ? -1 : 1));
  for (const { path, lang } of inOrder) {
    const isNew =
      !shipped.includes(lang) &&
      findUnsuitableTag(lang) === null &&
      findFallback(groupByTag([...shipped, ...texts.keys()]), lang) === null;
    const file = readLanguageFile(path, lang, isNew);
    if (file.ok) texts.set(lang, file.value);
    else problems.push(...problemsOfFile(path, file.problems));
  }
  return { texts, problems };
}

/**
 * Returns what is wrong with the files of languages: those of config/languages/, which must be the ones that the program
 * was built with, and those of the merchant's own folder, if there is one.
 */
export function checkLanguages(
  ownFolder: string | null,
  shippedFolder = packageFile("config/languages/"),
): readonly ConfigProblem[] {
  const folder = fileURLToPath(shippedFolder);
  const problems = shippedLanguages.flatMap(([lang, name]) => {
    const path = join(folder, `${lang}.yaml`);
    const file = readLanguageFile(path, lang, true, (texts, report) => {
      const known = lang === english.lang ? english : { name };
      for (const [key, text] of Object.entries(known) as [TextKey, string][]) {
        const given = texts[key];
        if ((typeof given === "object" ? given.other : given) !== text) report([key], notAsBuilt);
      }
    });
    if (file.ok) return [];
    return problemsOfFile(path, file.problems).map((problem) =>
      file.isRead ? problem : { ...problem, message: `${problem.message}: restore the file` },
    );
  });
  const shipped = new Set(shippedLanguages.map(([lang]) => `${lang}.yaml`));
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (fileName.test(name) && !shipped.has(name))
      problems.push({ name: join(folder, name), message: notShipped });
  }
  return ownFolder === null ? problems : problems.concat(readOwnLanguages(ownFolder).problems);
}

const notAsBuilt =
  "differs from what the program was built with: restore the file, or run npm run docs after a change of the sources";
const notShipped =
  "is not a language of the program: move it to the folder that TILL_LANGUAGES_FOLDER names, or run npm run docs if it is one of the sources";
