import type { Clock } from "../../kernel/clock.ts";
import type { Database, Reader, WriteContext } from "../../platform/database/database.ts";
import { meta } from "../../platform/database/schema/meta.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { ServerSecret } from "../../platform/secrets/server-secret.ts";
import { deriveSigningKey, type SigningKey } from "../../platform/secrets/signing-keys.ts";
import type { KeySet } from "./signed-text.ts";

/** The fact of the store that counts the keys; a store without it has one. */
const generationFact = "receipt_key_generation";

export interface ReceiptKeys {
  /** Returns the key that signs now. */
  current(): Promise<SigningKey>;
  /** Returns the public keys, including replaced ones, so that what they signed stays valid. */
  published(): Promise<KeySet>;
  /** Replaces the key, and returns the public keys. */
  rotate(context: WriteContext): Promise<KeySet>;
}

/** Creates the access to the keys that sign receipts. The store keeps only their number: they derive from the secret. */
export function makeReceiptKeys(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly secret: ServerSecret;
}): ReceiptKeys {
  const { db, clock, journal, secret } = deps;
  const derived = new Map<number, Promise<SigningKey>>();

  function keyOf(generation: number): Promise<SigningKey> {
    const known = derived.get(generation) ?? deriveSigningKey(secret, generation);
    derived.set(generation, known);
    return known;
  }

  async function upTo(generation: number): Promise<KeySet> {
    const generations = Array.from({ length: generation }, (_, place) => generation - place);
    const keys = await Promise.all(generations.map(keyOf));
    return { keys: keys.map(({ publicKey }) => publicKey) };
  }

  return {
    current: async () => keyOf(await readGeneration(db)),

    published: async () => upTo(await readGeneration(db)),

    rotate: (context) =>
      db.write(context, async (tx) => {
        await tx.insertIfAbsent(meta, { name: generationFact, value: "1" });
        await tx.lockOne(meta, "WHERE name = $1", [generationFact]);
        const before = await readGeneration(tx);
        const after = before + 1;
        await tx.update(meta, { value: String(after) }, "WHERE name = $1", [generationFact]);
        const [old, next] = await Promise.all([keyOf(before), keyOf(after)]);
        journal.record(tx, clock.now(), {
          action: "receipt_key.rotated",
          organizationId: null,
          subjectType: "receipt_key",
          subjectId: next.publicKey.kid,
          changes: { kid: { from: old.publicKey.kid, to: next.publicKey.kid } },
        });
        return upTo(after);
      }),
  };
}

async function readGeneration(reader: Reader): Promise<number> {
  const row = await reader.findOne(meta, "WHERE name = $1", [generationFact]);
  return row === null ? 1 : Number(row.value);
}
