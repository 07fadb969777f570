import { minute } from "../../kernel/clock.ts";
import { systemContext } from "../../platform/database/system-context.ts";
import type { Worker } from "../../platform/jobs/background.ts";
import type { Leases } from "../../platform/jobs/leases.ts";
import type { RatesPlan } from "../../platform/rates/plan.ts";
import { lookEveryMs } from "./rules.ts";
import type { RatesService } from "./service.ts";

const workerName = "rates";
/** Lease duration: after a crash, another process takes over at the latest after this time. */
const leaseMs = 2 * minute;

/** Creates the worker that queries due sources in the process that holds the lease; no worker without sources. */
export function makeRatesWorkers(deps: {
  readonly leases: Leases;
  readonly rates: Pick<RatesService, "refreshDue">;
  readonly plan: RatesPlan;
}): Worker[] {
  const { leases, rates, plan } = deps;
  if (plan.pairs.every(({ fixed }) => fixed !== null)) return [];
  return [
    {
      name: workerName,
      everyMs: Math.min(plan.refreshMs, lookEveryMs),
      async run() {
        const lease = await leases.acquire(workerName, leaseMs);
        if (lease === null) return false;
        await rates.refreshDue(systemContext(workerName), (tx) => leases.guard(tx, lease));
        return false;
      },
    },
  ];
}
