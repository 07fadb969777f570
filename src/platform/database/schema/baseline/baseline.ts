import { readFileSync } from "node:fs";
import { programFile } from "../../../files.ts";
import type { Migration } from "../migrate.ts";

/**
 * The schema of version 0.2, with which every store begins. It stands for migrations 1 to 33 and records each of them, so
 * that earlier programs of the store's level take it for one of their own. The statements are frozen as those of a
 * migration are; each ends with a semicolon before an empty line.
 */
export const baseline: Migration = {
  since: 1,
  version: 33,
  name: "version 0.2",
  up(_types, dialect) {
    const text = readFileSync(
      programFile(`platform/database/schema/baseline/${dialect}.sql`),
      "utf8",
    );
    return text.replace(/;\n$/, "").split(";\n\n");
  },
};
