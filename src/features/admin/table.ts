import { json, table, text, time } from "../../platform/database/schema/table.ts";
import type { Report, ServerSettings } from "./status/report.ts";

/** The settings and last check results of each server. */
export const serverProbes = table(
  "server_probes",
  {
    /** Name of the server, unique per process start. */
    server: text(),
    checkedAt: time(),
    /** Without checks until the first ones have run. */
    report: json<Report>(),
    /** Null for servers of earlier releases. */
    settings: json<ServerSettings>().nullable(),
    /** When the server ended; null while it runs, or if it was killed. */
    endedAt: time().nullable(),
  },
  { primaryKey: ["server"] },
);
