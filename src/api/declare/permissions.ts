/** Roles in an organization, weakest first. Each role includes the permissions of the weaker ones. */
export const roles = ["viewer", "member", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

/** Scopes of an API key. `write` includes `read`; otherwise a key must name every scope that it needs. */
export const scopes = ["read", "write", "billing", "platform"] as const;
export type Scope = (typeof scopes)[number];

interface Rule {
  /** The weakest role that has the permission; null if no role in an organization has it. */
  readonly role: Role | null;
  /** The scope that grants the permission to an API key; null if no key can have it. */
  readonly scope: Scope | null;
  readonly means: string;
}

/**
 * The only table of permissions. Operations name a row; docs/permissions.md is generated from it. The scope `write`
 * matches the role admin. Permissions of owners have their own scope, which only an owner can grant.
 */
export const permissions = {
  "organization:read": {
    role: "viewer",
    scope: "read",
    means: "Read everything in the organization",
  },
  "organization:write": {
    role: "admin",
    scope: "write",
    means: "Change the profile and submit it for review",
  },
  "members:write": {
    role: "admin",
    scope: "write",
    means: "Invite, change and remove members with a lower role",
  },
  "api-keys:write": { role: "admin", scope: "write", means: "Create and revoke API keys" },
  "customers:write": { role: "member", scope: "write", means: "Create and change customers" },
  "wallets:write": {
    role: "admin",
    scope: "write",
    means: "Register and archive receiving wallets",
  },
  "default-wallets:write": {
    role: "owner",
    scope: null,
    means: "Choose the wallets at which invoices without a `walletId` are paid",
  },
  "webhooks:write": {
    role: "admin",
    scope: "write",
    means: "Create and change webhook endpoints, and replay deliveries",
  },
  "invoices:write": {
    role: "member",
    scope: "write",
    means: "Create, issue, change and cancel invoices",
  },
  "payments:decide": {
    role: "member",
    scope: "write",
    means: "Accept, reject and allocate payments",
  },
  "billing:write": { role: "owner", scope: "billing", means: "Select and change the plan" },
  "platform:read": { role: null, scope: "platform", means: "Read data of all organizations" },
  "platform:write": {
    role: null,
    scope: "platform",
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
  const needed: Scope | null = permissions[permission].scope;
  if (needed === null) return false;
  return held.includes(needed) || (needed === "read" && held.includes("write"));
}

/** Renders the permissions table in Markdown, for docs/permissions.md. */
export function permissionsReference(): string {
  const mark = (may: boolean) => (may ? "yes" : "");
  const lines = Object.entries(permissions).map(([name, rule]) => {
    const permission = name as Permission;
    const byRole = roles.map((role) => mark(roleMay(role, permission)));
    const byScope = scopes.map((scope) => mark(scopesMay([scope], permission)));
    return `| \`${name}\` | ${rule.means} | ${[...byRole, ...byScope].join(" | ")} |`;
  });
  const columns = [...roles, ...scopes.map((scope) => `key \`${scope}\``)];
  return [
    "# Permissions",
    "",
    "Admins of the platform organization also hold every platform permission.",
    "",
    "A key has exactly the scopes it names, except that `write` includes `read`. Who can grant a scope to a new key:",
    "",
    "- `read` and `write`: owners and admins of the organization, keys that have the scope themselves, and the operator at the terminal.",
    "- `billing`: owners of the organization and the operator at the terminal (`till key create`). No key can grant it, not even one with `billing`.",
    "- `platform`: admins of the platform organization, only to that organization's keys, and the operator at the terminal. No key can grant it.",
    "",
    "No key has `default-wallets:write`, whatever its scopes: a stolen key must not choose where payers are sent. Owners have it when they are logged in, and so has the operator at the terminal (`till wallet default`). For the same reason only they can name wallets in the `paymentOptions` of the payment policy.",
    "",
    `| permission | means | ${columns.join(" | ")} |`,
    `| --- | --- | ${columns.map(() => "---").join(" | ")} |`,
    ...lines,
    "",
  ].join("\n");
}
