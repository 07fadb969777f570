import * as z from "zod";
import {
  datetime,
  describeFields,
  id,
  instant,
  line,
  listRecord,
  presentRow,
  record,
  requestRecord,
  responseRecord,
} from "../../http/declare/record.ts";
import { scopes } from "../../http/declare/permissions.ts";
import type { ApiKeyRow } from "./store.ts";

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
describeFields(ApiKeyRecord, {
  name: "The key's name.",
  prefix: "The first characters of the secret, by which its owner recognizes the key.",
  scopes: "The scopes of the key: it may do what any of them allows.",
  lastUsedAt: "Time of the last use, to the minute: ISO 8601, UTC; null if it was never used.",
  expiresAt: "Time from which the key is refused: ISO 8601, UTC; null if it does not expire.",
  revokedAt: "Time of the revocation: ISO 8601, UTC; null unless revoked.",
});

export function presentApiKey(row: ApiKeyRow): z.input<typeof ApiKeyRecord> {
  return presentRow(ApiKeyRecord, row);
}

export const ApiKeyListRecord = listRecord("ApiKeyList", ApiKeyRecord);

export const CreatedApiKeyRecord = record(
  "CreatedApiKey",
  ApiKeyRecord.extend({ secret: z.string() }),
);
describeFields(CreatedApiKeyRecord, {
  secret: "The key itself. Shown only once: store it as a secret.",
});

export function presentCreatedApiKey(created: {
  readonly key: ApiKeyRow;
  readonly secret: string;
}): z.input<typeof CreatedApiKeyRecord> {
  return { ...presentApiKey(created.key), secret: created.secret };
}

export const CreateApiKeyRequest = requestRecord("CreateApiKeyRequest", {
  name: line(120),
  scopes: z
    .array(z.enum(scopes, { error: `must be one of ${scopes.join(", ")}` }))
    .min(1, { error: "must name at least one scope" })
    .refine((value) => new Set(value).size === value.length, { error: "must not repeat a scope" }),
  expiresAt: instant().nullish(),
});
describeFields(CreateApiKeyRequest, {
  name: "A name by which you recognize the key.",
  scopes: "The scopes of the key: it may do what any of them allows.",
  expiresAt:
    "Time from which the key is refused: ISO 8601, UTC; null or absent if it does not expire.",
});
export type CreateApiKeyInput = z.output<typeof CreateApiKeyRequest>;
