import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Returns the lines of a section of a page that run `docker`, in their order, without those of `docker compose`. */
export function dockerLines(folder: string, page: string, heading: string): readonly string[] {
  const text = readFileSync(join(folder, page), "utf8");
  const [section = ""] = (text.split(`\n## ${heading}\n`)[1] ?? "").split("\n## ");
  const blocks = [...section.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = ""]) => block);
  const lines = blocks.flatMap((block) => block.replaceAll("\\\n", "").split("\n"));
  return lines.filter((line) => /^docker (?!compose )/.test(line));
}
