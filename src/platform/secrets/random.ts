import { randomBytes } from "node:crypto";
import type { RandomBytes } from "../../kernel/id.ts";

/** The machine's own randomness; the only place that draws it. */
export const systemRandom: RandomBytes = (length) => randomBytes(length);
