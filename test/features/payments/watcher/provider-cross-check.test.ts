// The later readings of final blocks, without a store: which of them are kept, and how often a question is repeated.
import { expect } from "chai";
import { makeProviderCrossCheck } from "../../../../src/features/payments/watcher/provider-cross-check.ts";
import { hour, minute, second } from "../../../../src/kernel/clock.ts";
import type { ReadingRow } from "../../../../src/platform/chain/state/reading-ranges.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import type { BlockRange, TimedLog } from "../../../../src/features/payments/ledger/chain-diff.ts";

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
  /** The transfers that each reading finds and that are not on record. */
  readonly fresh?: readonly Partial<TimedLog>[];
  /** When the logs of the first provider, which is found to omit transfers, were proven last. */
  readonly silentSince?: number | undefined;
  /** The addresses that are watched, with the times since when they are. */
  readonly watched?: Readonly<Record<string, number>>;
}

interface Entry {
  readonly changes: unknown;
}
interface Reading extends BlockRange {
  readonly provider: string;
  readonly difference: { readonly fresh: readonly Partial<TimedLog>[] };
}
interface Options {
  readonly within: (tx: unknown, entered: Reading["difference"]["fresh"]) => Promise<void>;
}

/** Checks providers against each other an hour after the first reading. */
function openCheck(checked: Checked) {
  const { ends, rows = [scanned], fresh = [], watched = {}, silentSince } = checked;
  let now = hour;
  const clock = { now: () => now };
  const alarms = createAlarms({ clock, logger: silentLogger });
  const recorded: string[] = [];
  const asked: string[] = [];
  const audited: unknown[] = [];
  const dropped: number[] = [];
  const noting = () => Promise.resolve();
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
    db: {
      findOne: () => Promise.resolve({ cursorHeight: 20, tipHeight: 30, tipTime: hour }),
      find: () => Promise.resolve(rows),
      write: (_context: unknown, change: (to: unknown) => Promise<void>) =>
        change({
          lock(_table: unknown, _sql: string, [, height]: readonly [string, number]) {
            dropped.push(height);
            return Promise.resolve([]);
          },
          deleteMany: noting,
          insertMany: noting,
        }),
    },
    journal: { record: (_tx: unknown, _at: unknown, { changes }: Entry) => audited.push(changes) },
    invoices: {
      oldestHold: () => Promise.resolve(hour - 60 * second),
      watchedSince: () => Promise.resolve(new Map(Object.entries(watched))),
    },
    pool: {
      providers: clients,
      health: () =>
        clients.map(({ provider }, place) => ({
          provider,
          condition: "silentSince" in checked && place === 0 ? "silent_logs" : "ok",
          provenAt: silentSince,
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
          difference: { fresh, moved: [], orphaned: [], contradicting: [] },
          parent: { height: range.from - 1, hash: hashAt(range.from - 1) },
          end: endOf(provider),
        }),
      async record(_context: unknown, reading: Reading, { within }: Options) {
        const { provider, from, to, difference } = reading;
        recorded.push(`${provider}: ${String(from)} to ${String(to)}`);
        await within({ upsertMany: noting, run: noting }, difference.fresh);
      },
    },
  } as never);
  return {
    alarms,
    asked,
    audited,
    dropped,
    recorded,
    /** Lets time pass, and checks. Returns whether more is due at once. */
    later: (milliseconds: number) => {
      now += milliseconds;
      return check.compare(() => Promise.resolve());
    },
  };
}

const [ours, another] = [hashAt(20), "another"];

describe("A later reading of final blocks", () => {
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

describe("A transfer that a later reading finds", () => {
  const found = {
    transactionHash: "tx1",
    logIndex: 2,
    blockHeight: 15,
    to: "shop",
    blockTime: 500,
  };

  it("is left out, with an alarm and an audit entry, if its address was watched when its block came", async () => {
    const from = async (watched: Readonly<Record<string, number>>) => {
      const check = openCheck({ ends: { one: ours }, fresh: [found], watched });
      await check.later(minute);
      return [check.alarms.open().map(({ kind, subject }) => [kind, subject]), check.audited];
    };
    const { transactionHash, logIndex, blockHeight } = found;
    const entry = { transactionHash, logIndex, blockHeight, enteredFrom: "one" };
    expect(await from({ shop: 500 })).to.deep.equal([[["transfer_left_out", "tx1"]], [entry]]);
    expect(await from({ shop: 501 })).to.deep.equal([[], []]);
    expect(await from({ another: 0 })).to.deep.equal([[], []]);
  });
});

describe("The check of later readings", () => {
  it("is due at once while more ranges are, and within the limit of requests without watched addresses", async () => {
    // The stored range stays due, as no reading of it is stored.
    const { later, recorded } = openCheck({ ends: { one: ours } });
    const isMore: boolean[] = [];
    for (let checks = 0; checks < 6; checks += 1)
      isMore.push(await later(checks === 0 ? minute : 0));
    expect(recorded).to.have.length(4);
    expect(isMore).to.deep.equal([true, true, true, false, false, false]);
    await later(30 * second);
    expect(recorded).to.have.length(5);
  });

  it("is not due if nothing is to be read, or nobody can be asked", async () => {
    for (const given of [{ ends: { one: ours }, rows: [] }, { ends: {} }]) {
      const { later, recorded } = openCheck(given);
      expect(await later(minute)).to.equal(false);
      expect(recorded).to.deep.equal([]);
    }
  });

  it("comes every fifteen seconds", async () => {
    const { later, recorded } = openCheck({ ends: { one: ours } });
    expect(await later(15 * second - 1)).to.equal(false);
    expect(recorded).to.deep.equal([]);
    await later(1);
    expect(recorded).to.have.length(1);
  });
});

describe("The readings of a provider that omits transfers", () => {
  it("are withdrawn once: those since its logs were proven, or else those that can matter to an open hold", async () => {
    const ends = { one: ours, two: ours };
    // The oldest hold is five blocks old.
    for (const [silentSince, height] of [
      [7, 0],
      [undefined, 25],
    ] as const) {
      const { later, dropped } = openCheck({ ends, silentSince });
      await later(minute);
      await later(minute);
      expect(dropped).to.deep.equal([height]);
    }
    const { later, dropped } = openCheck({ ends });
    await later(minute);
    expect(dropped).to.deep.equal([]);
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
