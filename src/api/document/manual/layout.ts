import { escapeHtml } from "../../../kernel/html.ts";

/** A page of the manual. */
export interface ManualPage {
  /** The path below the root of the server, such as `docs/guides/webhooks`. */
  readonly path: string;
  /** The path of its Markdown, such as `docs/guides/webhooks.md`. */
  readonly source: string;
  readonly title: string;
  /** The content, as HTML. */
  readonly body: string;
}

/** A group of links to pages, as the navigation shows it. */
export interface Room {
  readonly title: string;
  readonly links: readonly { readonly path: string; readonly title: string }[];
}

/**
 * Returns a relative reference from one page to another path of the server. References are relative because a proxy may
 * serve the instance below a path.
 */
export function reference(from: string, to: string): string {
  return "../".repeat(from.split("/").length - 1) + to;
}

/** The page that lists all pages, and introduces them. */
const startPath = "docs";

/**
 * Renders a page with the navigation: all rooms on the start page, and elsewhere the room of the page and one link to each
 * of the others, so that nobody passes all pages on the way to one.
 */
export function renderPage(page: ManualPage, rooms: readonly Room[]): string {
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
