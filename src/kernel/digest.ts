import { createHash } from "node:crypto";

/** Returns the SHA-256 digest of text or bytes as 64 lowercase hex digits. */
export function digest(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns JSON text that does not depend on the order of an object's fields. The value consists of plain JSON values. */
export function canonicalJson(value: unknown): string {
  // A sorted copy costs a fraction of a replacer, which JSON.stringify would call for each value.
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const fields = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(fields.map(([name, part]) => [name, sorted(part)]));
}
