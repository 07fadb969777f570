// Unit tests of the reading of a range of blocks: where it begins and ends, and which answers are dropped.
import { expect } from "chai";
import {
  ReplyDropped,
  makeRangeSize,
  readChain,
  type ChainRead,
  type ChainReadRequest,
} from "../../../../src/features/payments/watcher/chain-reader.ts";
import { hour, minute, second } from "../../../../src/kernel/clock.ts";
import type { ChainClient, Head, Heads } from "../../../../src/platform/chain/client.ts";
import { ProviderError } from "../../../../src/platform/chain/providers/error.ts";
import type { Network } from "../../../../src/platform/chain/networks.ts";
import type {
  KnownBlock,
  NetworkStateRow,
} from "../../../../src/platform/chain/state/network-state.ts";
import { addressOf, makeFakeChain } from "../../../support/chain/fake-chain.ts";

const startAt = 1_000_000_000;
const blockMs = 10 * second;
const timeOf = (height: number) => startAt + height * blockMs;
const usdt = addressOf("usdt");
const shop = addressOf("shop");

interface Given {
  /** The height of the newest block. */
  readonly tip?: number;
  readonly windowBlocks?: number;
  readonly maxLogRange?: number;
  readonly recipients?: ChainReadRequest["recipients"]["addresses"];
  readonly state?: Partial<NetworkStateRow>;
  /** The heights whose hashes were kept; those that have since been replaced are negative. */
  readonly known?: readonly number[];
  readonly heads?: Partial<Heads>;
  /** The number of the network's providers. */
  readonly providers?: number;
  readonly client?: (client: ChainClient) => Partial<ChainClient>;
}

/** Opens a chain that was scanned up to its block 20, of which 10 is final, with a payment in each fifth block. */
async function open(given: Given = {}) {
  const { tip = 100, windowBlocks = 16, maxLogRange = 1_000, known = [] } = given;
  const chain = makeFakeChain({ startAt, blockMs, finalityLag: 5, chainId: 1 });
  for (let height = 1; height <= tip; height += 1) {
    const payment = { transaction: String(height), contract: usdt, to: shop, amount: 7n };
    chain.mine(height % 5 === 0 ? [payment] : []);
  }
  const hashes = await chain.client.blocks(Array.from({ length: tip + 1 }, (_, place) => place));
  const block = (height: number): KnownBlock => ({
    height: Math.abs(height),
    hash: height < 0 ? "replaced" : (hashes[height]?.hash ?? "none"),
  });
  const [cursor, scanned] = [block(10), block(20)];
  const state = {
    network: "ethereum",
    chainId: 1,
    cursorHeight: 10,
    cursorHash: cursor.hash,
    cursorTime: timeOf(10),
    tipHeight: 20,
    tipHash: scanned.hash,
    tipTime: timeOf(20),
    tipSeenAt: timeOf(20),
    headHeight: 20,
    scannedAt: timeOf(20) + 2 * minute,
    usualLagMs: 0,
    disabledTokens: [],
    version: 1,
    ...given.state,
  };
  const heads = { ...(await chain.client.heads()), known: null, ...given.heads };
  const client = { ...chain.client, ...given.client?.(chain.client) };
  chain.calls.length = 0;
  const sizes = makeRangeSize(maxLogRange);
  const read = () =>
    readChain({
      client,
      providers: Array.from({ length: given.providers ?? 1 }, () => client),
      network: { windowBlocks } as Network,
      state,
      known: known.map(block),
      heads,
      contracts: [usdt],
      recipients: {
        addresses: given.recipients === undefined ? [shop] : given.recipients,
        among: (addresses) => Promise.resolve(new Set(addresses.filter((each) => each === shop))),
      },
      rangeSize: sizes,
    });
  return { chain, read, block };
}

const readOf = async (given: Given = {}): Promise<ChainRead> => (await open(given)).read();
const ends = async (given: Given) => {
  const { base, isRewound, to } = await readOf(given);
  return [base.height, to.height, isRewound];
};
async function dropped(given: Given) {
  const reason = (error: unknown) => {
    if (!(error instanceof ReplyDropped)) throw error;
    return [error.fault, error.details["blockHeight"] ?? null];
  };
  return readOf(given).then(() => "read", reason);
}

describe("A range of blocks to read", () => {
  it("begins above the newest kept block below the window", async () => {
    // The window of 16 blocks begins at 85.
    const cases: readonly [known: readonly number[], base: number][] = [
      [[], 20],
      [[30, 40], 40],
      [[40, 30], 40],
      [[30, 84, 85], 84],
      [[84], 84],
      [[85], 20],
    ];
    for (const [known, base] of cases) {
      expect(await ends({ known }), String(known)).to.deep.equal([base, 100, false]);
    }
    expect(await ends({ tip: 35 })).to.deep.equal([10, 35, false]);
    expect(await ends({ tip: 36 })).to.deep.equal([20, 36, false]);
    const atCursor = { cursorHeight: 20, cursorHash: "final" };
    const { base } = await readOf({ state: atCursor });
    expect(base).to.deep.equal({ height: 20, hash: "final" });
  });

  it("begins lower if that block was replaced: above the newest one that was not, or the cursor", async () => {
    const state = { tipHeight: 50, tipHash: "replaced" };
    expect(await ends({ known: [30, 40], state })).to.deep.equal([40, 100, true]);
    expect(await ends({ known: [30, -40], state })).to.deep.equal([30, 100, true]);
    expect(await ends({ known: [-30, -40], state })).to.deep.equal([10, 100, true]);
    expect(await ends({ known: [], state })).to.deep.equal([10, 100, true]);
  });

  it("ends at the newest block, or after two windows, or as many blocks as one request may have", async () => {
    const { to, latest, finalized } = await readOf();
    expect([to, finalized.height]).to.deep.equal([latest, 95]);
    expect(await ends({ tip: 300 })).to.deep.equal([20, 220, false]);
    expect(await ends({ tip: 220 })).to.deep.equal([20, 220, false]);
    expect(await ends({ tip: 300, maxLogRange: 10 })).to.deep.equal([20, 52, false]);
    expect(await ends({ tip: 300, windowBlocks: 110 })).to.deep.equal([20, 240, false]);
  });

  it("has no logs if no address is watched, or if the chain ends at its base", async () => {
    const watched = await open();
    expect((await watched.read()).logs.map(({ blockHeight }) => blockHeight)).to.deep.equal(
      Array.from({ length: 16 }, (_, place) => 25 + 5 * place),
    );
    const nobody = await open({ recipients: [] });
    expect((await nobody.read()).logs).to.deep.equal([]);
    expect(nobody.chain.calls).not.to.include("transfers");
    const short = await open({ tip: 10, state: { tipHeight: 10 } });
    expect((await short.read()).logs).to.deep.equal([]);
    expect(short.chain.calls).not.to.include("transfers");
    const one = await open({ tip: 11, state: { tipHeight: 10 } });
    await one.read();
    expect(one.chain.calls).to.include("transfers");
  });
});

describe("The logs of a range", () => {
  it("are read in as many requests as the provider needs, each block once", async () => {
    const { chain, read } = await open({ maxLogRange: 40 });
    chain.faults.rangeMax = 15;
    const { logs, to } = await read();
    expect(to.height).to.equal(60);
    expect(logs.map(({ blockHeight }) => blockHeight)).to.deep.equal([
      ...[25, 30, 35, 40, 45, 50, 55, 60],
    ]);
    const asked: number[] = [];
    const client = (honest: ChainClient): Partial<ChainClient> => ({
      transfers(query) {
        asked.push(query.to - query.from + 1);
        return honest.transfers(query);
      },
    });
    // 200 at first, and half as many more after each.
    await readOf({ tip: 700, windowBlocks: 300, client });
    expect(asked.splice(0)).to.deep.equal([200, 300, 100]);
    const small = await open({ maxLogRange: 40, client });
    small.chain.faults.rangeMax = 15;
    await small.read();
    expect(asked.splice(0)).to.deep.equal([40, 20, 10, 15, 15]);
    chain.faults.rangeMax = 0;
    const refused = await read().catch((error: unknown) => String(error));
    expect(refused).to.contain("range_too_large");
  });

  it("are asked for once if the provider fails", async () => {
    let asked = 0;
    const failure = new ProviderError("it is away", { kind: "unreachable", provider: "one" });
    const client = (): Partial<ChainClient> => ({
      transfers() {
        asked += 1;
        return Promise.reject(failure);
      },
    });
    expect(await readOf({ client }).catch((error: unknown) => error)).to.equal(failure);
    expect(asked).to.equal(1);
  });

  it("are those of money in the configured tokens to watched addresses, whatever the provider lists", async () => {
    const client = (honest: ChainClient): Partial<ChainClient> => ({
      async transfers(query) {
        const { logs, latest } = await honest.transfers(query);
        const [log] = logs;
        if (log === undefined) return { logs, latest };
        const strange = [
          { contract: addressOf("fake") },
          { to: addressOf("other") },
          { amount: 0n },
        ];
        return { logs: [log, ...strange.map((each) => ({ ...log, ...each }))], latest };
      },
    });
    for (const recipients of [[shop], null]) {
      const { logs } = await readOf({ client, recipients });
      expect(logs.map(({ to, amount }) => [to, amount])).to.deep.equal([[shop, 7n]]);
    }
    const nothing = { transfers: () => Promise.resolve({ logs: [], latest: head(100) }) };
    expect((await readOf({ client: () => nothing })).logs).to.deep.equal([]);
  });

  it("are dropped if the tip goes back or the end of the range is replaced meanwhile, not if the chain grows", async () => {
    const { chain, read } = await open();
    chain.faults.beforeTransfers = () => {
      chain.rollback(1);
    };
    const lost = await read().catch((error: unknown) => String(error));
    expect(lost).to.match(/tip went back/);
    chain.mine();
    const again = await open();
    again.chain.faults.beforeTransfers = () => {
      again.chain.rollback(1);
      again.chain.mine([], 2);
    };
    const replaced = await again.read().catch((error: unknown) => String(error));
    expect(replaced).to.match(/reorganized while it was read/);
    const grown = await open();
    grown.chain.faults.beforeTransfers = () => {
      grown.chain.mine([], 2);
    };
    expect((await grown.read()).to.height).to.equal(100);
    expect((await grown.read()).logs).to.have.length(16);
  });
});

function head(height: number, time = timeOf(height)): Head {
  return { height, hash: `h${String(height)}`, time };
}

describe("The times of a range", () => {
  it("may not be before the newest scanned block, unless that was replaced", async () => {
    const latest = (time: number, height = 100) => ({ latest: head(height, time) });
    const noLogs = { recipients: [] };
    const at = (heads: Partial<Heads>, state: Partial<NetworkStateRow> = {}) =>
      dropped({ ...noLogs, heads, state });
    expect(await at(latest(timeOf(20)))).to.equal("read");
    expect(await at(latest(timeOf(20) - 1))).to.deep.equal(["wrong_time", 100]);
    expect(await at(latest(timeOf(20) - 1), { tipHash: "replaced" })).to.equal("read");
    expect(await at(latest(timeOf(20) - 1, 19))).to.equal("read");
    const same = { ...head(20), time: timeOf(20) - 1 };
    expect(await at({ latest: same }, { tipHash: "h20" })).to.deep.equal(["wrong_time", 20]);
    expect(await at({ latest: same }, { tipHash: "h19" })).to.equal("read");
    // The recorded time may be false: a block that is a minute older than the scan is believed.
    const scannedAt = timeOf(20) + minute - 5;
    expect(await at(latest(timeOf(20) - 5), { scannedAt })).to.equal("read");
    expect(await at(latest(timeOf(20) - 6), { scannedAt })).to.deep.equal(["wrong_time", 100]);
    // One of several providers proves no time alone.
    const several = (time: number) =>
      dropped({ ...noLogs, heads: latest(time), state: { scannedAt }, providers: 2 });
    expect(await several(timeOf(20) - 5 - hour)).to.equal("read");
    expect(await several(timeOf(20) - 6 - hour)).to.deep.equal(["wrong_time", 100]);
  });

  it("may not end after the newest block, or before the known final one", async () => {
    // The range ends at block 52.
    const at = (heads: Partial<Heads>) =>
      dropped({ tip: 300, maxLogRange: 10, recipients: [], heads });
    expect(await at({ latest: head(300, timeOf(52)) })).to.equal("read");
    expect(await at({ latest: head(300, timeOf(52) - 1) })).to.deep.equal(["wrong_time", 52]);
    expect(await at({ known: head(10, timeOf(52)) })).to.equal("read");
    expect(await at({ known: head(10, timeOf(52) + 1) })).to.deep.equal(["wrong_time", 52]);
  });

  it("are those of blocks that the provider has", async () => {
    const client = () => ({ blocks: () => Promise.resolve([null]) });
    expect(await dropped({ client })).to.deep.equal([null, 20]);
    const nothing = () => ({ blocks: () => Promise.resolve([]) });
    expect(await dropped({ client: nothing })).to.deep.equal([null, 20]);
  });
});
