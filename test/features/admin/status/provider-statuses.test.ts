import { expect } from "chai";
import { providerStatuses } from "../../../../src/features/admin/status/operations-status.ts";
import { watchWorkerName } from "../../../../src/features/payments/wake.ts";
import { minute, second } from "../../../../src/kernel/clock.ts";
import {
  writeProviders,
  type ProviderHealth,
} from "../../../../src/platform/chain/state/provider-health.ts";
import { enabledNetworks } from "../../../support/merchants.ts";
import { appOf } from "../../../support/context.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";

const now = Date.UTC(2031, 0, 31);

anyStore("the providers of several networks", (store) => {
  it("have the status of their own network's reading, and that of the others as stored", async () => {
    const db = await store.open();
    const clock = { now: () => now };
    const app = appOf({ db, clock, networks: enabledNetworks("ethereum", "base", "tron") });
    const another = appOf({ db, clock });
    const health = (
      place: number,
      provider: string,
      changes: Partial<ProviderHealth> = {},
    ): ProviderHealth => ({
      place,
      provider,
      condition: "ok",
      isInUse: false,
      latencyMs: 20,
      tipHeight: 999,
      lagBlocks: 1,
      errorPercent: 0,
      requestsToday: 5,
      budgetDay: 0,
      requestsPerDay: null,
      lastError: null,
      retryAt: null,
      answeredAt: now,
      ...changes,
    });
    const behind = { condition: "behind", isInUse: true } as const;
    await db.write(testContext, async (tx) => {
      // The settings have no longer the one that was in use.
      const ofBase = [health(0, "gone", { isInUse: true }), health(1, "base-2")];
      await writeProviders(tx, "base", ofBase, now - second);
      const ofTron = [health(0, "tron-1"), health(1, "tron-2", behind)];
      await writeProviders(tx, "tron", ofTron, now - second);
    });
    await app.leases.acquire(watchWorkerName("base"), minute);
    await another.leases.acquire(watchWorkerName("tron"), minute);
    const watcher = (id: string, providers: readonly string[], problem: string | null) => ({
      network: { id } as never,
      providers,
      health: () => ({ problem, heldPayments: 0 }),
    });
    const statuses = await providerStatuses(app, [
      watcher("tron", ["tron-1", "tron-2"], "another server's problem"),
      watcher("base", ["base-1", "base-2"], "It is slow."),
    ]);
    expect(statuses).to.deep.equal([
      {
        network: "ethereum",
        provider: "none",
        status: "down",
        message: "No provider is configured.",
      },
      { network: "base", provider: "base-1", status: "down", message: "It is slow." },
      {
        network: "base",
        provider: "base-2",
        status: "ok",
        message: "standby, 1 blocks behind",
      },
      {
        network: "tron",
        provider: "tron-1",
        status: "ok",
        message: "standby, 1 blocks behind",
      },
      {
        network: "tron",
        provider: "tron-2",
        status: "down",
        message: "The provider has not answered yet.",
      },
    ]);
  });
});
