import type { ApiKeyActor, UserActor } from "../../kernel/actor.ts";
import type { Id } from "../../kernel/id.ts";

/** Roles in an organization, weakest first. Each role includes the permissions of the weaker ones. */
export const roles = ["viewer", "member", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

/**
 * The scopes of an API key, with what each is for. A key has the permissions of the scopes that it names, and no others.
 * `shop` is for the program of a shop, and those that follow it each write one thing.
 */
const scopeMeanings = {
  read: "reads everything in the organization",
  write: "does everything that an admin may, which includes `read`",
  shop: "sells: creates customers, invoices and payment links, and records the refunds that payers asked for",
  invoices: "creates, issues, changes and cancels invoices",
  customers: "creates and changes customers",
  links: "creates and disables payment links",
  "payments:decide": "decides on payments and transfers",
  refunds: "records refunds, names the transactions that pay them, and rejects them",
  webhooks: "changes webhook endpoints, and replays deliveries",
  wallets: "registers and archives wallets",
  keys: "creates and revokes API keys; a new one can do no more than the key that creates it",
  members: "invites, changes and removes members and viewers",
  exports: "exports lists as CSV",
  settings: "changes the profile and the payment policy",
  billing: "selects and changes the plan",
  platform: "manages all organizations, as a key of the platform organization",
} as const;
export type Scope = keyof typeof scopeMeanings;
export const scopes = Object.keys(scopeMeanings) as [Scope, ...Scope[]];

/** A row of the table of permissions. */
export type Rule = {
  /** The weakest role that has the permission; null if no role in an organization has it. */
  readonly role: Role | null;
  /** Completes "The caller may": begins with a verb. */
  readonly means: string;
} & (
  | {
      /** The scopes that each give the permission to an API key. */
      readonly scopes: readonly [Scope, ...Scope[]];
    }
  | {
      readonly scopes: readonly [];
      /** The reason why no API key has the permission, as a sentence. */
      readonly noKey: string;
    }
);

/**
 * The only table of permissions. Each operation names one row; docs/permissions.md is generated from it. `write` stands in
 * each row that an admin has, and `read` in each of a viewer that only reads. A narrow scope stands in the rows of the
 * thing that it writes, and in those that a program must read for it. No key grants the permissions of owners, nor those
 * of the platform.
 */
export const permissions = {
  "organization:read": {
    role: "viewer",
    scopes: ["read", "write", "shop", "settings"],
    means: "Read the organization and its payment policy",
  },
  "organization:write": {
    role: "admin",
    scopes: ["write", "settings"],
    means: "Change the profile and the payment policy, and submit the profile for review",
  },
  "organizations:create": {
    role: "viewer",
    scopes: ["write"],
    means: "Create another organization",
  },
  "networks:read": {
    role: "viewer",
    scopes: [
      "read",
      "write",
      "shop",
      "invoices",
      "links",
      "payments:decide",
      "refunds",
      "wallets",
      "settings",
    ],
    means: "Read the networks with their tokens",
  },
  "members:read": {
    role: "viewer",
    scopes: ["read", "write", "members"],
    means: "Read members and invitations",
  },
  "members:write": {
    role: "admin",
    scopes: ["write", "members"],
    means: "Invite, change and remove members with a lower role",
  },
  "api-keys:read": {
    role: "viewer",
    scopes: ["read", "write", "keys"],
    means: "Read API keys, without their secrets",
  },
  "api-keys:write": {
    role: "admin",
    scopes: ["write", "keys"],
    means: "Create and revoke API keys",
  },
  "customers:read": {
    role: "viewer",
    scopes: ["read", "write", "shop", "customers"],
    means: "Read customers",
  },
  "customers:write": {
    role: "member",
    scopes: ["write", "shop", "customers"],
    means: "Create and change customers",
  },
  "wallets:read": {
    role: "viewer",
    scopes: ["read", "write", "wallets"],
    means: "Read receiving wallets and their capacity",
  },
  "wallets:write": {
    role: "admin",
    scopes: ["write", "wallets"],
    means: "Register and archive receiving wallets",
  },
  "default-wallets:write": {
    role: "owner",
    scopes: [],
    noKey:
      "A stolen key must not choose where payers are sent: an owner does that who is logged in, or the operator with till wallet default. For the same reason only they name wallets in the paymentOptions of the payment policy.",
    means: "Choose the default wallets and their reserves",
  },
  "webhooks:read": {
    role: "viewer",
    scopes: ["read", "write", "webhooks"],
    means: "Read webhook endpoints, without their secrets, and deliveries",
  },
  "webhooks:write": {
    role: "admin",
    scopes: ["write", "webhooks"],
    means: "Create and change webhook endpoints, and replay deliveries",
  },
  "events:read": {
    role: "viewer",
    scopes: ["read", "write", "shop", "webhooks"],
    means: "Read events and their types",
  },
  "invoices:read": {
    role: "viewer",
    scopes: ["read", "write", "shop", "invoices", "links", "payments:decide", "refunds"],
    means: "Read invoices",
  },
  "invoices:write": {
    role: "member",
    scopes: ["write", "shop", "invoices"],
    means: "Create, issue, change and cancel invoices",
  },
  "payment-links:read": {
    role: "viewer",
    scopes: ["read", "write", "shop", "links"],
    means: "Read payment links",
  },
  "payment-links:write": {
    role: "member",
    scopes: ["write", "shop", "links"],
    means: "Create and disable payment links",
  },
  "payments:read": {
    role: "viewer",
    scopes: ["read", "write", "shop", "payments:decide", "refunds"],
    means: "Read payments",
  },
  "payments:decide": {
    role: "member",
    scopes: ["write", "payments:decide"],
    means: "Accept, reject, allocate and reverse payments",
  },
  "transfers:read": {
    role: "viewer",
    scopes: ["read", "write", "payments:decide"],
    means: "Read transfers, which include the inbox",
  },
  "refunds:read": {
    role: "viewer",
    scopes: ["read", "write", "shop", "payments:decide", "refunds"],
    means: "Read refunds",
  },
  "refunds:request": {
    role: "member",
    scopes: ["write", "shop", "refunds"],
    means: "Record refunds that payers asked for",
  },
  "refunds:send": {
    role: "member",
    scopes: ["write", "refunds"],
    means: "Name the transactions that pay refunds, and reject refunds",
  },
  "exports:read": {
    role: "viewer",
    scopes: ["read", "write", "exports"],
    means: "Export lists as CSV",
  },
  "analytics:read": {
    role: "viewer",
    scopes: ["read", "write"],
    means: "Read statistics and the usage of the plan",
  },
  "audit-logs:read": {
    role: "viewer",
    scopes: ["read", "write"],
    means: "Read the audit log",
  },
  "billing:read": {
    role: "viewer",
    scopes: ["read", "write"],
    means: "Read the plans, the subscription and the platform invoices",
  },
  "billing:write": { role: "owner", scopes: ["billing"], means: "Select and change the plan" },
  "platform:read": { role: null, scopes: ["platform"], means: "Read data of all organizations" },
  "platform:write": {
    role: null,
    scopes: ["platform"],
    means: "Manage organizations and their billing",
  },
} as const satisfies Record<string, Rule>;

export type Permission = keyof typeof permissions;
export const permissionNames = Object.keys(permissions) as Permission[];

/** Whether a role is at least as strong as the needed one. */
export function roleCovers(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

export function roleMay(role: Role, permission: Permission): boolean {
  const needed: Role | null = permissions[permission].role;
  return needed !== null && roleCovers(role, needed);
}

/** Whether a key with these scopes has the permission. */
export function scopesMay(held: readonly string[], permission: Permission): boolean {
  const enough: readonly string[] = permissions[permission].scopes;
  return held.some((scope) => enough.includes(scope));
}

/** Returns the sentence that refuses a permission to a key with these scopes, and says which scopes would do. */
export function keyRefusal(rule: Rule, held: readonly string[]): string {
  if ("noKey" in rule) return `No API key may do this. ${rule.noKey}`;
  return `This needs an API key with the scope ${listed(rule.scopes)}; this key has ${held.join(", ")}.`;
}

/** Joins alternatives: `a, b or c`. */
export function listed(words: readonly string[]): string {
  const [last = "", ...others] = [...words].reverse();
  return others.length === 0 ? last : `${others.reverse().join(", ")} or ${last}`;
}

/** Renders the tables of permissions and scopes in Markdown, for docs/permissions.md. */
export function permissionsReference(): string {
  const quoted = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(", ");
  return [
    "# Permissions",
    "",
    "A role has its own permissions and those of the weaker roles: `viewer`, `member`, `admin`, `owner`. Admins of the platform organization also hold every platform permission.",
    "",
    "## Scopes of API keys",
    "",
    "A key may do what one of its scopes allows, and nothing else. Give the program of a shop the scope `shop`; a stolen key then cannot register a wallet, decide on a payment or send a refund.",
    "",
    "| scope | a key with it | permissions |",
    "| --- | --- | --- |",
    ...scopes.map((scope) => {
      const held = permissionNames.filter((name) => scopesMay([scope], name));
      return `| \`${scope}\` | ${scopeMeanings[scope]} | ${quoted(held)} |`;
    }),
    "",
    "A key that can make no invoices cannot act as their payer either: to it, `checkoutId`, `checkoutUrl` and the subscription's `openInvoice` are null, in every record, list and event.",
    "",
    "Nobody creates a key that can do more than the creator:",
    "",
    "- A logged-in owner or admin grants the scopes whose permissions the role has: only owners grant `billing`.",
    "- A key with `keys` or `write` grants scopes whose permissions are among its own, and no longer life than its own. No key grants `billing` or `platform`, not even one that has them.",
    "- `platform` is granted by admins of the platform organization, only to that organization's keys.",
    "- The operator at the terminal (`till key create`) grants every scope, `platform` only to keys of the platform organization.",
    "",
    "A key with `members` or `write` hands out the roles `viewer` and `member`, whose permissions may be more than its own: give it only to a program that may have them.",
    "",
    "## All permissions",
    "",
    "| permission | allows to | weakest role | scopes of keys |",
    "| --- | --- | --- | --- |",
    ...permissionNames.map((name) => {
      const rule = permissions[name] as Rule;
      const keys = "noKey" in rule ? `none: ${rule.noKey}` : quoted(rule.scopes);
      const means = rule.means.charAt(0).toLowerCase() + rule.means.slice(1);
      return `| \`${name}\` | ${means} | ${rule.role === null ? "" : `\`${rule.role}\``} | ${keys} |`;
    }),
    "",
  ].join("\n");
}

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
  /** Returns an API key's principal and its membership of its own organization; null if the key is not valid. */
  apiKey(secret: string): Promise<{ principal: ApiKeyActor; membership: MembershipAccess } | null>;
  /** Returns a user's membership of an organization; null if the user is not a member. */
  membership(
    userId: Id<"user">,
    organizationId: Id<"organization">,
  ): Promise<MembershipAccess | null>;
}
