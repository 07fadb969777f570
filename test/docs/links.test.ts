// The links of the repository's Markdown files: each leads to a file and, with an anchor, to a section of it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { sectionsOf } from "../../src/http/document/manual/manual.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const files = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.startsWith("releases"))
    .map((name) => posix.join("docs", name)),
];

/** Returns the text outside of blocks of code. */
function proseOf(text: string): string {
  return text.replaceAll(/^```[^]*?^```/gm, "").replaceAll(/`[^`\n]*`/g, "");
}

function anchorsOf(text: string): ReadonlySet<string> {
  const sections = sectionsOf({ path: "", title: "", text }).flatMap(({ id }) => id ?? []);
  return new Set([
    ...sections,
    ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id),
  ]);
}

describe("the Markdown files", () => {
  it("explain every code of a problem, to which its type links", () => {
    const read = (file: string) => readFileSync(join(root, "docs", file), "utf8");
    const { components } = JSON.parse(read("openapi.json")) as {
      components: { schemas: { Problem: { properties: { code: { enum: string[] } } } } };
    };
    const codes = components.schemas.Problem.properties.code.enum;
    expect(codes.length).to.be.greaterThan(50);
    expect([...anchorsOf(read("problems.md"))]).to.include.members(codes);
  });

  it("link files and sections that exist", () => {
    const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
    const anchors = new Map([...texts].map(([file, text]) => [file, anchorsOf(text)]));
    const broken: string[] = [];
    let count = 0;
    for (const [file, text] of texts) {
      for (const [, to = ""] of proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(to)) continue;
        count += 1;
        const [path = "", anchor] = to.split("#");
        const target = path === "" ? file : posix.join(posix.dirname(file), path);
        const isThere = existsSync(join(root, target));
        const isSection = anchor === undefined || anchors.get(target)?.has(anchor) === true;
        if (!isThere || !isSection) broken.push(`${file}: ${to}`);
      }
    }
    expect(broken).to.deep.equal([]);
    expect(count).to.be.above(1_000);
  });
});
