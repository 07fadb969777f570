// npm run voice: refuses turns of phrase that a reader has to decode, in comments, strings and Markdown prose, in the
// whole repository or in the files and folders given as arguments. `voice: allow — reason` on the line of a phrase
// allows it.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, extname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The refused phrases as regular expressions, in which a space stands for any white space, each with its advice.
 * Sentences that end with a question mark are excepted.
 */
const rules = [
  [
    "^(?:[Ww](?:hat|hose|here|ho|hoever)|[Tt]hose|[Oo]ne (?:that|who)|[Tt]he same where)",
    "start with a verb or with the noun itself",
  ],
  [
    "^(?:What|Whose|Whoever|Those (?:that|who|whose|of)|One (?:that|who)|The same where)",
    "start the sentence with the noun itself",
  ],
  ["told of", "say who reports what to whom"],
  ["(?:is|are|was|were|be|been|being) told(?! apart)", "say who reports what to whom"],
  ["so (?:often|long,|(?:many|much|few) of)", "name the number and its unit"],
  ["asks? for so (?:much|many)", "name the amount"],
  ["look(?:s|ed)? at again", "say re-checked, retried or re-read"],
  ["makes? nothing", "say that nothing is created"],
  ["there is none", "name the thing that is missing"],
  ["(?:by|of) (?:itself|themselves)", "name the worker, the timer or the caller"],
  [
    "(?:who asks?|whoever (?:\\w+ )*?hears|(?:for|by|to|of|with|from) who(?:ever)?)",
    "name the caller",
  ],
  [
    "(?<![Tt]here )(?:is|are|was|were) no(?! (?:longer|more|less|fewer|better|worse|different|\\w+er than))",
    "say “is not a …”",
  ],
  ["for it all the same", "say it plainly"],
  ["(?:anew|henceforth|thereby|in vain)", "use an everyday word"],
  [
    "(?:[Rr]eorganis|[Nn]eighbour|[Bb]ehaviour|[Hh]onour|[Ff]avour|[Aa]uthoris|[Rr]ecognis|[Ff]inalis)\\w*",
    "use the American spelling",
  ],
].map(([phrase, advice]) => {
  const opening = phrase.startsWith("^") ? "" : "(?<!\\w)";
  return {
    phrase: new RegExp(`${opening}${phrase.replaceAll(" ", "\\s+")}(?!\\w)`),
    advice,
  };
});

const words = process.argv.slice(2);
const paths = words.filter((word) => !word.startsWith("--"));
/** The repository, or another folder that a test names. */
const root = resolve(
  words.find((word) => word.startsWith("--root="))?.slice("--root=".length) ??
    fileURLToPath(new URL("..", import.meta.url)),
);
/** Built and installed files, and the example shops with their own tools. */
const foreign = /^(?:node_modules|dist|dist\.next|coverage|release|test\/clients\/shops)(?:\/|$)/;
/** Generated from the strings in src/, recorded answers of tests, and the phrases themselves with their samples. */
const exempt =
  /^docs\/(?:api|api\/[\w-]+|problems|events|settings|permissions)\.md$|\/golden\/|\/(?:check-voice\.mjs|voice\.test\.ts)$/;

/** The tokens of a script that matter here. A slash that does not follow an operand opens a regular expression. */
const token = new RegExp(
  [
    String.raw`(?<comment>\/\/.*|\/\*[^]*?\*\/)`,
    String.raw`(?<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')`,
    String.raw`(?<regexp>(?<=(?:^|[(,=:[!&|?{};>]|\breturn)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/)`,
    String.raw`(?<brace>[{}\x60])`,
  ].join("|"),
  "g",
);
/** A template literal from its opening mark, or from the end of a substitution, to the next of either. */
const chunk = /(?:\\[^]|\$(?!\{)|[^\\`$])*(`|\$\{)/y;
const sentences = /\S[^]*?(?:[.!?](?=\s|$)|$)/g;
const commentMarks = /^\s*(?:\/\*+|\/\/|\*(?!\/))|\*\/$/gm;
const stringMarks = /["'`]\s*\+\s*["'`]|^["'`}]|["'`]$|\$\{$/g;
const commentGap = /^[^\S\n]*\n[^\S\n]*$/;
const stringGap = /^\s*\+\s*$/;

const readers = {
  ".ts": textsOfScript,
  ".mjs": textsOfScript,
  ".cjs": textsOfScript,
  ".md": textsOfMarkdown,
  ".yaml": textsOfYaml,
};

const faults = (paths.length > 0 ? paths : [root])
  .flatMap((path) => filesAt(resolve(path)))
  .flatMap(faultsIn);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;

/** The files at a path that hold texts: the file itself, or those below the folder. */
function filesAt(path) {
  const name = relative(root, path);
  if (foreign.test(name) || basename(path) === ".git") return [];
  if (statSync(path).isDirectory())
    return readdirSync(path).flatMap((entry) => filesAt(join(path, entry)));
  return extname(path) in readers && !exempt.test(name) ? [path] : [];
}

/** A line to print for each refused phrase of a file; at most one a sentence. */
function faultsIn(file) {
  const source = readFileSync(file, "utf8");
  const lines = source.split("\n");
  const name = relative(root, file);
  return readers[extname(file)](source).flatMap(({ text, start, isWhole }) =>
    [...text.matchAll(sentences)].flatMap(({ 0: sentence, index }) => {
      if (sentence.endsWith("?") || !/\s\S/.test(sentence)) return [];
      const isOpening = isWhole && text.slice(0, index).trim() === "";
      for (const { phrase, advice } of isOpening ? rules : rules.slice(1)) {
        const match = phrase.exec(sentence);
        if (match === null) continue;
        const line = source.slice(0, start + index + match.index).split("\n").length;
        if (/voice: allow — \S/.test(lines[line - 1])) continue;
        const words = match[0].replace(/\s+/g, " ");
        return [`${name}:${line}: "${words}": ${advice}`];
      }
      return [];
    }),
  );
}

/**
 * The comments and strings of a script. Whatever is not prose in them is blanked out, so that offsets stay those of the
 * file. Consecutive line comments are one text, and so are strings joined by a plus.
 */
function textsOfScript(source) {
  const texts = [];
  /** For each open template literal: the number of braces that are open in its substitution. */
  const braces = [];
  token.lastIndex = 0;
  for (let match = token.exec(source); match !== null; match = token.exec(source)) {
    const { comment, string, brace } = match.groups;
    if (comment !== undefined) append(match.index, token.lastIndex, true, true);
    else if (string !== undefined) append(match.index, token.lastIndex, false, true);
    else if (brace === "{" && braces.length > 0) braces[braces.length - 1] += 1;
    else if (brace === "}" && braces.at(-1) > 0) braces[braces.length - 1] -= 1;
    else if (brace === "`" || (brace === "}" && braces.length > 0)) {
      chunk.lastIndex = token.lastIndex;
      const isEnd = chunk.exec(source)?.[1] === "`";
      if (brace === "`" && !isEnd) braces.push(0);
      else if (brace === "}" && isEnd) braces.pop();
      append(match.index, chunk.lastIndex, false, brace === "`");
      token.lastIndex = chunk.lastIndex;
    }
  }
  return texts.map(({ start, end, isComment, isWhole }) => ({
    start,
    isWhole,
    text: source.slice(start, end).replace(isComment ? commentMarks : stringMarks, blank),
  }));

  function append(start, end, isComment, isWhole) {
    const last = texts.at(-1);
    const gap = last?.isComment === isComment ? source.slice(last.end, start) : "x";
    const isJoined = isComment
      ? source.startsWith("//", start) && commentGap.test(gap)
      : stringGap.test(gap);
    if (isJoined) last.end = end;
    else texts.push({ start, end, isComment, isWhole });
  }
}

/** Headings, paragraphs, list items and table cells, without code. */
function textsOfMarkdown(source) {
  const prose = source.replace(/^```[^]*?^```|`[^`\n]+`/gm, (code) => code.replace(/[^\n]/g, "x"));
  return [...prose.matchAll(/(?:[^\n|]|\n(?!\s*(?:\n|[-*#>|]|\d+\.)))+/g)].map((part) => ({
    start: part.index,
    isWhole: true,
    text: part[0].replace(/^\s*(?:[-*#>]+|\d+\.)\s|\*\*/g, blank),
  }));
}

/** The comments of a YAML file. Consecutive lines are one text. */
function textsOfYaml(source) {
  return [...source.matchAll(/(?<=^|\s)#.*(?:\n[^\S\n]*#.*)*/g)].map((part) => ({
    start: part.index,
    isWhole: true,
    text: part[0].replace(/^\s*#+/gm, blank),
  }));
}

function blank(mark) {
  return mark.replace(/[^\n]/g, " ");
}
