import type { RandomBytes } from "../kernel/id.ts";
import type { Config } from "../platform/config/config.ts";
import type { Reader } from "../platform/database/database.ts";
import { meta } from "../platform/database/schema/table.ts";
import { loadServerSecret, type ServerSecret } from "../platform/secrets/server-secret.ts";

/** The name of the fact of a store that tells the fingerprint of its secret. */
export const secretFact = "secret_fingerprint";

/** Returns the fingerprint of the secret with which a store was created; null if the store is not complete. */
export async function secretOf(reader: Reader): Promise<string | null> {
  return (await reader.findOne(meta, "WHERE name = $1", [secretFact]))?.value ?? null;
}

/** Loads the secret of the configured store. @throws SecretUnusable */
export function secretFor(
  config: Config,
  mayMake: boolean,
  randomBytes: RandomBytes,
): Promise<ServerSecret> {
  return loadServerSecret({
    text: config.secret,
    file: config.secretFile,
    dataFolder: config.databaseUrl === null ? config.dataDir : null,
    mayMake,
    randomBytes,
  });
}
