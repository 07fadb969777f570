import { systemActor } from "../../kernel/actor.ts";
import type { WriteContext } from "./database.ts";

/** What the program writes under when it does something by itself; the label names what does it. */
export function systemContext(label: string): WriteContext {
  return { actor: systemActor(label), requestId: null, ip: null };
}
