import { statfs } from "node:fs/promises";
import { makeCertificateCheck } from "../features/admin/status/outside-checks.ts";
import {
  makeOversight,
  type OversightService,
} from "../features/admin/cross-organization/queries.ts";
import { lastTime } from "../platform/jobs/cron-line.ts";
import type { Leases } from "../platform/jobs/leases.ts";
import { deriveKey } from "../platform/secrets/server-secret.ts";
import { maintenanceSchedule } from "./maintenance.ts";
import type { Dependencies } from "./dependencies.ts";
import type { PaymentServices } from "./features/payment-services.ts";

/** Creates the status and alarm service for platform admins. */
export function makePlatformOversight(
  { config, db, clock, secret, lastTickAt }: Dependencies,
  { payments, watchers, leases, rates, capacity }: PaymentServices & { readonly leases: Leases },
): OversightService {
  return makeOversight({
    db,
    clock,
    payments,
    watchers,
    networks: config.networks,
    auditKey: deriveKey(secret, "audit-seals"),
    holdsLease: (name) => leases.holds(name),
    lastTickAt,
    schedule: maintenanceSchedule,
    holdUse: () => capacity.fullest(),
    rates: config.rates.pairs.some(({ fixed }) => fixed === null) ? () => rates.health() : null,
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
