import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { CustomerRecord } from "./records.ts";
import type { CustomerRow } from "./table.ts";

export function presentCustomer(row: CustomerRow): z.input<typeof CustomerRecord> {
  return presentRow(CustomerRecord, row, { objectVersion: row.version });
}
