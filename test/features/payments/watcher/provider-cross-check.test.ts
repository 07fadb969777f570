// The later readings of final blocks, without a store: which of them are kept, and how often a question is repeated.
import { expect } from "chai";
import { makeProviderCrossCheck } from "../../../../src/features/payments/watcher/provider-cross-check.ts";
import { hour, minute, second } from "../../../../src/kernel/clock.ts";
import type { ReadingRow } from "../../../../src/platform/chain/state/reading-ranges.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import type { BlockRange } from "../../../../src/features/payments/ledger/chain-diff.ts";

/** The hash of a block on the chain that was scanned. */
const hashAt = (height: number) => `h${String(height)}`;

/** Blocks 11 to 20, which the first provider read at the start. */
const scanned: ReadingRow = {
  fromHeight: 11,
  parentHash: hashAt(10),
  toHeight: 20,
  toHash: hashAt(20),
  readings: [{ provider: "one", at: 0 }],
  openedAt: 0,
};

interface Checked {
  /** The hashes of block 20 by provider, in order of preference; null if a provider lacks the block. */
  readonly ends: Readonly<Record<string, string | null>>;
  readonly rows?: readonly ReadingRow[];
}

/** Checks providers against each other an hour after the first reading. */
function openCheck({ ends, rows = [scanned] }: Checked) {
  let now = hour;
  const clock = { now: () => now };
  const alarms = createAlarms({ clock, logger: silentLogger });
  const recorded: string[] = [];
  const asked: string[] = [];
  const endOf = (provider: string) => {
    const hash = ends[provider] ?? null;
    return hash === null ? null : { height: 20, hash, time: 0 };
  };
  const clients = Object.keys(ends).map((provider) => ({
    provider,
    blocks(heights: readonly number[]) {
      asked.push(`${provider}: block ${heights.join(" ")}`);
      return Promise.resolve([endOf(provider)]);
    },
    receipt(transactionHash: string) {
      asked.push(`${provider}: receipt ${transactionHash}`);
      return Promise.resolve(null);
    },
  }));
  const network = { id: "ethereum", blockTimeMs: 12 * second, maxLogRange: 1_000 };
  const check = makeProviderCrossCheck({
    clock,
    alarms,
    network,
    db: { findOne: () => Promise.resolve({ cursorHeight: 20 }), find: () => Promise.resolve(rows) },
    invoices: { watchedSince: () => Promise.resolve(new Map()) },
    pool: {
      providers: clients,
      health: () =>
        clients.map(({ provider }, place) => ({
          provider,
          condition: "ok",
          isInUse: place === 0,
          place,
        })),
    },
    scanner: {
      network,
      read: ({ provider }: { readonly provider: string }, _size: unknown, range: BlockRange) =>
        Promise.resolve({
          ...range,
          provider,
          difference: { fresh: [], moved: [], orphaned: [], contradicting: [] },
          parent: { height: range.from - 1, hash: hashAt(range.from - 1) },
          end: endOf(provider),
        }),
      record(
        _context: unknown,
        { provider, from, to }: BlockRange & { readonly provider: string },
      ) {
        recorded.push(`${provider}: ${String(from)} to ${String(to)}`);
        return Promise.resolve();
      },
    },
  } as never);
  return {
    alarms,
    asked,
    recorded,
    /** Lets time pass, and checks. */
    later: async (milliseconds: number) => {
      now += milliseconds;
      await check.compare(() => Promise.resolve());
    },
  };
}

describe("A later reading of final blocks", () => {
  const [ours, another] = [hashAt(20), "another"];

  it("is made by the other provider, which is believed if the blocks are those that were read before", async () => {
    const { asked, recorded, later } = openCheck({ ends: { one: null, two: ours } });
    await later(minute);
    expect(recorded).to.deep.equal(["two: 11 to 20"]);
    expect(asked).to.deep.equal([]);
  });

  it("is not kept if its blocks are others, which no other provider has; that provider is asked next", async () => {
    for (const one of [ours, null]) {
      const { asked, recorded, later } = openCheck({ ends: { one, two: another } });
      await later(minute);
      expect(recorded).to.deep.equal([]);
      expect(asked).to.deep.equal(["one: block 20"]);
    }
    const { recorded, later } = openCheck({ ends: { one: ours, two: another } });
    await later(minute);
    await later(20 * second);
    expect(recorded).to.deep.equal(["one: 11 to 20"]);
  });

  it("is kept with other blocks if another provider has them too, or if the network has only one", async () => {
    const both = openCheck({ ends: { one: another, two: another } });
    await both.later(minute);
    expect(both.recorded).to.deep.equal(["two: 11 to 20"]);
    const alone = openCheck({ ends: { one: another } });
    await alone.later(minute);
    expect(alone.recorded).to.deep.equal(["one: 11 to 20"]);
  });
});

describe("An open disagreement of providers", () => {
  it("is asked about again every ten minutes, not with each check", async () => {
    const { alarms, asked, later } = openCheck({ ends: { one: "a", two: "a" }, rows: [] });
    const raise = () => {
      alarms.raise("providers_disagree", "tx1", "one has it, two denies it");
    };
    raise();
    for (let minutes = 1; minutes <= 10; minutes += 1) {
      await later(minute);
      raise();
    }
    expect(asked).to.deep.equal(["two: receipt tx1"]);
    await later(minute);
    expect(asked).to.deep.equal(["two: receipt tx1", "two: receipt tx1"]);
    expect(alarms.open()).to.deep.equal([]);
  });
});
