import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { renderMermaidSVG } from "beautiful-mermaid";
import { diagramFile } from "../../src/http/document/manual/manual.ts";

const mermaid = /^```mermaid\n([\s\S]*?)^```$/gm;

/**
 * Draws every Mermaid diagram in the Markdown files of a folder. Returns the drawings by the path of their file, for
 * example `docs/diagrams/architecture-1.svg`. GitHub draws the source in the Markdown file itself; the manual that an
 * instance serves shows these drawings, so that browsers need no script for them.
 *
 * `written` has the text of files that are about to be written, by path, such as the pages of `npm run docs`.
 */
export function drawDiagrams(
  folder: string,
  written: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .sort();
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = written[`docs/${name}`] ?? readFileSync(join(folder, name), "utf8");
      return [...text.matchAll(mermaid)].map(([, source = ""], index) => {
        const file = diagramFile(name.replace(/\.md$/, ""), index + 1);
        return [`docs/diagrams/${file}`, draw(source, file.replace(/\.svg$/, ""))];
      });
    }),
  );
}

/**
 * Draws a diagram. The colors are variables of the manual's style sheet, because a page's security policy forbids styles
 * inside a drawing. Several drawings may be on one page, so the ids of their arrowheads start with their name.
 */
function draw(source: string, name: string): string {
  const svg = renderMermaidSVG(source, { padding: 8, nodeSpacing: 40, layerSpacing: 48 });
  return `${svg
    .replace(/<style>[\s\S]*?<\/style>\n?/g, "")
    .replace(/^(<svg[^>]*?) style="[^"]*"/, "$1")
    .replaceAll(/ (?:id|data-[\w-]+)="(?!arrowhead)[^"]*"/g, "")
    .replaceAll(/id="(arrowhead[\w-]*)"/g, `id="${name}-$1"`)
    .replaceAll(/url\(#(arrowhead[\w-]*)\)/g, `url(#${name}-$1)`)
    .replaceAll(/ xmlns="[^"]*"/g, "")
    .replaceAll(/(\d+\.\d)\d+/g, "$1")
    .trim()}\n`;
}
