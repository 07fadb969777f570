import { appendFileSync } from "node:fs";

const seen = new Set<string>();

/**
 * Records a refused request in the file that TILL_TEST_PROBLEMS names. test/http/provoked.ts compares the file with the
 * declared problems and reports those that no test provokes.
 */
export function noteProblem(method: string, path: string, body: unknown): void {
  const file = process.env["TILL_TEST_PROBLEMS"];
  const code = (body as { readonly code?: unknown } | null)?.code;
  if (file === undefined || typeof code !== "string") return;
  const [place = ""] = path.split("?", 1);
  const line = `${method} ${place.replaceAll(/[a-z]{2,4}_[0-9a-z]{26}/g, "-")} ${code}\n`;
  if (seen.has(line)) return;
  seen.add(line);
  appendFileSync(file, line);
}
