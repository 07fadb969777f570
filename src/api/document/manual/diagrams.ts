import { readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Returns the name of a diagram's drawing in `docs/diagrams`. `page` is the path of the Markdown file below `docs`, without
 * its ending; `number` counts the diagrams of the file from 1.
 */
export function diagramFile(page: string, number: number): string {
  return `${page.replaceAll("/", "-")}-${String(number)}.svg`;
}

/** Reads the drawing of a diagram from the folder of the manual; null if the page has no such drawing. */
export async function readDrawing(
  folder: string,
  page: string,
  number: number,
): Promise<string | null> {
  try {
    return await readFile(join(folder, "diagrams", diagramFile(page, number)), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
