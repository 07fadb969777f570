import type { z } from "zod";
import {
  permissionNames,
  roleMay,
  scopesMay,
  type Permission,
  type Scope,
} from "../../api/declare/permissions.ts";
import { toIsoOrNull } from "../../kernel/clock.ts";
import { presentUser } from "../members/records.ts";
import type { MeRecord } from "./records.ts";
import type { CredentialView, OwnOrganization } from "./service.ts";

const isOfPlatform = (permission: Permission) => permission.startsWith("platform:");

export function presentMe(view: CredentialView): z.input<typeof MeRecord> {
  return {
    type: view.type,
    user: view.type === "user" ? presentUser(view.user) : null,
    apiKey: view.type === "api_key" ? presentKey(view.key) : null,
    organizations: view.organizations.map((organization) => ({
      organizationId: organization.id,
      organizationName: organization.name,
      organizationStatus: organization.status,
      role: organization.role,
      permissions: permissionNames.filter(
        (permission) => !isOfPlatform(permission) && mayThere(view, organization, permission),
      ),
    })),
    platformPermissions: permissionNames.filter(
      (permission) => isOfPlatform(permission) && mayAcross(view, permission),
    ),
  };
}

function presentKey(key: Extract<CredentialView, { type: "api_key" }>["key"]) {
  return {
    id: key.id,
    name: key.label,
    scopes: [...key.scopes] as Scope[],
    createdBy: key.createdBy,
    expiresAt: toIsoOrNull(key.expiresAt),
  };
}

function mayThere(view: CredentialView, { role }: OwnOrganization, permission: Permission) {
  if (view.type === "api_key") return scopesMay(view.key.scopes, permission);
  return role !== null && roleMay(role, permission);
}

function mayAcross(view: CredentialView, permission: Permission): boolean {
  return view.type === "api_key"
    ? scopesMay(view.key.scopes, permission)
    : view.user.platformRole === "admin";
}
