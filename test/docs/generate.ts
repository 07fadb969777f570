// Writes the pages under docs/ that are generated from declarations, and the diagrams of the imports; with --check it
// compares them and fails if they differ.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { permissionsReference } from "../../src/api/declare/permissions.ts";
import { openApiDocument } from "../../src/api/document/openapi.ts";
import { apiReference } from "../../src/api/document/reference.ts";
import {
  deadLetterKeptFor,
  deliveryKeptFor,
} from "../../src/features/webhooks/delivery/retention.ts";
import { allOperations } from "../../src/features/index.ts";
import { settingsReference } from "../../src/platform/config/index.ts";
import { eventsReference } from "../../src/platform/events/reference.ts";
import { importDiagrams, withDiagrams } from "./import-graph.ts";

const root = new URL("../../", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  version: string;
};

const source = fileURLToPath(new URL("src", root));

const pages: Readonly<Record<string, string>> = {
  "docs/openapi.json": `${JSON.stringify(openApiDocument(allOperations, version), null, 2)}\n`,
  "docs/api.md": apiReference(allOperations),
  "docs/architecture.md": withDiagrams(
    current("docs/architecture.md") ?? "",
    importDiagrams(source),
  ),
  "docs/events.md": eventsReference({
    deliveries: deliveryKeptFor,
    deadLetters: deadLetterKeptFor,
  }),
  "docs/permissions.md": permissionsReference(),
  "docs/settings.md": settingsReference(),
};

function current(path: string): string | null {
  try {
    return readFileSync(new URL(path, root), "utf8");
  } catch {
    return null;
  }
}

if (process.argv.includes("--check")) {
  const stale = Object.entries(pages).filter(([path, text]) => current(path) !== text);
  for (const [path] of stale) console.error(`${path} is stale: run npm run docs and commit it`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const [path, text] of Object.entries(pages)) writeFileSync(new URL(path, root), text);
}
