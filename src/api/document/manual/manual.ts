import type { Operation } from "../../declare/operation.ts";
import { renderPage, type ManualPage, type Room } from "./layout.ts";
import { readMarkdown, renderMarkdown, type MarkdownFile } from "./markdown.ts";
import { groupPath, referencePages, type ApiDocument } from "./reference-pages.ts";

/** The manual that an instance serves: the Markdown files of docs/, and the reference of the API. */
export interface Manual {
  /** Returns a page as HTML; null if the path has no page. */
  page(path: string): Promise<string | null>;
  /** Returns the path and title of every page and operation, for the search. */
  entries(): readonly (readonly [path: string, title: string])[];
}

/** Reads the files of the manual, which takes some milliseconds; pages are rendered when they are asked for. */
export async function openManual(
  operations: readonly Operation[],
  document: ApiDocument,
): Promise<Manual> {
  const files = new Map((await readMarkdown()).map((file) => [file.path, file]));
  // The pages of the reference replace this file, which is made for readers without a server.
  files.delete("docs/api");
  const made = new Map(referencePages(operations, document).map((page) => [page.path, page]));
  const rooms = roomsOf([...files.values()], [...made.values()]);
  const isPage = (path: string) => files.has(path) || made.has(path);

  return {
    async page(path) {
      const file = files.get(path);
      const page = file === undefined ? made.get(path) : await renderMarkdown(file, isPage);
      return page === undefined ? null : renderPage(page, rooms);
    },
    entries: () => [
      ...[...files.values(), ...made.values()].map(({ path, title }) => [path, title] as const),
      ...operations.map(
        ({ id, group, summary }) => [`${groupPath(group)}#${id}`, `${summary} (${id})`] as const,
      ),
    ],
  };
}

/** Sorts the pages into the rooms of the manual. */
function roomsOf(files: readonly MarkdownFile[], made: readonly ManualPage[]): readonly Room[] {
  const below = (folder: string) => files.filter(({ path }) => path.startsWith(`docs/${folder}/`));
  const named = (...names: readonly string[]) =>
    names.flatMap((name) => files.filter(({ path }) => path === name));
  return [
    { title: "Build", links: [...named("docs"), ...below("guides"), ...named("docs/events")] },
    { title: "API reference", links: [...made, ...named("docs/permissions")] },
    { title: "Operate", links: [...below("operating"), ...named("docs/settings")] },
    {
      title: "Understand",
      links: [
        ...named("docs/glossary", "docs/architecture"),
        ...below("design"),
        ...below("decisions"),
      ],
    },
  ];
}
