import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { invoiceStatuses } from "../../src/features/invoices/rules.ts";
import { paymentStatuses } from "../../src/features/payments/payment-status.ts";
import { importDiagrams, withDiagrams } from "./import-graph.ts";

describe("the architecture page", () => {
  it("draws the imports between layers and features, less those that follow from others", () => {
    const src = mkdtempSync(join(tmpdir(), "till-imports-"));
    const files = {
      "server.ts": 'import { a } from "./features/b/index.ts";\nimport { k } from "./kernel/k.ts";',
      "features/index.ts": 'import { m } from "./b/module.ts";',
      "features/a/index.ts": 'export { k } from "../../kernel/k.ts";',
      "features/b/index.ts": 'const a = await import("../a/index.ts");',
      "features/c/index.ts": 'import koa from "koa";',
      "kernel/k.ts": "",
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(src, dirname(name)), { recursive: true });
      writeFileSync(join(src, name), text);
    }
    const { layers, features } = importDiagrams(src);
    rmSync(src, { recursive: true });
    expect(layers?.split("\n").slice(2, -1)).to.deep.equal([
      "  features --> kernel",
      "  server --> features",
    ]);
    expect(features?.split("\n").slice(2, -1)).to.deep.equal(["  c", "  b --> a"]);
  });

  it("refuses a page without the marks of a diagram", () => {
    expect(() => withDiagrams("# A page\n", { layers: "" })).to.throw("the page lacks");
  });

  for (const [heading, statuses] of [
    ["The life of an invoice", invoiceStatuses],
    ["The life of a transfer", [...paymentStatuses, "unmatched", "ignored"]],
  ] as const) {
    it(`shows every status in the diagram "${heading}"`, () => {
      const page = readFileSync(new URL("../../docs/architecture.md", import.meta.url), "utf8");
      const section = page.split(`# ${heading}\n`)[1] ?? "";
      const diagram = section.split("stateDiagram-v2")[1]?.split("```")[0] ?? "";
      const shown = [...diagram.matchAll(/\w+(?= -->)|(?<=--> )\w+/g)].map(([name]) => name);
      expect(new Set(shown)).to.deep.equal(new Set<string>(statuses));
    });
  }
});
