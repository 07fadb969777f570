import type { ApiKeyActor, UserActor } from "../kernel/actor.ts";
import type { Id } from "../kernel/id.ts";
import type { Permission, Role } from "./permissions.ts";

/** Who may call an operation: a closed set, without a default. */
export type Access = PublicAccess | AuthenticatedAccess | OrganizationAccess | PlatformAccess;

interface PublicAccess {
  readonly kind: "public";
}
interface AuthenticatedAccess {
  readonly kind: "authenticated";
  /** Whether a key needs the scope to read, or to write. */
  readonly needsScope: boolean;
}
interface OrganizationAccess {
  readonly kind: "organization";
  readonly permission: Permission;
}
interface PlatformAccess {
  readonly kind: "platform";
  readonly permission: Permission;
}

/** No credential: the operation itself decides, by a password or an unguessable id. */
export const publicAccess: PublicAccess = { kind: "public" };

/** Any good credential; of a key, one whose scopes read, or for a write those that write. */
export const authenticated: AuthenticatedAccess = { kind: "authenticated", needsScope: true };

/** Any good credential, of a key whatever its scopes. */
export const anyCredential: AuthenticatedAccess = { kind: "authenticated", needsScope: false };

/** A credential of the organization in the path that holds this permission there. */
export function organization(permission: Permission): OrganizationAccess {
  return { kind: "organization", permission };
}

/** An admin of the platform organization, or a key with scope `platform`. */
export function platform(permission: Permission): PlatformAccess {
  return { kind: "platform", permission };
}

/** A credential that was found good. */
export type Principal = UserActor | ApiKeyActor;

/** What a principal is in one organization. */
export interface Standing {
  readonly organizationId: Id<"organization">;
  readonly organizationStatus: "active" | "suspended";
  /** The role of a member; null for an API key, whose scopes count instead. */
  readonly role: Role | null;
}

/** What authorization asks of the features that know users, members and keys. */
export interface Gatekeeper {
  /** The principal of an access token; null when it is not good (any more). */
  session(accessToken: string): Promise<Principal | null>;
  /** The principal of an API key and its standing at home; null when it is not good (any more). */
  apiKey(secret: string): Promise<{ principal: ApiKeyActor; standing: Standing } | null>;
  /** A user's standing in an organization; null when not a member. */
  membership(userId: Id<"user">, organizationId: Id<"organization">): Promise<Standing | null>;
}
