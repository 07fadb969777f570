// Providers that work partially: whatever fails, the network is still read from the others, and an alarm is raised if
// no other is configured.
import { expect } from "chai";
import {
  makeTipCheck,
  makeTokenCheck,
} from "../../../../src/features/payments/watcher/network-checks.ts";
import { day, hour, minute } from "../../../../src/kernel/clock.ts";
import type { ChainClient } from "../../../../src/platform/chain/client.ts";
import type { Network } from "../../../../src/platform/chain/networks.ts";
import {
  ProviderError,
  type ProviderFault,
} from "../../../../src/platform/chain/providers/error.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import type { NetworkStateRow } from "../../../../src/platform/chain/state/network-state.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import type { FakeNode } from "../../../support/chain/fake-node.ts";
import { JsonRpcRefusal } from "../../../support/chain/json-rpc.ts";
import type { Lie } from "../../../support/chain/rpc-front.ts";
import { anyStore } from "../../../support/store/stores.ts";
import { blockMs, standInInvoices, token } from "../../../support/chain/asked-invoices.ts";
import { openPool, type PooledNetwork, type PooledOptions } from "../../../support/chain/world.ts";
import { addressOf } from "../../../support/chain/fake-chain.ts";

const shop = addressOf("shop");

anyStore("A provider that nearly works", (store) => {
  store.leavesUnsound(standInInvoices);

  let till: PooledNetwork;
  const opened: PooledNetwork[] = [];

  async function open(options: PooledOptions = {}): Promise<FakeNode> {
    till = await openPool(await store.open(), options);
    opened.push(till);
    till.invoices.ask({ address: shop });
    const [first] = till.nodes;
    if (first === undefined) throw new Error("there is no node");
    return first;
  }
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.stop();
  });

  const refuse =
    (method: string, message: string): Lie =>
    (call, result) => {
      if (call.method === method) throw new JsonRpcRefusal(-32_000, message);
      return result;
    };
  const pay = (to = shop) => {
    till.chain.mine([{ to, amount: token(25) }]);
  };
  const condition = (place: number) => till.pool.health()[place]?.condition;
  const waitOf = (place: number) => {
    const health = till.pool.health()[place];
    return (health?.retryAt ?? 0) - (health?.lastError?.at ?? 0);
  };

  it("is skipped for longer after each failure, even if it answers other requests", async () => {
    const first = await open();
    first.lie(refuse("eth_getLogs", "internal error"));
    const waits: number[] = [];
    for (let failure = 0; failure < 6; failure += 1) {
      till.advance(minute);
      pay();
      await till.look();
      waits.push(waitOf(0));
    }
    expect(waits).to.deep.equal([3_000, 6_000, 12_000, 22_500, 22_500, 22_500]);
    expect(await till.payments()).to.have.length(6);
    first.lie(null);
    till.advance(minute);
    await till.look();
    first.lie(refuse("eth_getLogs", "internal error"));
    till.advance(minute);
    await till.mine(1);
    expect(waitOf(0)).to.equal(3_000);
  });

  it("is skipped if it does not have the tip that it reports", async () => {
    const first = await open();
    first.lie((call, result) =>
      call.method === "eth_getBlockByNumber" && call.params[0] === "latest"
        ? { ...(result as object), number: "0xf4240" }
        : result,
    );
    pay();
    // No other provider can deny the block.
    till.nodes[1]?.fail("unavailable", Infinity);
    for (let looks = 0; looks < 6; looks += 1) await till.mine(1);
    expect(condition(0)).to.equal("behind");
    expect(till.pool.health()[0]?.lastError?.message).to.match(/does not have a block/);
    till.nodes[1]?.heal();
    till.advance(minute);
    await till.mine(1);
    expect((await till.state()).tipHeight).to.equal(till.chain.height());
    expect(await till.payments()).to.have.length(1);
    // The provider is preferred again after it was correct for a while.
    first.lie(null);
    till.advance(6 * minute);
    await till.mine(1);
    expect(till.pool.health()[0]).to.include({ condition: "ok", isInUse: true });
  });

  it("is not read if it returns on another fork below the final block", async () => {
    const first = await open();
    first.fail("unavailable", Infinity);
    await till.mine(1);
    first.heal();
    first.lie((call, result) => {
      if (call.method !== "eth_getBlockByNumber" || result === null) return result;
      const block = result as { readonly hash: string };
      return { ...block, hash: block.hash.replace("0xc", "0xe") };
    });
    const { cursorHeight } = await till.state();
    till.advance(minute);
    await till.mine(1);
    pay();
    await till.mine(12);
    const state = await till.state();
    expect(state.cursorHeight).to.be.greaterThan(cursorHeight);
    expect(state.cursorHash).to.equal(till.chain.block(state.cursorHeight).hash);
    expect(condition(0)).to.equal("behind");
    expect(await till.payments()).to.have.length(1);
  });

  it("is not asked endlessly for a single block that it refuses, and an alarm is raised", async () => {
    const first = await open({ nodes: 1 });
    first.lie(refuse("eth_getLogs", "query timed out: range too large"));
    pay();
    for (let looks = 0; looks < 4; looks += 1) {
      till.advance(minute);
      await till.look();
    }
    expect(await till.storedAlarms()).to.deep.equal(["network_not_read"]);
    first.lie(null);
    till.advance(minute);
    await till.look();
    expect(await till.payments()).to.have.length(1);
    expect(await till.storedAlarms()).to.deep.equal([]);
  });

  it("excludes no other by dating blocks as late as now on a chain whose times are behind the clock", async () => {
    const first = await open();
    till.advance(20 * minute);
    await till.mine(1);
    first.view.timeShift = 20 * minute;
    first.lie(({ method }, result) => (method === "eth_getLogs" ? [] : result));
    await till.mine(30);
    pay();
    await till.look();
    for (const milliseconds of [3 * minute, hour]) {
      till.advance(milliseconds);
      await till.mine(Math.floor(milliseconds / blockMs));
    }
    expect((await till.transfers()).map(({ disposition }) => disposition)).to.deep.equal([
      "matched",
    ]);
  });

  it("is not blamed for a transfer from before its address was watched", async () => {
    await open();
    const newcomer = addressOf("newcomer");
    till.advance(2 * minute);
    await till.look();
    pay(newcomer);
    till.chain.mine([], 15);
    await till.look();
    expect((await till.state()).cursorHeight).to.be.greaterThan(62);
    const issuedAt = till.chain.block(till.chain.height()).time;
    till.invoices.ask({ address: newcomer, terms: { issuedAt } });
    till.advance(2 * minute);
    await till.mine(1);
    expect(till.pool.health().map(({ condition }) => condition)).to.deep.equal(["ok", "ok"]);
    expect(await till.storedAlarms()).to.deep.equal([]);
    expect(till.loggedAlarms).to.not.include("transfer_left_out");
    expect(till.loggedAlarms).to.not.include("provider_silent_logs");
  });

  it("is still asked when the clock is set back by some minutes", async () => {
    const first = await open({ nodes: 1 });
    first.fail("unavailable", 1);
    await till.mine(1);
    till.advance(-8 * minute);
    pay();
    await till.look();
    await till.look();
    expect(await till.payments()).to.have.length(1);
  });

  it("disables no token with a single malformed response", async () => {
    for (const fault of ["html", "forbidden"] as const) {
      const first = await open({ nodes: 1 });
      till.advance(day);
      let chainIds = 0;
      const decimals = () => first.counts().methods["eth_call"] ?? 0;
      const before = decimals();
      first.lie((call, result) => {
        // After the second chain id request, the tokens are checked next.
        if (call.method === "eth_chainId" && decimals() === before) {
          chainIds += 1;
          if (chainIds === 2) first.fail(fault, 1);
        }
        return result;
      });
      await till.mine(1);
      till.advance(minute);
      pay();
      await till.mine(1);
      expect(decimals() - before, fault).to.be.greaterThan(1);
      expect((await till.state()).disabledTokens, fault).to.deep.equal([]);
      expect(await till.payments(), fault).to.have.length(1);
      expect(await till.storedAlarms(), fault).to.deep.equal([]);
    }
  });
});

describe("The checks of a network's provider", () => {
  const tokens = ["USDT", "DAI"].map((symbol) => ({ symbol, contract: symbol, decimals: 6 }));
  const network = { id: "ethereum", title: "Ethereum", chainId: 1, tokens } as unknown as Network;

  function open() {
    let now = 1_000 * day;
    const clock = { now: () => now };
    const alarms = createAlarms({ clock, logger: silentLogger });
    /** The answers of the contracts, of which the last one stays. */
    const answers: Record<string, (number | ProviderFault)[]> = { USDT: [6], DAI: [6] };
    const provider = { chainId: 1, asked: 0 };
    const client: Partial<ChainClient> = {
      provider: "http://first",
      chainId: () => Promise.resolve(provider.chainId),
      async decimals(contract) {
        await Promise.resolve();
        provider.asked += 1;
        const given = answers[contract] ?? [];
        const answer = (given.length > 1 ? given.shift() : given[0]) ?? 0;
        if (typeof answer === "number") return answer;
        throw new ProviderError(answer, { kind: answer, provider: "http://first" });
      },
    };
    const deps = { clock, network, alarms, client: client as ChainClient };
    const tip = makeTipCheck(deps);
    const disabledTokens = makeTokenCheck(deps);
    const opened = () => alarms.open().map(({ kind, subject }) => `${kind} ${subject}`);
    return {
      provider,
      answers,
      opened,
      advance: (milliseconds: number) => (now += milliseconds),
      tokens: () => disabledTokens().catch((error: unknown) => (error as Error).name),
      resume: () => {
        tip.resume();
      },
      isBehind(height: number, state = { tipHeight: 100, cursorHeight: 90 }) {
        try {
          tip.assertNotBehind(state as NetworkStateRow, height);
          return false;
        } catch {
          return true;
        }
      },
    };
  }

  it("believe a chain that stays shorter for two minutes, but never below its final blocks", () => {
    const till = open();
    expect([100, 101].map((height) => till.isBehind(height))).to.deep.equal([false, false]);
    expect([99, 90, 89].map((height) => till.isBehind(height))).to.deep.equal([true, true, true]);
    till.advance(2 * minute - 1);
    expect([99, 90, 89].map((height) => till.isBehind(height))).to.deep.equal([true, true, true]);
    expect(till.opened()).to.deep.equal([]);
    till.advance(1);
    expect([99, 90, 89].map((height) => till.isBehind(height))).to.deep.equal([false, false, true]);
    expect(till.opened()).to.deep.equal(["tip_went_back ethereum"]);
    expect(till.isBehind(100)).to.equal(false);
    expect(till.opened()).to.deep.equal([]);
    expect(till.isBehind(99)).to.equal(true);
  });

  it("wait for the whole two minutes again when their process reads the network after another one", () => {
    const till = open();
    expect(till.isBehind(99)).to.equal(true);
    till.advance(2 * minute);
    till.resume();
    expect(till.isBehind(99)).to.equal(true);
    till.advance(2 * minute);
    expect(till.isBehind(99)).to.equal(false);
  });

  it("ask for the tokens' decimals once a day, and every ten minutes while one is disabled", async () => {
    const till = open();
    const askedAgain = async (milliseconds: number) => {
      const before = till.provider.asked;
      till.advance(milliseconds);
      await till.tokens();
      return till.provider.asked > before;
    };
    expect(await askedAgain(0)).to.equal(true);
    expect(await askedAgain(day - 1)).to.equal(false);
    till.answers["USDT"] = [18];
    expect(await askedAgain(1)).to.equal(true);
    expect(await till.tokens()).to.deep.equal(["USDT"]);
    expect(till.opened()).to.deep.equal(["token_disabled USDT"]);
    expect(await askedAgain(10 * minute - 1)).to.equal(false);
    till.answers["DAI"] = ["refused"];
    expect(await askedAgain(1)).to.equal(true);
    expect(await till.tokens()).to.deep.equal(["DAI", "USDT"]);
    Object.assign(till.answers, { USDT: [6], DAI: [6] });
    expect(await askedAgain(10 * minute)).to.equal(true);
    expect(await till.tokens()).to.deep.equal([]);
    expect(till.opened()).to.deep.equal([]);
    expect(await askedAgain(hour)).to.equal(false);
  });

  it("disable a token only by the second answer, and none if the provider is away or of another chain", async () => {
    for (const fault of ["malformed", "refused", 18] as const) {
      const till = open();
      till.answers["USDT"] = [fault, 6];
      expect(await till.tokens(), String(fault)).to.deep.equal([]);
      expect(till.opened()).to.deep.equal([]);
    }
    const till = open();
    till.answers["USDT"] = ["unreachable"];
    expect(await till.tokens()).to.equal("ProviderError");
    till.answers["USDT"] = [6];
    till.provider.chainId = 5;
    expect(await till.tokens()).to.equal("NetworkStopped");
    till.provider.chainId = 1;
    expect(await till.tokens()).to.deep.equal([]);
  });
});
