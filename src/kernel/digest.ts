import { createHash } from "node:crypto";

/** SHA-256 of a text or of bytes, in 64 lower-case hex digits. */
export function digest(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}
