import { escapeHtml } from "../../../kernel/html.ts";

/** A page of the manual. */
export interface ManualPage {
  /** The path below the root of the server, such as `docs/guides/webhooks`. */
  readonly path: string;
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

/** Renders a page with the navigation. */
export function renderPage(page: ManualPage, rooms: readonly Room[]): string {
  const to = (path: string) => escapeHtml(reference(page.path, path));
  const link = ({ path, title }: Room["links"][number]) => {
    const current = path === page.path ? ' aria-current="page"' : "";
    return `<li><a href="${to(path)}"${current}>${escapeHtml(title)}</a></li>`;
  };
  const navigation = rooms.map(
    ({ title, links }) =>
      `<h2>${escapeHtml(title)}</h2>\n<ul>\n${links.map(link).join("\n")}\n</ul>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} · Till</title>
<link rel="stylesheet" href="${to("docs/manual.css")}">
<script src="${to("docs/manual.js")}" defer></script>
</head>
<body>
<header><a href="${to("docs")}">Till</a> <a href="#contents">Contents</a></header>
<main>
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
