import { json, table, text, time } from "../../platform/database/index.ts";
import type { Report } from "./report.ts";

/** What each server last found when it looked around. */
export const serverProbes = table(
  "server_probes",
  {
    /** A name that a server has for as long as it runs. */
    server: text(),
    checkedAt: time(),
    report: json<Report>(),
  },
  { primaryKey: ["server"] },
);
