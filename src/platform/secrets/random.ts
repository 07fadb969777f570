import { randomBytes, randomFillSync } from "node:crypto";
import type { RandomBytes } from "../../kernel/id.ts";

/** Bytes that are drawn at once, because a call of the system costs more than they do. */
const poolBytes = 4_096;
/** Longer draws do not use the pool. */
const pooledMax = 64;

const pool = Buffer.alloc(poolBytes);
let used = poolBytes;

/** The system's source of randomness; nothing else reads it. */
export const systemRandom: RandomBytes = (length) => {
  if (length > pooledMax) return randomBytes(length);
  if (used + length > poolBytes) {
    randomFillSync(pool);
    used = 0;
  }
  const drawn = Buffer.from(pool.subarray(used, used + length));
  // The pool must not keep what may become a secret.
  pool.fill(0, used, used + length);
  used += length;
  return drawn;
};
