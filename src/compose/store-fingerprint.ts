import type { Reader } from "../platform/database/database.ts";
import { meta } from "../platform/database/schema/meta.ts";

/** The name of the fact of a store that tells the fingerprint of its secret. */
export const secretFact = "secret_fingerprint";

/** Returns the fingerprint of the secret with which a store was created; null if the store is not complete. */
export async function secretOf(reader: Reader): Promise<string | null> {
  return (await reader.findOne(meta, "WHERE name = $1", [secretFact]))?.value ?? null;
}
