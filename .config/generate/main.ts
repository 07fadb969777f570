import { allOperations } from "../../src/features/index.ts";
import { openApiDocument, readExamples } from "../../src/http/document/openapi.ts";
import { eventTypes } from "../../src/platform/events/catalogue.ts";
import { recordOf } from "../../src/platform/events/reference.ts";
import { clientFiles, type ClientDocument } from "./client.ts";
import { referencePages, type ReferenceDocument } from "./pages.ts";

/**
 * Returns the files that the build makes from the declarations, by path: the types and the operations of the client, and
 * the reference of the API.
 */
export async function generatedFiles(version: string): Promise<Readonly<Record<string, string>>> {
  const document: unknown = openApiDocument(allOperations, version);
  const records = Object.fromEntries(eventTypes.map((type) => [type, recordOf(type)]));
  const { operations: examples } = readExamples();
  return {
    ...clientFiles(document as ClientDocument, records),
    ...(await referencePages(allOperations, document as ReferenceDocument, examples)),
  };
}
