import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { escapeHtml } from "../../../kernel/html.ts";
import { readDrawing } from "./diagrams.ts";
import { reference, type ManualPage } from "./layout.ts";
import { packageFile } from "../../../platform/files.ts";

/** The folder of the Markdown files; dist/ is as deep as src/. */
const folder = fileURLToPath(packageFile("docs"));

/** A Markdown file of docs/. */
export interface MarkdownFile {
  /** The path of its page, such as `docs/guides/webhooks`; that of `docs/index.md` is `docs`. */
  readonly path: string;
  /** The path of the file itself, such as `docs/guides/webhooks.md`. */
  readonly source: string;
  readonly title: string;
  readonly text: string;
}

/** Reads the Markdown files of docs/, ordered by path. The title of each is its first heading. */
export async function readMarkdown(): Promise<readonly MarkdownFile[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".md"));
  return Promise.all(
    names.sort().map(async (name): Promise<MarkdownFile> => {
      const text = await readFile(join(folder, name), "utf8");
      const title = /^# (.+)$/m.exec(text)?.[1] ?? name;
      const source = posix.join("docs", name.replaceAll("\\", "/"));
      const path = source.replace(/(?:\/index)?\.md$/, "");
      return { path, source, title, text };
    }),
  );
}

/**
 * Renders a Markdown file. Links to other pages become relative references to them; links to files that are not served,
 * such as sources, become their names.
 */
export async function renderMarkdown(
  { path, source, title, text }: MarkdownFile,
  isPage: (path: string) => boolean,
): Promise<ManualPage> {
  const { Marked } = await import("marked");
  const names = new Set<string>();
  const isIndex = path === "docs";
  const drawings = await readDrawings(path, text);
  let heading = title;
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text: words }) {
        const level = String(depth);
        const id = uniqueId(words, names);
        heading = words.replaceAll("`", "");
        return `<h${level} id="${id}">${this.parser.parseInline(tokens)}</h${level}>\n`;
      },
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        if (/^https?:/.test(href)) return `<a href="${escapeHtml(href)}">${words}</a>`;
        const [file = "", anchor] = href.split("#");
        const fragment = anchor === undefined ? "" : `#${escapeHtml(anchor)}`;
        if (file === "") return `<a href="${fragment}">${words}</a>`;
        const from = isIndex ? "docs" : posix.dirname(path);
        const target = pathOf(posix.join(from, file));
        if (!isPage(target)) return words;
        return `<a href="${escapeHtml(reference(path, target))}${fragment}">${words}</a>`;
      },
      code({ text: code, lang }) {
        const drawing = lang === "mermaid" ? (drawings.shift() ?? null) : null;
        const written = `<pre tabindex="0"><code>${escapeHtml(code)}</code></pre>\n`;
        return drawing === null ? written : figure(drawing, written, heading);
      },
      table({ header, rows }) {
        const cell = (tag: string) => (each: { tokens: (typeof header)[number]["tokens"] }) =>
          `<${tag}>${this.parser.parseInline(each.tokens)}</${tag}>`;
        const head = header.map(cell("th")).join("");
        const body = rows.map((row) => `<tr>${row.map(cell("td")).join("")}</tr>`).join("\n");
        return scrolling(
          `<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body}\n</tbody>\n</table>`,
        );
      },
    },
  });
  return { path, source, title, body: await marked.parse(text) };
}

/** Returns the first sentence of a file's text, without emphasis and the targets of its links. */
export function firstSentence(text: string): string {
  const paragraphs = text.replaceAll(/^<!--[^]*?-->$/gm, "").split(/\n{2,}/);
  const first = paragraphs.find((paragraph) => /^(?!```)[^#\s<|]/.test(paragraph)) ?? "";
  const words = first
    .replace(/^\*\*Context\.\*\* /, "")
    .replaceAll(/\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replaceAll(/\*\*|\n.*/g, "");
  return /^.*?[.!?](?=\s|$)/.exec(words)?.[0] ?? words;
}

/** A section of a page, as a link names it. The first one is the page itself, up to its first section. */
export interface Section {
  /** Null for the page itself. */
  readonly id: string | null;
  readonly title: string;
  /** The words of its text in lower case, each once, or as a part of another one, with spaces between them. */
  readonly words: string;
}

/** Returns the sections of a file. An anchor before a heading is its id, and is found too. */
export function sectionsOf({
  path,
  title: pageTitle,
  text,
}: Omit<MarkdownFile, "source">): readonly Section[] {
  const names = new Set<string>();
  // The examples of the reference repeat the same words in four languages.
  const hasExamples = path.startsWith("docs/api/");
  let anchor: string | null = null;
  let isCode = false;
  let current = { id: null as string | null, title: pageTitle, words: new Set<string>() };
  const sections = [current];
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) {
      isCode = !isCode;
      continue;
    }
    const heading = isCode ? undefined : /^#{1,6} (.+)$/.exec(line)?.[1];
    if (heading !== undefined) {
      const id = uniqueId(heading, names);
      const title = heading.replaceAll("`", "");
      if (!line.startsWith("# ")) {
        current =
          anchor === null || anchor === title
            ? { id, title, words: new Set() }
            : { id: anchor, title: `${title} (${anchor})`, words: new Set() };
        sections.push(current);
      }
    } else if (!isCode || !hasExamples) {
      for (const word of wordsOf(line)) current.words.add(word);
    }
    if (line !== "") anchor = /^<a id="([^"]+)"><\/a>$/.exec(line)?.[1] ?? null;
  }
  return sections.map(({ words, ...section }) => ({ ...section, words: joined(words) }));
}

/** Names of tests with their titles, as the tables of promises, burdens and attacks have them: readers search for the rule. */
const tests = /`test\/[^`]+`(?:: [^|]*)?/g;

/** Ids, hashes, dates and large figures of examples, for which nobody searches. */
const example = /^(?:[a-z]+_[0-9a-z]{20,}|0x[0-9a-f]{16,}|[0-9a-f]{32,}|000|\d{4,}(?:-\d\d.*)?)$/u;

/** Returns the words of a line that a reader sees and may search for, without the targets of its links. */
function wordsOf(line: string): readonly string[] {
  const shown = line
    .replaceAll(tests, " ")
    .replaceAll(/\]\([^)]*\)|<[^>]+>/g, " ")
    .toLowerCase();
  const words = shown.match(/[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*/gu) ?? [];
  return words.filter((word) => word.length > 2 && !example.test(word));
}

/** Joins words with spaces, without those that are a part of another one: the search finds them in it. */
function joined(words: ReadonlySet<string>): string {
  const kept = new Set<string>();
  let text = "";
  for (const word of [...words].sort((one, other) => other.length - one.length)) {
    if (text.includes(word)) continue;
    kept.add(word);
    text += ` ${word}`;
  }
  return [...words].filter((word) => kept.has(word)).join(" ");
}

const diagramStart = /^```mermaid$/gm;

/** Reads the drawings of a page's diagrams, in their order; null for one that is not drawn. */
function readDrawings(path: string, text: string): Promise<(string | null)[]> {
  const count = text.match(diagramStart)?.length ?? 0;
  const page = path.replace(/^docs\/?/, "") || "index";
  return Promise.all(
    Array.from({ length: count }, (_, index) => readDrawing(folder, page, index + 1)),
  );
}

/** Shows a drawing, which scrolls if it is wider than the page, above its source, which screen readers can read. */
function figure(drawing: string, source: string, heading: string): string {
  const name = escapeHtml(`Diagram: ${heading}`);
  return `<figure><div class="wide" tabindex="0" role="group" aria-label="${name}">${drawing.replace("<svg", '<svg aria-hidden="true"')}</div><details><summary>The diagram as text</summary>${source}</details></figure>\n`;
}

/** Wraps what may be wider than a phone, so that it scrolls without the page, also with the keyboard. */
function scrolling(html: string): string {
  return `<div class="wide" tabindex="0" role="group" aria-label="Table">${html}</div>\n`;
}

/** Returns the path of the page of a file in docs/. */
function pathOf(file: string): string {
  return file
    .replace(/(?:^|\/)docs\/(?:index\.md|)$/, "docs")
    .replace(/\.(?:md|json)$/, "")
    .replace(/\/$/, "");
}

/** Returns the id of a heading, as GitHub derives it, so that links work in both places. */
function uniqueId(heading: string, names: Set<string>): string {
  const name = heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
  let id = name;
  for (let count = 1; names.has(id); count += 1) id = `${name}-${String(count)}`;
  names.add(id);
  return id;
}
