import { perApp, type App, type InTx } from "../../app.ts";
import type { Reader, WriteContext } from "../../platform/database/database.ts";
import { meta } from "../../platform/database/schema/table.ts";
import { deriveSigningKey, type SigningKey } from "../../platform/secrets/signing-keys.ts";
import type { KeySet } from "./signed-text.ts";

// The keys that sign receipts derive from the secret. The store keeps only their number.

/** The fact of the store that counts the keys; a store without it has one. */
const generationFact = "receipt_key_generation";

/** The keys that were derived, by their generation. */
const derivedKeys = perApp(() => new Map<number, Promise<SigningKey>>());

/** Returns the key that signs now. */
export async function currentReceiptKey(app: App): Promise<SigningKey> {
  return keyOf(app, await readGeneration(app.db));
}

/**
 * Returns the public keys with which receipts and payment requests can be verified, the current one first. Replaced ones
 * are among them, so that what they signed stays valid.
 */
export async function listReceiptKeys(app: App): Promise<KeySet> {
  return keysUpTo(app, await readGeneration(app.db));
}

/** Replaces the signing key, and returns the public keys. Documents that earlier keys signed stay valid. */
export function rotateReceiptKey(app: App, context: WriteContext): Promise<KeySet> {
  return app.db.write(context, async (tx) => {
    await tx.insertIfAbsent(meta, { name: generationFact, value: "1" });
    await tx.lockOne(meta, "WHERE name = $1", [generationFact]);
    const before = await readGeneration(tx);
    const after = before + 1;
    await tx.update(meta, { value: String(after) }, "WHERE name = $1", [generationFact]);
    const [old, next] = await Promise.all([keyOf(app, before), keyOf(app, after)]);
    app.journal.record(tx, app.clock.now(), {
      action: "receipt_key.rotated",
      organizationId: null,
      subjectType: "receipt_key",
      subjectId: next.publicKey.kid,
      changes: { kid: { from: old.publicKey.kid, to: next.publicKey.kid } },
    });
    return keysUpTo(app, after);
  });
}

function keyOf(app: InTx, generation: number): Promise<SigningKey> {
  const derived = derivedKeys(app);
  const known = derived.get(generation) ?? deriveSigningKey(app.secret, generation);
  derived.set(generation, known);
  return known;
}

async function keysUpTo(app: InTx, generation: number): Promise<KeySet> {
  const generations = Array.from({ length: generation }, (_, index) => generation - index);
  const keys = await Promise.all(generations.map((each) => keyOf(app, each)));
  return { keys: keys.map(({ publicKey }) => publicKey) };
}

async function readGeneration(reader: Reader): Promise<number> {
  const row = await reader.findOne(meta, "WHERE name = $1", [generationFact]);
  return row === null ? 1 : Number(row.value);
}
