import { hostname, userInfo } from "node:os";
import type { OperatorActor } from "../kernel/actor.ts";

/** Returns the operating system user as the actor of the audit log. */
export function operator(): OperatorActor {
  return { type: "operator", id: null, label: `${userName()}@${hostname()}` };
}

/** Returns the user's name, or the uid if it has none, as in some containers. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${String(process.getuid?.() ?? "unknown")}`;
  }
}
