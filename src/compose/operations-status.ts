import { statfs } from "node:fs/promises";
import { makeCertificateCheck } from "../features/admin/status/outside-checks.ts";
import {
  makeStatusService,
  type StatusService,
} from "../features/admin/status/operations-status.ts";
import { readHoldUse } from "../features/invoices/capacity/capacity.ts";
import type { Watcher } from "../features/payments/watcher/watcher.ts";
import { ratesHealth } from "../features/rates/rates.ts";
import type { ConfiguredNetwork } from "../platform/config/config.ts";
import { lastTime } from "../platform/jobs/cron-line.ts";
import type { Leases } from "../platform/jobs/leases.ts";
import { deriveKey } from "../platform/secrets/server-secret.ts";
import { maintenanceSchedule } from "./maintenance.ts";
import type { App } from "../app.ts";

/** Creates the service of the installation's status. */
export function makeInstallationStatus(
  app: App,
  {
    networks,
    watchers,
    leases,
  }: {
    readonly networks: readonly ConfiguredNetwork[];
    readonly watchers: readonly Watcher[];
    readonly leases: Leases;
  },
): StatusService {
  const { config, db, clock, secret } = app;
  return makeStatusService({
    db,
    clock,
    watchers,
    networks,
    auditKey: deriveKey(secret, "audit-seals"),
    holdsLease: (name) => leases.holds(name),
    lastTickAt: () => app.running?.lastTickAt() ?? null,
    schedule: maintenanceSchedule,
    holdUse: () => readHoldUse(app),
    rates: config.rates.pairs.some(({ fixed }) => fixed === null) ? () => ratesHealth(app) : null,
    backupDueAt: (now) =>
      config.backupSchedule === null ? null : lastTime(config.backupSchedule, now),
    certificate: makeCertificateCheck(config.baseUrl, clock),
    async freeBytes() {
      if (config.databaseUrl !== null) return null;
      const { bavail, bsize } = await statfs(config.dataDir);
      return bavail * bsize;
    },
  });
}
