import type { Command as Program } from "commander";
import type { Known } from "../known/known-values.ts";
import { printable, type TerminalEnvironment } from "../terminal/terminal.ts";
import { candidatesAt, type Candidates } from "./candidates.ts";
import { placeOf } from "./place.ts";
import { quoted, readLine, type Quote } from "./shell-line.ts";

/** The time for reading the store and the settings, in milliseconds. A completion that takes longer offers nothing. */
const completionMs = 2_000;
/** The characters of a description that shells show. */
const descriptionMax = 60;
/** Bash's COMP_TYPE when it only lists the values, which can then be followed by descriptions. */
const listing = "63";

/** The question of a shell: the words after `till` before the cursor, and the word at the cursor. */
interface Question {
  readonly words: readonly string[];
  readonly current: string;
  readonly write: (known: readonly Known[]) => readonly string[];
}

/**
 * Answers the script that `till completion` prints: a first line, `files` or `values`, and then a value in each line.
 * It prints nothing if anything goes wrong, because it would be printed into a line that somebody is typing.
 * @param given the name of the shell, and what its script passes
 */
export async function complete(
  given: readonly string[],
  { stdout, env }: TerminalEnvironment,
  makeProgram: (words: readonly string[]) => Promise<Program>,
): Promise<void> {
  const question = questionOf(given);
  if (question === null) return;
  const { words, current, write } = question;
  const place = placeOf(await makeProgram(words), words, current);
  if (place === null) return;
  const { isFile, known } = await within(completionMs, candidatesAt(place, env));
  const lines = [isFile ? "files" : "values", ...write(known)];
  stdout.write(lines.map((line) => `${line}\n`).join(""));
}

function questionOf([shell, ...rest]: readonly string[]): Question | null {
  switch (shell) {
    case "bash": {
      const [type = "", breaks = "", line = ""] = rest;
      const { words, current, quote, kept } = readLine(line, breaks);
      if (kept === null) return null;
      const write = (known: readonly Known[]) => forBash(known, quote, kept, type === listing);
      return { words: words.slice(1), current, write };
    }
    case "zsh":
      return { words: rest.slice(0, -1), current: rest.at(-1) ?? "", write: withDescriptions };
    case "fish": {
      // The word at the cursor comes with its quotes.
      const { current } = readLine(rest.at(-1) ?? "", "");
      return { words: rest.slice(0, -1), current, write: withDescriptions };
    }
    default:
      return null;
  }
}

/** Bash inserts a value as it is, after the part of the word that it keeps. */
function forBash(
  known: readonly Known[],
  quote: Quote,
  kept: string,
  isListing: boolean,
): readonly string[] {
  return known.flatMap(({ value, description }) => {
    const written = quoted(value.slice(kept.length), quote);
    if (written === null) return [];
    const isDescribed = isListing && known.length > 1 && description !== "";
    return [isDescribed ? `${written}  (${shortened(description)})` : written];
  });
}

/** The other shells quote values themselves, and show descriptions. */
function withDescriptions(known: readonly Known[]): readonly string[] {
  return known.map(({ value, description }) =>
    description === "" ? value : `${value}\t${shortened(description)}`,
  );
}

function shortened(description: string): string {
  const line = printable(description).replaceAll("\n", " ");
  const letters = Array.from(line);
  if (letters.length <= descriptionMax) return line;
  return `${letters.slice(0, descriptionMax - 1).join("")}…`;
}

async function within(ms: number, work: Promise<Candidates>): Promise<Candidates> {
  const late = new Promise<Candidates>((resolve) => {
    setTimeout(resolve, ms, { isFile: false, known: [] }).unref();
  });
  return Promise.race([work, late]);
}
