// Whether a provider refuses blocks, or only the size or the number of requests: money is given up for refused blocks alone.
import { expect } from "chai";
import { createJsonRpcClient } from "../../../../src/platform/chain/evm/client.ts";
import type { ChainClient } from "../../../../src/platform/chain/client.ts";
import { ProviderError } from "../../../../src/platform/chain/providers/error.ts";
import { makeProviderPool } from "../../../../src/platform/chain/providers/pool.ts";
import { refusalOf } from "../../../../src/platform/chain/providers/probe.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import { refusalsOf } from "../../../../src/features/payments/watcher/gaps.ts";
import { makeFakeChain } from "../../../support/chain/fake-chain.ts";
import { startFakeNode, type FakeNode } from "../../../support/chain/fake-node.ts";
import { testNetworks } from "../../../support/merchants.ts";

const blockMs = 12_000;

describe("A provider that does not read a range", () => {
  let node: FakeNode;
  let client: ChainClient;
  let pooled: ChainClient;
  const network = testNetworks("ethereum").get("ethereum");
  if (network === undefined) throw new Error("no such network");
  const contract = network.tokens[0]?.contract ?? "";

  beforeEach(async () => {
    const chain = makeFakeChain({
      chainId: 1,
      contract,
      startAt: Math.floor(Date.now() / 1_000) * 1_000 - 1_001 * blockMs,
      blockMs,
    });
    chain.mine([], 1_000);
    node = await startFakeNode(chain);
    client = createJsonRpcClient({ network, url: node.url, timeoutMs: 10_000 });
    const clock = { now: () => Date.now() };
    const alarms = createAlarms({ clock, logger: silentLogger });
    const members = [{ client, budget: null }];
    const pool = makeProviderPool({ network, members, clock, random: () => 0.5, alarms });
    [pooled = client] = pool.providers;
  });
  afterEach(() => node.stop());

  const ask = (from: number, to: number, of = client) =>
    refusalOf(of, { from, to, contracts: [contract], recipients: [contract] });
  const kindOf = (asked: Promise<unknown>) =>
    asked.then(
      (answer) => answer,
      (error: unknown) => (error instanceof ProviderError ? { kind: error.kind } : error),
    );

  it("refuses it in its own words if it reads newer blocks", async () => {
    node.view.pruned = [{ from: 0, to: 500, words: "history was pruned" }];
    expect(await ask(500, 500)).to.include("history was pruned");
    expect(await ask(501, 501)).to.equal(null);
    node.view.prunesBlocks = true;
    expect(await ask(500, 500)).to.equal("it does not have block 500");
  });

  it("has not refused its blocks if it may allow fewer of them at once, and stays in use", async () => {
    node.view.rangeMax = 10;
    expect(await kindOf(ask(100, 199, pooled))).to.deep.equal({ kind: "range_too_large" });
    expect(await refusalsOf({ network, providers: [pooled] }, { from: 100, to: 199 })).to.equal(
      "too_many",
    );
    expect(await ask(100, 101, pooled)).to.equal(null);
  });

  it("has not refused its blocks if Till asks for no more because of a learned limit", async () => {
    node.view.rangeMax = 10;
    const query = { from: 100, to: 199, contracts: [contract], recipients: [contract] };
    await client.transfers(query).catch(() => null);
    node.resetCounts();
    expect(await kindOf(client.transfers(query))).to.deep.equal({ kind: "range_too_large" });
    expect(node.counts().requests).to.equal(0);
    expect(await refusalsOf({ network, providers: [pooled] }, { from: 100, to: 199 })).to.equal(
      "too_many",
    );
  });

  for (const fault of ["overloaded", "rate-limited", "forbidden", "unavailable"] as const) {
    it(`has refused nothing if every request is answered with ${fault}`, async () => {
      node.fail(fault, Infinity);
      const range = { from: 100, to: 100 };
      expect(await refusalsOf({ network, providers: [client] }, range)).to.equal("unknown");
      expect(await refusalsOf({ network, providers: [pooled] }, range)).to.equal("unknown");
      // Its failures have put it into a pause, in which it is not asked.
      node.heal();
      node.view.pruned = [{ from: 0, to: 500, words: "history was pruned" }];
      node.resetCounts();
      expect(await refusalsOf({ network, providers: [pooled] }, range)).to.equal("unknown");
      expect(node.counts().requests).to.equal(0);
    });

    it(`has refused nothing if ${fault} begins when it is asked for the range`, async () => {
      let requests = 0;
      const failing: ChainClient = {
        ...client,
        blocks(heights) {
          requests += 1;
          node.fail(fault, Infinity);
          return client.blocks(heights);
        },
      };
      const range = { from: 100, to: 100 };
      expect(await refusalsOf({ network, providers: [failing] }, range)).to.equal("unknown");
      expect(requests).to.equal(1);
    });
  }

  it("is asked in the same way without watched addresses, so that no refusal goes unnoticed", async () => {
    node.view.pruned = [{ from: 0, to: 500, words: "history was pruned" }];
    const range = { from: 100, to: 100 };
    const refusals = await refusalsOf({ network, providers: [client] }, range);
    expect(refusals).to.have.length(1);
  });
});
