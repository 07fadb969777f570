import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { ApiKeyRecord, type CreatedApiKeyRecord } from "./records.ts";
import type { CreatedApiKey } from "./service.ts";
import type { ApiKeyRow } from "./table.ts";

export function presentApiKey(row: ApiKeyRow): z.input<typeof ApiKeyRecord> {
  return presentRow(ApiKeyRecord, row);
}

export function presentCreatedApiKey(created: CreatedApiKey): z.input<typeof CreatedApiKeyRecord> {
  return { ...presentApiKey(created.key), secret: created.secret };
}
