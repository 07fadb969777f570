import { renderPage, type Room } from "./layout.ts";
import {
  firstSentence,
  readMarkdown,
  renderMarkdown,
  sectionsOf,
  type MarkdownFile,
} from "./markdown.ts";

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
