import { readFileSync } from "node:fs";
import { packageFile } from "./files.ts";

/** Returns the version in package.json. */
export function programVersion(): string {
  const manifest = readFileSync(packageFile("package.json"), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
