import { systemActor } from "../../kernel/actor.ts";
import type { WriteContext } from "./database.ts";

/** Returns the context for writes of the program; the label names the worker that writes. */
export function systemContext(label: string): WriteContext {
  return { actor: systemActor(label), requestId: null, ip: null };
}
