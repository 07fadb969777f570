import type { z } from "zod";
import { toIso } from "../../kernel/clock.ts";
import type { CustomerRecord } from "./records.ts";
import type { CustomerRow } from "./table.ts";

export function presentCustomer(row: CustomerRow): z.input<typeof CustomerRecord> {
  return {
    id: row.id,
    externalId: row.externalId,
    name: row.name,
    email: row.email,
    metadata: row.metadata,
    createdAt: toIso(row.createdAt),
    updatedAt: toIso(row.updatedAt),
  };
}
