import { hostname, userInfo } from "node:os";
import type { OperatorActor } from "../kernel/actor.ts";

/** Whoever sits at the terminal, as the audit log names them. */
export function operator(): OperatorActor {
  return { type: "operator", id: null, label: `${userName()}@${hostname()}` };
}

/** A container may run under a number that no user has. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${String(process.getuid?.() ?? "unknown")}`;
  }
}
