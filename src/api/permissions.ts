/** Roles in an organization, weakest first: each may what the one before it may. */
export const roles = ["viewer", "member", "admin", "owner"] as const;
export type Role = (typeof roles)[number];

/** Scopes of an API key. `write` contains `read`; each other pair is separate, so a key names every scope it needs. */
export const scopes = ["read", "write", "billing", "platform"] as const;
export type Scope = (typeof scopes)[number];

interface Rule {
  /** The weakest role that has the permission; null where no role in an organization has it. */
  readonly role: Role | null;
  /** The key's scope that has the permission. Every permission names one: each operation accepts both credentials. */
  readonly scope: Scope;
  readonly means: string;
}

/**
 * Who may do what: the only table of permissions. Operations name a row; docs/permissions.md prints it.
 * `write` is what an admin may. What only an owner may has a scope of its own, which only an owner can grant.
 */
export const permissions = {
  "organization:read": {
    role: "viewer",
    scope: "read",
    means: "Read everything of the organization",
  },
  "organization:write": {
    role: "admin",
    scope: "write",
    means: "Change the profile, submit for review",
  },
  "members:write": {
    role: "admin",
    scope: "write",
    means: "Invite, change and remove members below oneself",
  },
  "api-keys:write": { role: "admin", scope: "write", means: "Make and revoke API keys" },
  "customers:write": { role: "member", scope: "write", means: "Create and change customers" },
  "wallets:write": {
    role: "admin",
    scope: "write",
    means: "Register and archive receiving wallets",
  },
  "webhooks:write": { role: "admin", scope: "write", means: "Create, change and replay webhooks" },
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
  "platform:read": { role: null, scope: "platform", means: "Read across organizations" },
  "platform:write": {
    role: null,
    scope: "platform",
    means: "Decide about organizations and their billing",
  },
} as const satisfies Record<string, Rule>;

export type Permission = keyof typeof permissions;
export const permissionNames = Object.keys(permissions) as Permission[];

/** Whether a role is at least as strong as another. */
export function roleCovers(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

export function roleMay(role: Role, permission: Permission): boolean {
  const needed: Role | null = permissions[permission].role;
  return needed !== null && roleCovers(role, needed);
}

/** Whether a key with these scopes has a permission. */
export function scopesMay(held: readonly string[], permission: Permission): boolean {
  const needed: Scope = permissions[permission].scope;
  return held.includes(needed) || (needed === "read" && held.includes("write"));
}

/** The table in Markdown, for docs/permissions.md. */
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
    "Printed from the one table in `src/api/permissions.ts`. A platform permission is also held by the admins of the platform organization.",
    "",
    "A key has the scopes that it names; only `write` contains another, `read`. Who can grant a scope to a new key:",
    "",
    "- `read` and `write`: owners and admins of the organization, keys that have the scope themselves, and the operator at the terminal.",
    "- `billing`: owners of the organization and the operator at the terminal (`till key create`). No key can grant it, one with `billing` included.",
    "- `platform`: admins of the platform organization, for its keys alone, and the operator at the terminal. No key can grant it.",
    "",
    `| permission | means | ${columns.join(" | ")} |`,
    `| --- | --- | ${columns.map(() => "---").join(" | ")} |`,
    ...lines,
    "",
  ].join("\n");
}
