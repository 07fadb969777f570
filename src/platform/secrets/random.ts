import { randomBytes } from "node:crypto";
import type { RandomBytes } from "../../kernel/id.ts";

/** The system's source of randomness; nothing else reads it. */
export const systemRandom: RandomBytes = (length) => randomBytes(length);
