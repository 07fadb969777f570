import * as z from "zod";
import type { App } from "../../app.ts";
import {
  commandsOf,
  anyOrganization,
  type Command,
  type CommandFlag,
} from "../../api/declare/command.ts";
import { createdTimes } from "../../api/declare/list.ts";
import type { Id } from "../../kernel/id.ts";
import { openExport, readExportQuery } from "./exports.ts";
import type { ExportName } from "./table-export.ts";

const command = commandsOf<App>();

const ExportTimes = z.strictObject(createdTimes);

const flags: readonly CommandFlag[] = [
  anyOrganization,
  {
    flags: "--from <time>",
    field: "createdFrom",
    description: "created at or after this time, such as 2031-01-31T00:00:00.000Z",
  },
  {
    flags: "--to <time>",
    description: "created before this time (default: now)",
    field: "createdTo",
  },
  {
    flags: "--output <file>",
    description:
      "write to a new file, which appears when it is complete (default, or -: standard output)",
  },
];

function exportCommand(
  name: string,
  list: ExportName,
  { summary, file }: { readonly summary: string; readonly file: string },
): Command<App> {
  return command({
    name,
    summary,
    flags,
    examples: [
      `till ${name} > ${file}`,
      `till ${name} --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --from 2031-01-01T00:00:00.000Z --to 2031-02-01T00:00:00.000Z --output ${file}`,
    ],
    effect: "read",
    handle(app, call) {
      const times = { createdFrom: call.flag("from"), createdTo: call.flag("to") };
      const organizationId = (call.flag("organization") ?? null) as Id<"organization"> | null;
      const filters = readExportQuery(call.parse(ExportTimes, times));
      return openExport(app, call.context, list, { organizationId, ...filters });
    },
    present: (content) => content,
    isCsv: true,
    columns: [],
  });
}

export const exportCommands = [
  exportCommand("invoice export", "invoices", {
    summary: "Export invoices as CSV",
    file: "invoices.csv",
  }),
  exportCommand("payments export", "payments", {
    summary: "Export payments as CSV",
    file: "payments.csv",
  }),
  exportCommand("refund export", "refunds", {
    summary: "Export refunds as CSV",
    file: "refunds.csv",
  }),
  exportCommand("billing export", "platform_invoices", {
    summary: "Export platform invoices as CSV",
    file: "platform-invoices.csv",
  }),
];
