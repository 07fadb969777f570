import type { Id } from "./id.ts";

/**
 * Who does something. HTTP, the command line and jobs each obtain one before they call a service;
 * the audit log names it.
 */
export type Actor = UserActor | ApiKeyActor | OperatorActor | SystemActor;

export interface UserActor {
  readonly type: "user";
  readonly id: Id<"user">;
  /** The e-mail address. */
  readonly label: string;
  readonly sessionId: Id<"session">;
  readonly platformRole: "admin" | "none";
}

export interface ApiKeyActor {
  readonly type: "api_key";
  readonly id: Id<"apiKey">;
  /** The key's name. */
  readonly label: string;
  readonly organizationId: Id<"organization">;
  readonly scopes: readonly string[];
  /** The user who made the key; null when the operator did. */
  readonly createdBy: Id<"user"> | null;
  /** When the key stops working; null: never. */
  readonly expiresAt: number | null;
}

/** Somebody with a shell on the machine: the command line. */
export interface OperatorActor {
  readonly type: "operator";
  readonly id: null;
  /** The operating system's user and host. */
  readonly label: string;
}

/** The program itself: a job, the watcher, or a payer's public request. */
export interface SystemActor {
  readonly type: "system";
  readonly id: null;
  readonly label: string;
}

export function systemActor(label: string): SystemActor {
  return { type: "system", id: null, label };
}
