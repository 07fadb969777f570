import type { ApiKeyActor, UserActor } from "../../kernel/actor.ts";
import type { Id } from "../../kernel/id.ts";
import type { Permission, Role } from "./permissions.ts";

/** The callers that may use an operation. A closed set; every operation must name one. */
export type Access = PublicAccess | AuthenticatedAccess | OrganizationAccess | PlatformAccess;

interface PublicAccess {
  readonly kind: "public";
}
interface AuthenticatedAccess {
  readonly kind: "authenticated";
  /** The permission that an API key needs; null if its scopes do not matter. Every user has it. */
  readonly permission: Permission | null;
}
interface OrganizationAccess {
  readonly kind: "organization";
  readonly permission: Permission;
}
interface PlatformAccess {
  readonly kind: "platform";
  readonly permission: Permission;
}

/** Needs no credential: the operation checks a password or an unguessable id itself. */
export const publicAccess: PublicAccess = { kind: "public" };

/** Accepts every user, and API keys with this permission, which every role has. */
export function authenticated(permission: Permission): AuthenticatedAccess {
  return { kind: "authenticated", permission };
}

/**
 * Accepts any valid credential; the scopes of an API key do not matter. For operations that tell a credential about
 * itself, or that refuse every key because only users have what they change.
 */
export const anyCredential: AuthenticatedAccess = { kind: "authenticated", permission: null };

/** Accepts a credential that holds this permission in the organization named in the path. */
export function organization(permission: Permission): OrganizationAccess {
  return { kind: "organization", permission };
}

/** Accepts admins of the platform organization and API keys with the scope `platform`. */
export function platform(permission: Permission): PlatformAccess {
  return { kind: "platform", permission };
}

/** The user or API key behind a valid credential. */
export type Principal = UserActor | ApiKeyActor;

/** A principal's role in one organization, with that organization's status. */
export interface MembershipAccess {
  readonly organizationId: Id<"organization">;
  readonly organizationStatus: "active" | "suspended";
  /** Whether the platform has approved the organization, which gives it a larger rate limit. */
  readonly isApproved: boolean;
  /** The member's role; null for an API key, which has scopes instead. */
  readonly role: Role | null;
}

/** The lookups that authorization needs from the features that own users, members and API keys. */
export interface Gatekeeper {
  /** Returns the principal of an access token; null if the token is invalid, expired or revoked. */
  session(accessToken: string): Promise<Principal | null>;
  /** Returns an API key's principal and its standing in its own organization; null if the key is not valid. */
  apiKey(secret: string): Promise<{ principal: ApiKeyActor; standing: MembershipAccess } | null>;
  /** Returns a user's standing in an organization; null if the user is not a member. */
  membership(
    userId: Id<"user">,
    organizationId: Id<"organization">,
  ): Promise<MembershipAccess | null>;
}
