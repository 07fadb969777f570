import { expect } from "chai";
import {
  networkMetrics,
  providerMetrics,
} from "../../../../src/features/payments/networks/metrics.ts";
import { second } from "../../../../src/kernel/clock.ts";
import { alarmTable, providerTable } from "../../../../src/platform/chain/state/provider-store.ts";

describe("The metrics of networks", () => {
  it("have the blocks and the seconds by which each is behind", async () => {
    const state = { network: "base", scannedAt: 8 * second, tipTime: 6 * second };
    const states = [
      { ...state, tipHeight: 100, headHeight: 103 },
      { ...state, network: "tron", tipHeight: 50, headHeight: 49 },
    ];
    const metrics = networkMetrics({
      clock: { now: () => 10 * second },
      db: { find: () => Promise.resolve(states) },
    } as never);
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
});

describe("The metrics of providers", () => {
  it("have what is known of each, and the number of open alarms of each kind", async () => {
    const providers = [
      { provider: "one", condition: "ok", lagBlocks: 2, latencyMs: 250 },
      { provider: "two", condition: "waiting", lagBlocks: null, latencyMs: null },
    ].map((health) => ({ network: "base", health }));
    const alarms = ["payment_held", "payment_held", "token_disabled"].map((kind) => ({
      network: "base",
      kind,
    }));
    const metrics = providerMetrics({
      db: {
        find: (table: unknown) =>
          Promise.resolve(table === providerTable ? providers : table === alarmTable ? alarms : []),
      } as never,
      pools: new Map(),
    });
    const one = { network: "base", provider: "one" };
    expect(await metrics.read()).to.deep.equal({
      till_provider_usable: [
        { labels: one, value: 1 },
        { labels: { ...one, provider: "two" }, value: 0 },
      ],
      till_provider_lag_blocks: [{ labels: one, value: 2 }],
      till_provider_latency_seconds: [{ labels: one, value: 0.25 }],
      till_provider_requests_total: [],
      till_provider_errors_total: [],
      till_chain_alarms: [
        { labels: { network: "base", kind: "payment_held" }, value: 2 },
        { labels: { network: "base", kind: "token_disabled" }, value: 1 },
      ],
    });
  });
});
