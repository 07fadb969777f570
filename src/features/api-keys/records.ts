import { z } from "zod";
import {
  datetime,
  id,
  instant,
  line,
  listRecord,
  record,
  requestRecord,
  responseRecord,
} from "../../api/declare/record.ts";
import { scopes } from "../../api/declare/permissions.ts";

export const ApiKeyRecord = responseRecord("ApiKey", {
  id: id("apiKey"),
  name: z.string(),
  prefix: z.string(),
  scopes: z.array(z.enum(scopes)),
  createdAt: datetime(),
  lastUsedAt: datetime().nullable(),
  expiresAt: datetime().nullable(),
  revokedAt: datetime().nullable(),
});

export const ApiKeyListRecord = listRecord("ApiKeyList", ApiKeyRecord);

export const CreatedApiKeyRecord = record(
  "CreatedApiKey",
  ApiKeyRecord.extend({ secret: z.string() }),
);

export const CreateApiKeyRequest = requestRecord("CreateApiKeyRequest", {
  name: line(120),
  scopes: z
    .array(z.enum(scopes))
    .min(1, { error: "must name at least one scope" })
    .refine((value) => new Set(value).size === value.length, { error: "must not repeat a scope" }),
  expiresAt: instant().nullish(),
});
