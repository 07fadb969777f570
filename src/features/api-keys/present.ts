import type { z } from "zod";
import { toIso, toIsoOrNull } from "../../kernel/clock.ts";
import type { ApiKeyRecord, CreatedApiKeyRecord } from "./records.ts";
import type { CreatedApiKey } from "./service.ts";
import type { ApiKeyRow } from "./table.ts";

export function presentApiKey(row: ApiKeyRow): z.input<typeof ApiKeyRecord> {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    scopes: [...row.scopes],
    createdAt: toIso(row.createdAt),
    lastUsedAt: toIsoOrNull(row.lastUsedAt),
    expiresAt: toIsoOrNull(row.expiresAt),
    revokedAt: toIsoOrNull(row.revokedAt),
  };
}

export function presentCreatedApiKey(created: CreatedApiKey): z.input<typeof CreatedApiKeyRecord> {
  return { ...presentApiKey(created.key), secret: created.secret };
}
