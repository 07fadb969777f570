// Facts about providers that a pool learns from their answers: which ones are slow, and what they limit.
import { expect } from "chai";
import { minute, second } from "../../../../src/kernel/clock.ts";
import { createJsonRpcClient } from "../../../../src/platform/chain/evm/client.ts";
import type { Fetch } from "../../../../src/platform/chain/evm/transport.ts";
import { makeProviderLimits } from "../../../../src/platform/chain/providers/limits.ts";
import { makeProviderPool } from "../../../../src/platform/chain/providers/pool.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import {
  storedProviders,
  writeProviders,
} from "../../../../src/platform/chain/state/provider-health.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import { testNetworks } from "../../../support/merchants.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";

const [slow, fast] = ["https://slow.example", "https://fast.example"] as const;

interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A pool of two providers, whose answers take a time of the clock that is passed in. */
function openPool() {
  const network = testNetworks("ethereum").get("ethereum");
  if (network === undefined) throw new Error("no such network");
  let now = Date.parse("2026-01-01T00:00:00Z");
  const clock = { now: () => now };
  const alarms = createAlarms({ clock, logger: silentLogger });
  const tookMs = { [slow]: 8 * second, [fast]: second / 10 };
  /** The largest number of calls in one request. */
  const batches = { [slow]: 100, [fast]: 100 };
  const asked: { readonly url: string; readonly calls: number }[] = [];

  function resultOf({ method, params: [first] }: Asked): unknown {
    const tip = Math.floor(now / (12 * second));
    if (method === "eth_chainId") return "0x1";
    if (method === "eth_getLogs" || method === "eth_getBlockReceipts") return [];
    if (method !== "eth_getBlockByNumber") return null;
    const tags: Record<string, number> = { latest: tip, finalized: tip - 64 };
    const height = tags[String(first)] ?? Number(first);
    const hash = `0x${height.toString(16).padStart(64, "0")}`;
    const timestamp = `0x${(height * 12).toString(16)}`;
    return { number: `0x${height.toString(16)}`, hash, timestamp };
  }

  const fetch: Fetch = (url, { body }) => {
    const provider = new URL(url).origin as typeof slow;
    const given = JSON.parse(body) as Asked | readonly Asked[];
    const calls = Array.isArray(given) ? (given as readonly Asked[]) : [given as Asked];
    asked.push({ url: provider, calls: calls.length });
    now += tookMs[provider];
    const isRefused = calls.length > batches[provider];
    const results = calls.map((call) => ({ jsonrpc: "2.0", id: call.id, result: resultOf(call) }));
    const text = JSON.stringify(Array.isArray(given) ? results : results[0]);
    return Promise.resolve({
      status: isRefused ? 400 : 200,
      headers: { get: () => null },
      body: (async function* () {
        yield await Promise.resolve(Buffer.from(isRefused ? "too many calls" : text));
      })(),
    });
  };

  const members = [slow, fast].map((url) => {
    const limits = makeProviderLimits({ clock, network, batchMax: 100, requestsPerSecond: 25 });
    const client = createJsonRpcClient({ network, url, limits, fetch });
    return { client, limits, budget: null };
  });
  const pool = makeProviderPool({ network, members, clock, random: () => 0.5, alarms });
  return {
    pool,
    network,
    alarms,
    tookMs,
    batches,
    asked,
    now: clock.now,
    advance: (milliseconds: number) => void (now += milliseconds),
  };
}

describe("A pool whose first provider takes 8 s to answer", () => {
  it("prefers the faster one, and has an alarm until the first one is fast again", async () => {
    const { pool, alarms, tookMs, advance } = openPool();
    await pool.client.heads();
    expect(alarms.open()).to.have.length(1);
    expect(alarms.open()[0]).to.include({ kind: "provider_slow", subject: slow });
    for (let round = 0; round < 3; round += 1) {
      advance(12 * second);
      await pool.client.heads();
      expect(pool.client.provider).to.equal(fast);
    }
    tookMs[slow] = second / 10;
    for (let checks = 0; checks < 20; checks += 1) {
      advance(minute);
      await pool.check();
    }
    expect(alarms.open()).to.deep.equal([]);
    await pool.client.heads();
    expect(pool.client.provider).to.equal(slow);
  });

  it("still asks it if it is the only one that answers", async () => {
    const { pool, batches, asked, advance } = openPool();
    await pool.client.heads();
    batches[fast] = 0;
    for (let round = 0; round < 2; round += 1) {
      advance(12 * second);
      asked.splice(0);
      await pool.client.heads();
      expect(pool.client.provider).to.equal(slow);
    }
  });
});

eachStore("A limit that a provider's refusals showed", (store) => {
  it("is kept in the store, so that the next process begins with it", async () => {
    const db = await store.open();
    const before = openPool();
    before.batches[slow] = 4;
    const heights = Array.from({ length: 40 }, (_, height) => height + 1);
    const [client] = before.pool.providers;
    expect(await client?.blocks(heights)).to.have.length(40);
    const limits = before.pool.health().map((health) => health.limits);
    expect(limits[0]?.map(({ part }) => part)).to.deep.equal(["calls"]);
    expect(limits[1]).to.deep.equal([]);
    await db.write(testContext, (tx) =>
      writeProviders(tx, before.network.id, before.pool.health(), before.now()),
    );

    const after = openPool();
    after.batches[slow] = 4;
    const stored = await storedProviders(db, after.network.id);
    after.pool.resume(stored.map(({ health }) => health));
    expect(after.pool.health().map((health) => health.limits)).to.deep.equal(limits);
    const [next] = after.pool.providers;
    expect(await next?.blocks(heights)).to.have.length(40);
    expect(Math.max(...after.asked.map(({ calls }) => calls))).to.be.at.most(4);
  });
});
