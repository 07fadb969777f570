import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { formatted } from "../support/formatted.ts";

const folder = new URL("../../config/languages/", import.meta.url);

const textsOf = (file: string) =>
  parse(readFileSync(new URL(file, folder), "utf8")) as Readonly<Record<string, string>>;

/** Returns the source of the file from which the program knows the payers' texts in English and the shipped languages. */
export async function englishSource(): Promise<string> {
  const collator = new Intl.Collator("en");
  const names = readdirSync(folder)
    .map((file) => textsOf(file))
    .map(({ lang, name }) => [lang, name] as const)
    .sort(([, one = ""], [, other = ""]) => collator.compare(one, other));
  return formatted(
    "english.ts",
    `// Written by npm run docs from config/languages/.

/** The payers' texts in English: the names and the placeholders that every language has. */
export const english = ${JSON.stringify(textsOf("en.yaml"))} as const;

/** The shipped languages with their names in themselves. */
export const shippedLanguages: readonly (readonly [lang: string, name: string])[] = ${JSON.stringify(names)};
`,
  );
}
