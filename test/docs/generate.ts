// Writes the files that are made from declarations and kept in the repository, and the diagrams of the imports; with
// --check it compares them and fails if they differ or if the OpenAPI document lacks a description.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { permissionsReference } from "../../src/http/declare/permissions.ts";
import { openApiDocument } from "../../src/http/document/openapi.ts";
import {
  deadLetterKeptFor,
  deliveryKeptFor,
} from "../../src/features/webhooks/delivery/retention.ts";
import { allOperations } from "../../src/features/index.ts";
import { settingsReference } from "../../src/platform/config/reference.ts";
import { eventsReference } from "../../src/platform/events/reference.ts";
import { formatted } from "../support/formatted.ts";
import { drawDiagrams } from "./diagrams.ts";
import { importDiagrams, withDiagrams } from "./import-graph.ts";
import { eventTypes } from "../../src/platform/events/catalogue.ts";
import { englishSource } from "./english.ts";
import { plausible } from "./examples/plausible.ts";
import { cliReference } from "./operating/cli-reference.ts";
import { commandTree } from "./operating/command-tree.ts";
import { undescribed, withoutExample, type Documented } from "./undescribed.ts";

const root = new URL("../../", import.meta.url);
const isChecking = process.argv.includes("--check");
const { version } = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
  version: string;
};

const eventExamples = "src/http/document/examples/events.json";
const written = `${JSON.stringify(exampleEvents(), null, 2)}\n`;
const areEventsStale = current(eventExamples) !== written;
// The document reads them.
if (areEventsStale && !isChecking) writeFileSync(new URL(eventExamples, root), written);
const document = openApiDocument(allOperations, version);
const source = fileURLToPath(new URL("src", root));

const pages: Readonly<Record<string, string>> = {
  "docs/openapi.json": `${JSON.stringify(document, null, 2)}\n`,
  "docs/architecture.md": withDiagrams(
    current("docs/architecture.md") ?? "",
    importDiagrams(source),
  ),
  "docs/events.md": eventsReference({
    deliveries: deliveryKeptFor,
    deadLetters: deadLetterKeptFor,
  }),
  "docs/operating/cli.md": await formatted("cli.md", cliReference(await commandTree())),
  "docs/permissions.md": permissionsReference(),
  "docs/settings.md": settingsReference(),
  "src/features/checkout/page/generated/english.ts": await englishSource(),
};

const drawings = drawDiagrams(fileURLToPath(new URL("docs", root)), pages);
const generated = { ...pages, ...drawings };
const drawingsFolder = new URL("docs/diagrams/", root);
/** Drawings of diagrams that are not there any more. */
const unused = (existsSync(drawingsFolder) ? readdirSync(drawingsFolder) : [])
  .map((name) => `docs/diagrams/${name}`)
  .filter((path) => !Object.hasOwn(drawings, path));

function current(path: string): string | null {
  try {
    return readFileSync(new URL(path, root), "utf8");
  } catch {
    return null;
  }
}

/** Returns the webhook bodies that tests recorded, by event type, in the order of the catalogue. */
function exampleEvents(): Readonly<Record<string, unknown>> {
  const folder = new URL("test/features/events/golden/", root);
  const recorded = readdirSync(folder).map(
    (file) => JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Record<string, object>,
  );
  const bodies = Object.assign({}, ...recorded) as Readonly<Record<string, object>>;
  return Object.fromEntries(
    eventTypes.map((type) => {
      const body = bodies[type];
      if (body === undefined) {
        throw new Error(
          `No body of ${type} is recorded: let test/features/events/golden.test.ts raise it, and run it with TILL_GOLDEN=write`,
        );
      }
      return [type, plausible({ ...body, sequence: 1 })];
    }),
  );
}

if (isChecking) {
  const stale = [
    ...(areEventsStale ? [eventExamples] : []),
    ...Object.entries(generated).flatMap(([path, text]) => (current(path) === text ? [] : [path])),
    ...unused,
  ];
  for (const path of stale) console.error(`${path} is stale: run npm run docs and commit it`);
  const missing = undescribed(document as unknown as Documented);
  for (const name of missing) {
    console.error(`docs/openapi.json: ${name} has no description: add it with describeFields`);
  }
  const unshown = withoutExample(document as unknown as Documented);
  for (const name of unshown) {
    console.error(`docs/openapi.json: ${name} has no example: run npm run docs:examples`);
  }
  process.exitCode = stale.length + missing.length + unshown.length === 0 ? 0 : 1;
} else {
  mkdirSync(drawingsFolder, { recursive: true });
  for (const [path, text] of Object.entries(generated)) writeFileSync(new URL(path, root), text);
  for (const path of unused) rmSync(new URL(path, root));
}
