import { createHash } from "node:crypto";

/** Returns the SHA-256 digest of text or bytes as 64 lowercase hex digits. */
export function digest(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}
