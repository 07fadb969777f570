import { readdirSync, readFileSync } from "node:fs";

const root = new URL("../../../", import.meta.url);

/** A call of `till` in a fenced block of a page. */
export interface PageCommand {
  /** Such as `docs/operating/backup.md:12`. */
  readonly place: string;
  /** The words after `till`, without redirections and comments. */
  readonly words: readonly string[];
}

/** Returns README.md and all pages of docs/operating and docs/guides, with their texts. */
export function pagesWithCommands(): readonly { readonly path: string; readonly text: string }[] {
  const pages = ["docs/operating/", "docs/guides/"].flatMap((folder) =>
    readdirSync(new URL(folder, root))
      .filter((name) => name.endsWith(".md"))
      .map((name) => folder + name),
  );
  return ["README.md", ...pages].map((path) => ({
    path,
    text: readFileSync(new URL(path, root), "utf8"),
  }));
}

/** Returns the calls of `till` in the blocks of a page that are marked as shell commands. */
export function commandsOf(page: { readonly path: string; readonly text: string }): PageCommand[] {
  const found: PageCommand[] = [];
  let isShell = false;
  let joined = "";
  for (const [place, line] of page.text.split("\n").entries()) {
    const fence = /^\s*```(\w*)/.exec(line);
    if (fence !== null) {
      isShell = !isShell && ["sh", "console", ""].includes(fence[1] ?? "");
      continue;
    }
    if (!isShell) continue;
    joined += line.replace(/\\$/, "");
    if (line.endsWith("\\")) continue;
    for (const words of callsIn(joined)) {
      found.push({ place: `${page.path}:${String(place + 1)}`, words });
    }
    joined = "";
  }
  return found;
}

/** Characters that end a call in a shell. */
const ends = new Set(["|", "&&", "||", ";", "&"]);

/** Returns the words of each call of `till` in a line, also in `$(…)` or behind another program such as sudo or docker. */
function callsIn(line: string): string[][] {
  const words = shellWords(line);
  const calls = [...line.matchAll(/\$\(([^)]*)\)/g)].flatMap(([, inner = ""]) => callsIn(inner));
  for (let start = 0; start < words.length;) {
    const end = words.findIndex((word, place) => place >= start && ends.has(word));
    const part = words.slice(start, end === -1 ? undefined : end);
    const till = programIn(part);
    if (till !== -1) calls.push(withoutRedirections(part.slice(till + 1)));
    start = end === -1 ? words.length : end + 1;
  }
  return calls;
}

/** Programs that run another one, by its name, its image or its service. */
const runners = ["sudo", "docker", "kubectl"];
const program = /^(.*\/)?till(-\d|-admin)?(:[\d.]+)?$/;

/** Returns the place of the program's name in a command, or -1. */
function programIn(words: readonly string[]): number {
  if (program.test(words[0] ?? "")) return 0;
  const isRunner = runners.includes(words[0] ?? "") && !words.includes("create");
  // `sudo -u till till backup`: the last one is the program.
  return isRunner
    ? words.findLastIndex(
        (word, place) => program.test(word) && /^-?-?[a-z]/.test(words[place + 1] ?? ""),
      )
    : -1;
}

function withoutRedirections(words: readonly string[]): string[] {
  const kept: string[] = [];
  for (let place = 0; place < words.length; place += 1) {
    const word = words[place] ?? "";
    if (/^\d?[<>]+$/.test(word)) place += 1;
    else if (!/^\d?[<>]/.test(word)) kept.push(word);
  }
  return kept;
}

/** Splits a line as a shell would, as far as documentation needs: quotes, comments, operators. */
function shellWords(line: string): string[] {
  const words: string[] = [];
  for (const [whole, double, single] of line.matchAll(
    /"((?:[^"\\]|\\.)*)"|'([^']*)'|\s#.*$|^\s*#.*$|\$\([^)]*\)|&&|\|\||[|;&]|[^\s"'|;&]+/g,
  )) {
    if (/^\s*#/.test(whole)) break;
    words.push(double ?? single ?? whole);
  }
  return words;
}
