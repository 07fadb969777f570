import { expect } from "chai";
import { stateOf } from "../../../support/ledger.ts";
import { enabledNetworks } from "../../../support/merchants.ts";
import { appOf } from "../../../support/context.ts";
import {
  networkMetrics,
  providerMetrics,
} from "../../../../src/features/payments/networks/metrics.ts";
import { second } from "../../../../src/kernel/clock.ts";
import type { Alarm } from "../../../../src/platform/chain/state/alarms.ts";
import { createState } from "../../../../src/platform/chain/state/network-state.ts";
import {
  writeAlarms,
  writeProviders,
  type ProviderHealth,
} from "../../../../src/platform/chain/state/provider-health.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";

anyStore("The metrics of networks", (store) => {
  let db: Database;
  before(async () => {
    db = await store.open();
  });

  it("have the blocks and the seconds by which each is behind", async () => {
    const read = { cursorHeight: 40, cursorTime: 0, tipTime: 6 * second };
    const base = stateOf("base", 100, 8 * second, { ...read, headHeight: 103 });
    const tron = stateOf("tron", 50, 8 * second, { ...read, headHeight: 49 });
    await db.write(testContext, async (tx) => {
      await createState(tx, base);
      await createState(tx, tron);
    });
    const metrics = networkMetrics(appOf({ clock: { now: () => 10 * second }, db }));
    const of = (base: number, tron: number) => [
      { labels: { network: "base" }, value: base },
      { labels: { network: "tron" }, value: tron },
    ];
    expect(await metrics.read()).to.deep.equal({
      till_network_tip_height: of(100, 50),
      till_network_head_height: of(103, 49),
      till_network_lag_blocks: of(3, 0),
      till_network_lag_seconds: of(4, 4),
      till_network_silence_seconds: of(2, 2),
    });
  });

  it("have the health of each provider, and the number of open alarms of each kind", async () => {
    const one: ProviderHealth = {
      place: 0,
      provider: "one",
      condition: "ok",
      isInUse: true,
      latencyMs: 250,
      tipHeight: 100,
      lagBlocks: 2,
      errorPercent: 0,
      requestsToday: 0,
      budgetDay: 0,
      requestsPerDay: null,
      lastError: null,
      retryAt: null,
      answeredAt: null,
    };
    const away = { condition: "waiting", lagBlocks: null, latencyMs: null } as const;
    const alarm = (kind: Alarm["kind"], subject: string, endedAt: number | null = null): Alarm => {
      return { kind, subject, message: "a message", raisedAt: 1, endedAt };
    };
    await db.write(testContext, async (tx) => {
      await writeProviders(tx, "base", [one, { ...one, place: 1, provider: "two", ...away }], 1);
      const held = [alarm("payment_held", "pay_1"), alarm("payment_held", "pay_2")];
      const others = [alarm("token_disabled", "USDT"), alarm("token_disabled", "USDC", 2)];
      await writeAlarms(tx, "base", [...held, ...others], 2);
    });
    const metrics = providerMetrics(appOf({ db, networks: enabledNetworks() }));
    const labels = { network: "base", provider: "one" };
    expect(await metrics.read()).to.deep.equal({
      till_provider_usable: [
        { labels, value: 1 },
        { labels: { ...labels, provider: "two" }, value: 0 },
      ],
      till_provider_lag_blocks: [{ labels, value: 2 }],
      till_provider_latency_seconds: [{ labels, value: 0.25 }],
      till_provider_requests_total: [],
      till_provider_errors_total: [],
      till_provider_dropped_total: [],
      till_chain_alarms: [
        { labels: { network: "base", kind: "payment_held" }, value: 2 },
        { labels: { network: "base", kind: "token_disabled" }, value: 1 },
      ],
    });
  });
});
