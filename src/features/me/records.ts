import { z } from "zod";
import { permissionNames, roles, scopes } from "../../api/permissions.ts";
import { datetime, id, responseRecord } from "../../api/record.ts";
import { UserRecord } from "../members/index.ts";

const permission = () => z.enum(permissionNames);

export const MeRecord = responseRecord("Me", {
  type: z.enum(["user", "api_key"]),
  user: UserRecord.nullable().meta({ description: "Null for an API key." }),
  apiKey: responseRecord("MeApiKey", {
    id: id("apiKey"),
    name: z.string(),
    scopes: z.array(z.enum(scopes)),
    createdBy: id("user").nullable().meta({ description: "Null: the operator made the key." }),
    expiresAt: datetime().nullable().meta({ description: "Null: the key does not expire." }),
  })
    .nullable()
    .meta({ description: "Null for a user." }),
  organizations: z
    .array(
      responseRecord("MeOrganization", {
        organizationId: id("organization"),
        organizationName: z.string(),
        organizationStatus: z.enum(["active", "suspended"]).meta({
          description: "A suspended organization can be read; every write is refused.",
        }),
        role: z
          .enum(roles)
          .nullable()
          .meta({ description: "Null for an API key: its scopes count." }),
        permissions: z.array(permission()).meta({
          description:
            "What the credential may do in the organization; docs/permissions.md explains each.",
        }),
      }),
    )
    .meta({
      description: "A user's organizations, up to 100, oldest membership first; a key's one.",
    }),
  platformPermissions: z.array(permission()).meta({
    description: "What the credential may do across organizations, in the operations below /admin.",
  }),
});
