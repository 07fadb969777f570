import { json, table, text, time } from "../../platform/database/index.ts";
import type { Report } from "./status/report.ts";

/** Last check results of each server. */
export const serverProbes = table(
  "server_probes",
  {
    /** Name of the server, unique per process start. */
    server: text(),
    checkedAt: time(),
    report: json<Report>(),
  },
  { primaryKey: ["server"] },
);
