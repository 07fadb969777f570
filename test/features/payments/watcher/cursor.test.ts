import { expect } from "chai";
import {
  isBehind,
  isWorthWriting,
  blocksToStore,
  nextState,
  stateAt,
} from "../../../../src/features/payments/watcher/cursor.ts";
import type { ChainRead } from "../../../../src/features/payments/watcher/chain-reader.ts";
import { day, hour, minute, second } from "../../../../src/kernel/clock.ts";
import type {
  KnownBlock,
  NetworkStateRow,
} from "../../../../src/platform/chain/state/network-state.ts";

const scannedAt = 10 * hour;
const timeOf = (height: number) => scannedAt - hour + height * second;
const block = (height: number): KnownBlock => ({ height, hash: `h${String(height)}` });
const head = (height: number) => ({ ...block(height), time: timeOf(height) });

const state = (changes: Partial<NetworkStateRow> = {}): NetworkStateRow => ({
  network: "ethereum",
  chainId: 1,
  cursorHeight: 100,
  cursorHash: "h100",
  cursorTime: timeOf(100),
  tipHeight: 110,
  tipHash: "h110",
  tipTime: timeOf(110),
  tipSeenAt: timeOf(110),
  headHeight: 110,
  scannedAt,
  usualLagMs: 0,
  disabledTokens: [],
  version: 3,
  ...changes,
});

const read = (changes: Partial<ChainRead> = {}): ChainRead => ({
  base: block(100),
  isRewound: false,
  to: head(120),
  latest: head(130),
  finalized: head(104),
  logs: [],
  unreadable: [],
  ...changes,
});

describe("The state of a network", () => {
  const next = (changes: Partial<ChainRead>, at = scannedAt) =>
    nextState(state(), read(changes), ["USDC"], at);

  it("advances to the last scanned block, and its cursor to the last final one of these", () => {
    expect(next({})).to.deep.equal({
      ...state(),
      cursorHeight: 104,
      cursorHash: "h104",
      cursorTime: timeOf(104),
      tipHeight: 120,
      tipHash: "h120",
      tipTime: timeOf(120),
      tipSeenAt: timeOf(120),
      headHeight: 130,
      disabledTokens: ["USDC"],
      version: 4,
    });
    expect(next({ finalized: head(125) })).to.include({ cursorHeight: 120, cursorHash: "h120" });
  });

  it("has the time at which its newest block was first read, which is the block's own until it is read to the end", () => {
    const at = scannedAt + second;
    const newest = { to: head(120), latest: head(120) };
    expect(next(newest, at).tipSeenAt).to.equal(at);
    expect(next({}, at).tipSeenAt).to.equal(timeOf(120));
    const same = { to: head(110), latest: head(110) };
    expect(next(same, at).tipSeenAt).to.equal(state().tipSeenAt);
    const behind = state({ headHeight: 111 });
    expect(nextState(behind, read(same), [], at).tipSeenAt).to.equal(at);
  });

  it("learns within days how far new blocks are behind, only while it is scanned", () => {
    const old = (height: number, at: number, lagMs: number) => ({
      to: { ...head(height), time: at - lagMs },
      latest: { ...head(height), time: at - lagMs },
    });
    const learn = (days: number, everyMs: number) => {
      let learned = state();
      const until = scannedAt + days * day;
      for (let at = scannedAt + everyMs; at <= until; at += everyMs) {
        const { tipHeight } = learned;
        learned = nextState(learned, read(old(tipHeight + 1, at, 30 * minute)), [], at);
      }
      return learned.usualLagMs / minute;
    };
    expect(learn(1, 30 * second)).to.be.within(18, 20);
    expect(learn(5, 30 * second)).to.be.within(28, 30);
    expect(learn(1, minute)).to.be.within(18, 20);
    // A block that was mined while nothing was scanned proves no lag, and that the chain has none neither.
    expect(learn(1, 2 * minute)).to.equal(0);
    const usual = state({ usualLagMs: 30 * minute });
    const learnedFrom = (height: number, at: number) =>
      nextState(usual, read(old(height, at, 0)), [], at).usualLagMs;
    expect(learnedFrom(400, scannedAt + 3 * hour), "after a stop").to.equal(usual.usualLagMs);
    expect(learnedFrom(110, scannedAt + 30 * second), "no new block").to.equal(usual.usualLagMs);
    expect(learnedFrom(111, scannedAt - second), "clock set back").to.equal(usual.usualLagMs);
    expect(learnedFrom(111, scannedAt + 30 * second)).to.be.below(usual.usualLagMs);
  });

  it("keeps its cursor unless there is a newer final block", () => {
    for (const finalized of [head(99), { ...head(100), time: 1 }]) {
      const { cursorHeight, cursorHash, cursorTime } = state();
      expect(next({ finalized })).to.include({ cursorHeight, cursorHash, cursorTime });
    }
  });

  it("records the cursor's block as at least a minute old", () => {
    const finalized = { ...head(104), time: scannedAt - minute + 1 };
    expect(next({ finalized }).cursorTime).to.equal(scannedAt - minute);
    expect(next({ finalized }, scannedAt + 1).cursorTime).to.equal(finalized.time);
  });

  it("restarts above the block to which a replaced chain goes back", () => {
    const at = scannedAt + second;
    const base = { ...head(40), time: at };
    expect(stateAt(state({ disabledTokens: ["USDC"] }), base, 90, at)).to.deep.equal({
      ...state({ disabledTokens: ["USDC"] }),
      cursorHeight: 40,
      cursorHash: "h40",
      cursorTime: at - minute,
      tipHeight: 40,
      tipHash: "h40",
      tipTime: at,
      tipSeenAt: at,
      headHeight: 90,
      scannedAt: at,
      version: 4,
    });
  });

  it("is behind as long as the chain has blocks that were not read", () => {
    expect(isBehind(state({ headHeight: 111 }))).to.equal(true);
    expect(isBehind(state())).to.equal(false);
    expect(isBehind(state({ headHeight: 109 }))).to.equal(false);
  });

  it("is written every ten seconds, once a second for a new tip, and at once if more is to be read", () => {
    const newTip = { tipHeight: 111, tipHash: "h111", headHeight: 111 };
    const cases: readonly [boolean, age: number, changes: Partial<NetworkStateRow>][] = [
      [false, 10 * second - 1, {}],
      [true, 10 * second, {}],
      [true, -10 * second, {}],
      [false, second - 1, newTip],
      [true, second, newTip],
      [true, -second, newTip],
      [true, 0, { ...newTip, headHeight: 112 }],
      [false, second, { headHeight: 112 }],
      [true, 0, { disabledTokens: ["USDC"] }],
    ];
    for (const [isWorth, age, changes] of cases) {
      const after = state({ scannedAt: scannedAt + age, ...changes });
      expect(isWorthWriting(state(), after), JSON.stringify([age, changes])).to.equal(isWorth);
    }
    const disabled = state({ disabledTokens: ["USDC"] });
    expect(isWorthWriting(disabled, disabled)).to.equal(false);
  });
});

describe("The blocks that are kept after a scan", () => {
  /** A spacing of two blocks. */
  const network = { windowBlocks: 16 };
  const kept = (
    known: readonly number[],
    given: { readonly to?: number; readonly cursor?: number; readonly before?: number } = {},
    changes: Partial<ChainRead> = {},
  ) => {
    const { to = 120, cursor = 104, before = 100 } = given;
    const cursorOf = (height: number) =>
      state({ cursorHeight: height, cursorHash: block(height).hash });
    const found = read({ to: head(to), ...changes });
    return blocksToStore(known.map(block), found, cursorOf(before), cursorOf(cursor), network);
  };
  const heights = (blocks: readonly KnownBlock[]) => blocks.map(({ height }) => height);

  it("are both cursors and the last scanned block", () => {
    expect(kept([])).to.deep.equal([block(100), block(104), block(120)]);
  });

  it("have their spacing, of which a window has eight", () => {
    expect(heights(kept([], { cursor: 101 }))).to.deep.equal([100, 120]);
    expect(heights(kept([], { cursor: 102 }))).to.deep.equal([100, 102, 120]);
    expect(heights(kept([99]))).to.deep.equal([99, 104, 120]);
    expect(heights(kept([99, 100]))).to.deep.equal([99, 100, 104, 120]);
    expect(heights(kept([98]))).to.deep.equal([98, 100, 104, 120]);
    expect(heights(kept([100, 118]))).to.deep.equal([100, 104, 118, 120]);
    expect(heights(kept([100, 119]))).to.deep.equal([100, 104, 119]);
    expect(heights(kept([100], { to: 105 }))).to.deep.equal([100, 104]);
    expect(heights(kept([100], { to: 106 }))).to.deep.equal([100, 104, 106]);
  });

  it("are certainly final up to the cursor: those that were kept before they were final are dropped", () => {
    expect(heights(kept([100, 102, 106]))).to.deep.equal([100, 104, 106, 120]);
    const replaced = { height: 104, hash: "replaced" };
    const found = read({});
    const [before, after] = [state(), state({ cursorHeight: 104, cursorHash: "h104" })];
    expect(blocksToStore([block(100), replaced], found, before, after, network)).to.deep.equal([
      block(100),
      block(104),
      block(120),
    ]);
  });

  it("do not include those above the block from which a changed chain was read again", () => {
    const changed = { isRewound: true, base: block(110) };
    expect(heights(kept([100, 108, 110, 112], {}, changed))).to.deep.equal([
      ...[100, 104, 108, 110, 120],
    ]);
    expect(heights(kept([100, 108, 110, 112]))).to.deep.equal([100, 104, 108, 110, 112, 120]);
    const old = { height: 120, hash: "replaced" };
    const end = blocksToStore([block(100), old], read({}), state(), state(), network);
    expect(end.at(-1)).to.deep.equal(block(120));
  });

  it("are fewer far below the cursor, and none beyond the depth to which a chain is followed back", () => {
    const every = Array.from({ length: 5_100 }, (_, place) => 2 * place);
    // All down to 64 spacings, then the first of every 32 spacings, down to 2,048 spacings.
    for (const [cursor, lowest, highest, dense] of [
      [10_000, 5_952, 9_856, 9_872],
      [10_048, 5_952, 9_856, 9_920],
    ] as const) {
      const known = every.filter((height) => height <= cursor);
      const sparse = every.filter(
        (height) => height >= lowest && height <= highest && height % 64 === 0,
      );
      const last = every.filter((height) => height >= dense && height <= cursor);
      expect(heights(kept(known, { cursor, before: cursor, to: cursor }))).to.deep.equal([
        ...sparse,
        ...last,
      ]);
    }
  });
});
