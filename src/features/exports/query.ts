import { z } from "zod";
import { createdTimes, momentOf } from "../../api/declare/list.ts";

export const exportQuery = createdTimes;
export const ExportQuery = z.strictObject(exportQuery);

/** Converts the times of a query. */
export function readExportQuery({ createdFrom, createdTo }: z.output<typeof ExportQuery>) {
  return { createdFrom: momentOf(createdFrom), createdTo: momentOf(createdTo) };
}
