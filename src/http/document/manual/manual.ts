import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { escapeHtml } from "../../../kernel/text.ts";
import { packageFile } from "../../../platform/files.ts";

/** The folder of the Markdown files; dist/ is as deep as src/. */
const folder = fileURLToPath(packageFile("docs"));

/** A Markdown file of docs/. */
interface MarkdownFile {
  /** The path of its page, such as `docs/guides/webhooks`; that of `docs/index.md` is `docs`. */
  readonly path: string;
  /** The path of the file itself, such as `docs/guides/webhooks.md`. */
  readonly source: string;
  readonly title: string;
  readonly text: string;
}

/** Reads the Markdown files of docs/, ordered by path. The title of each is its first heading. */
async function readMarkdown(): Promise<readonly MarkdownFile[]> {
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
async function renderMarkdown(
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
function firstSentence(text: string): string {
  const paragraphs = text.replaceAll(/^<!--[^]*?-->$/gm, "").split(/\n{2,}/);
  const first = paragraphs.find((paragraph) => /^(?!```)[^#\s<|]/.test(paragraph)) ?? "";
  const words = first
    .replace(/^\*\*Context\.\*\* /, "")
    .replaceAll(/\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replaceAll(/\*\*|\n.*/g, "");
  return /^.*?[.!?](?=\s|$)/.exec(words)?.[0] ?? words;
}

/** A section of a page, as a link names it. The first one is the page itself, up to its first section. */
interface Section {
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

/**
 * Returns the name of a diagram's drawing in `docs/diagrams`. `page` is the path of the Markdown file below `docs`, without
 * its ending; `number` counts the diagrams of the file from 1.
 */
export function diagramFile(page: string, number: number): string {
  return `${page.replaceAll("/", "-")}-${String(number)}.svg`;
}

/** Reads the drawing of a diagram from the folder of the manual; null if the page has no such drawing. */
async function readDrawing(folder: string, page: string, number: number): Promise<string | null> {
  try {
    return await readFile(join(folder, "diagrams", diagramFile(page, number)), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** A page of the manual. */
interface ManualPage {
  /** The path below the root of the server, such as `docs/guides/webhooks`. */
  readonly path: string;
  /** The path of its Markdown, such as `docs/guides/webhooks.md`. */
  readonly source: string;
  readonly title: string;
  /** The content, as HTML. */
  readonly body: string;
}

/** A group of links to pages, as the navigation shows it. */
interface Room {
  readonly title: string;
  readonly links: readonly { readonly path: string; readonly title: string }[];
}

/**
 * Returns a relative reference from one page to another path of the server. References are relative because a proxy may
 * serve the instance below a path.
 */
function reference(from: string, to: string): string {
  return "../".repeat(from.split("/").length - 1) + to;
}

/** The page that lists all pages, and introduces them. */
const startPath = "docs";

/**
 * Renders a page with the navigation: all rooms on the start page, and elsewhere the room of the page and one link to each
 * of the others, so that nobody passes all pages on the way to one.
 */
function renderPage(page: ManualPage, rooms: readonly Room[]): string {
  const to = (path: string) => escapeHtml(reference(page.path, path));
  const link = ({ path, title }: Room["links"][number]) => {
    const current = path === page.path ? ' aria-current="page"' : "";
    return `<li><a href="${to(path)}"${current}>${escapeHtml(title)}</a></li>`;
  };
  const isOpen = ({ links }: Room) =>
    page.path === startPath || links.some(({ path }) => path === page.path);
  const navigation = rooms
    .filter(isOpen)
    .map((room) => list(room.title, room.links.map(link), anchorOf(room)));
  const closed = rooms.filter((room) => !isOpen(room));
  if (closed.length > 0) {
    const links = closed.map((room) => {
      const title = `${room.title} (${String(room.links.length)} pages)`;
      return `<li><a href="${to(startPath)}#${anchorOf(room)}">${escapeHtml(title)}</a></li>`;
    });
    navigation.push(list("Other rooms", links));
  }
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · Till</title>
<link rel="alternate" type="text/markdown" href="${to(page.source)}">
<link rel="stylesheet" href="${to("docs/manual.css")}">
<script src="${to("docs/manual.js")}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><a href="${to(startPath)}">Till</a> <a href="#contents">Contents</a></header>
<main id="content" tabindex="-1">
${page.body}
</main>
<nav id="contents" aria-label="Manual">
<div role="search" id="search" data-root="${to("docs")}" hidden>
<label for="query">Search the manual</label>
<input id="query" type="search" autocomplete="off" spellcheck="false">
<ul id="found" aria-live="polite"></ul>
</div>
${navigation.join("\n")}
</nav>
</body>
</html>
`;
}

/** Returns the anchor of a room in the navigation of the start page. */
function anchorOf({ title }: Room): string {
  return `pages-${title.toLowerCase().replaceAll(" ", "-")}`;
}

function list(title: string, items: readonly string[], id?: string): string {
  const named = id === undefined ? "" : ` id="${id}"`;
  return `<h2${named}>${escapeHtml(title)}</h2>\n<ul>\n${items.join("\n")}\n</ul>`;
}

/** The manual that an instance serves: the Markdown files of docs/. */
export interface Manual {
  /** Returns a page as HTML; null if the path has no page. */
  page(path: string): Promise<string | null>;
  /** Returns the Markdown of a page by the path of its file; null if there is no such file. */
  markdown(source: string): string | null;
  /** Returns the Markdown files of all pages as the navigation sorts them, each with its first sentence, in the form of https://llmstxt.org. */
  overview(): string;
  /** Returns the path, title and words of every page and section, for the search. */
  entries(): readonly (readonly [path: string, title: string, words: string])[];
}

/** Reads the files of the manual, which takes some milliseconds; pages are rendered when they are asked for. */
export async function openManual(): Promise<Manual> {
  const files = new Map((await readMarkdown()).map((file) => [file.path, file]));
  const bySource = new Map([...files.values()].map((file) => [file.source, file]));
  const rooms = roomsOf([...files.values()]);
  const isPage = (path: string) => files.has(path);

  return {
    async page(path) {
      const file = files.get(path);
      return file === undefined ? null : renderPage(await renderMarkdown(file, isPage), rooms);
    },
    markdown: (source) => bySource.get(source)?.text ?? null,
    overview() {
      const parts = rooms.map(({ title, links }) => {
        const lines = links.map(
          (page) => `- [${page.title}](${page.source}): ${firstSentence(page.text)}`,
        );
        return `## ${title}\n\n${lines.join("\n")}\n`;
      });
      const head = `# Till\n\n> ${firstSentence(files.get("docs")?.text ?? "")}\n\nThe OpenAPI document is [v1/openapi.json](v1/openapi.json).\n`;
      return [head, ...parts].join("\n");
    },
    // In the order of the contents, so that guides are found before records and decisions.
    entries() {
      const listed = rooms.flatMap(({ links }) => links.map(({ path }) => path));
      return [...new Set([...listed, ...files.keys()])].flatMap((path) => {
        const file = files.get(path);
        return (file === undefined ? [] : sectionsOf(file)).map(
          ({ id, title, words }) => [id === null ? path : `${path}#${id}`, title, words] as const,
        );
      });
    },
  };
}

interface RoomOfFiles extends Room {
  readonly links: readonly MarkdownFile[];
}

/** Sorts the pages into the rooms of the manual. */
function roomsOf(files: readonly MarkdownFile[]): readonly RoomOfFiles[] {
  const below = (folder: string) => files.filter(({ path }) => path.startsWith(`docs/${folder}/`));
  const named = (...names: readonly string[]) =>
    names.flatMap((name) => files.filter(({ path }) => path === name));
  const start = named(
    ...["docs", "docs/guides/first-order", "docs/guides/whole-shop"],
    ...["docs/guides/whole-shop-typescript", "docs/guides/whole-shop-python"],
    ...["docs/guides/whole-shop-php", "docs/guides/sandbox"],
    ...["docs/guides/choosing-a-wallet", "docs/guides/faq"],
  );
  const guides = below("guides").filter((file) => !start.includes(file));
  return [
    { title: "Start", links: start },
    { title: "Build", links: [...guides, ...below("integrations"), ...named("docs/events")] },
    {
      title: "API reference",
      links: [...named("docs/api"), ...below("api"), ...named("docs/problems", "docs/permissions")],
    },
    { title: "Operate", links: [...below("operating"), ...named("docs/settings")] },
    {
      title: "Understand",
      links: [
        ...named("docs/glossary", "docs/architecture", "docs/promises"),
        ...named("docs/faults", "docs/performance"),
        ...below("design"),
      ],
    },
    { title: "Decisions", links: below("decisions") },
  ];
}
