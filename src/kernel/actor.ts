import type { Id } from "./id.ts";

/**
 * The party that acts. HTTP, the command line and jobs each create one before they call a function; the audit log
 * records it.
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
  /** The user who created the key; null if the operator did. */
  readonly createdBy: Id<"user"> | null;
  /** When the key expires; null: never. */
  readonly expiresAt: number | null;
}

/** A person with a shell on the server, who uses the command line. */
export interface OperatorActor {
  readonly type: "operator";
  readonly id: null;
  /** The operating system's user and host names. */
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
