import type { Scope } from "../../api/declare/permissions.ts";
import type { Id } from "../../kernel/id.ts";
import { json, table, text, time, type RowOf } from "../../platform/database/schema/table.ts";

export const apiKeys = table(
  "api_keys",
  {
    id: text<Id<"apiKey">>(),
    organizationId: text<Id<"organization">>(),
    name: text(),
    /** Beginning of the secret, so that its owner can recognize it. */
    prefix: text(),
    /** SHA-256 of the secret; with 256 random bits no slow hash is needed. */
    secretHash: text(),
    scopes: json<readonly Scope[]>(),
    /** The user who created the key; null if the operator did. */
    createdBy: text<Id<"user">>().nullable(),
    createdAt: time(),
    lastUsedAt: time().nullable(),
    expiresAt: time().nullable(),
    revokedAt: time().nullable(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "api_keys_secret", columns: ["secretHash"], unique: true },
      { name: "api_keys_organization", columns: ["organizationId", "id"] },
    ],
  },
);

export type ApiKeyRow = RowOf<typeof apiKeys>;
