import * as z from "zod";
import { id } from "../../api/declare/record.ts";
import { createdTimes, momentOf } from "../../api/declare/list.ts";

export const exportQuery = createdTimes;
/** The export of all organizations, or of one of them. */
export const platformExportQuery = {
  ...createdTimes,
  organizationId: id("organization").optional(),
};
export const ExportQuery = z.strictObject(exportQuery);

/** Converts the times of a query. */
export function readExportQuery({ createdFrom, createdTo }: z.output<typeof ExportQuery>) {
  return { createdFrom: momentOf(createdFrom), createdTo: momentOf(createdTo) };
}
