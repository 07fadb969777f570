import * as z from "zod";
import {
  anyCredential,
  permissionNames,
  roleMay,
  roles,
  scopes,
  scopesMay,
  type Permission,
  type Scope,
} from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import { datetime, describeFields, id, responseRecord } from "../../http/declare/record.ts";
import { toIsoOrNull } from "../../kernel/clock.ts";
import { presentUser, UserRecord } from "../members/records.ts";
import { describeCredential, type CredentialView, type OwnOrganization } from "./me.ts";

const permission = () => z.enum(permissionNames);

const MeRecord = responseRecord("Me", {
  type: z.enum(["user", "api_key"]),
  user: UserRecord.nullable().meta({ description: "Null for an API key." }),
  apiKey: describeFields(
    responseRecord("MeApiKey", {
      id: id("apiKey"),
      name: z.string(),
      scopes: z.array(z.enum(scopes)),
      createdBy: id("user")
        .nullable()
        .meta({ description: "Null if the operator created the key." }),
      expiresAt: datetime().nullable().meta({
        description:
          "Time from which the key is refused: ISO 8601, UTC; null if it does not expire.",
      }),
    }),
    {
      name: "The key's name.",
      scopes: "The scopes of the key: it may do what any of them allows.",
    },
  )
    .nullable()
    .meta({ description: "Null for a user." }),
  organizations: z
    .array(
      responseRecord("MeOrganization", {
        organizationId: id("organization"),
        organizationName: z.string(),
        organizationStatus: z.enum(["active", "suspended"]).meta({
          description: "A suspended organization is read-only; every write is refused.",
        }),
        role: z
          .enum(roles)
          .nullable()
          .meta({ description: "Null for an API key, which has scopes instead." }),
        permissions: z.array(permission()).meta({
          description:
            "The credential's permissions in the organization. The instance explains them at `/docs/permissions`.",
        }),
      }),
    )
    .meta({
      description:
        "A user's organizations, at most 100, oldest membership first; for an API key, its organization.",
    }),
  platformPermissions: z.array(permission()).meta({
    description: "The credential's permissions for operations below /admin.",
  }),
});

const isOfPlatform = (permission: Permission) => permission.startsWith("platform:");

export const meOperations = [
  operation({
    id: "getMe",
    group: "Auth",
    method: "GET",
    path: "/me",
    summary: "Get the credential's identity and permissions",
    description:
      "Works with any valid credential, whatever its role or scopes. A user gets their organizations and roles; an API key gets its scopes and its organization; both with the resulting permissions.",
    access: anyCredential,
    response: { status: 200, record: MeRecord },
    errors: [],
    handle: (app, call) => describeCredential(app, call.actor),
    present: presentMe,
  }),
];

export const meModule: FeatureModule = {
  operations: meOperations,
};

describeFields(MeRecord, {
  type: "Whether the credential is a user's access token or an API key.",
});

function presentMe(view: CredentialView): z.input<typeof MeRecord> {
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
