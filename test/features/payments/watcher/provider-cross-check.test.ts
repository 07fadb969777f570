// The later readings of final blocks, without a store: which of them are kept, and how often a question is repeated.
import { expect } from "chai";
import type { RangeSize } from "../../../../src/features/payments/watcher/chain-reader.ts";
import { makeProviderCrossCheck } from "../../../../src/features/payments/watcher/provider-cross-check.ts";
import { hour, minute, second } from "../../../../src/kernel/clock.ts";
import type { ReadingRow } from "../../../../src/platform/chain/state/reading-ranges.ts";
import { createAlarms, restSubject } from "../../../../src/platform/chain/state/alarms.ts";
import { unknownProvider } from "../../../../src/platform/chain/state/readings.ts";
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
  /** Since when the oldest hold is open; by default for five blocks. */
  readonly heldSince?: number | null;
}

interface Entry {
  readonly changes: unknown;
}
interface Reading extends BlockRange {
  readonly provider: string;
  readonly difference: { readonly fresh: readonly Partial<TimedLog>[] };
}
interface Options {
  readonly isReading: boolean;
  readonly within: (tx: unknown, entered: Reading["difference"]["fresh"]) => Promise<void>;
}

/** Checks providers against each other an hour after the first reading. */
function openCheck(checked: Checked) {
  const { ends, rows = [scanned], fresh = [], watched = {}, silentSince } = checked;
  const { heldSince = hour - 60 * second } = checked;
  const given = { isSilent: "silentSince" in checked };
  /** The questions to the store: for the readings, and for the oldest hold. */
  const questions = { readings: 0, holds: 0 };
  const stored: string[] = [];
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
      findOne: () => {
        const cursorHeight = Math.max(20, ...rows.map(({ toHeight }) => toHeight));
        return Promise.resolve({ cursorHeight, tipHeight: 30, tipTime: hour });
      },
      find: () => {
        questions.readings += 1;
        return Promise.resolve(rows);
      },
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
      oldestHold: () => {
        questions.holds += 1;
        return Promise.resolve(heldSince);
      },
      watchedSince: () => Promise.resolve(new Map(Object.entries(watched))),
    },
    pool: {
      providers: clients,
      health: () =>
        clients.map(({ provider }, place) => ({
          provider,
          condition: given.isSilent && place === 0 ? "silent_logs" : "ok",
          provenAt: silentSince,
          isInUse: place === 0,
          place,
        })),
    },
    scanner: {
      network,
      read: ({ provider }: { readonly provider: string }, size: RangeSize, range: BlockRange) => {
        size.accepted(size.current());
        return Promise.resolve({
          ...range,
          provider,
          difference: { fresh, moved: [], orphaned: [], contradicting: [] },
          parent: { height: range.from - 1, hash: hashAt(range.from - 1) },
          end: endOf(provider),
        });
      },
      async record(_context: unknown, reading: Reading, { isReading, within }: Options) {
        const { provider, from, to, difference } = reading;
        const kind = isReading ? "" : ", again";
        recorded.push(`${provider}: ${String(from)} to ${String(to)}${kind}`);
        const upsertMany = (_table: unknown, alarmed: readonly { readonly kind: string }[]) => {
          stored.push(...alarmed.map((alarm) => alarm.kind));
          return Promise.resolve();
        };
        await within({ upsertMany, run: noting }, difference.fresh);
      },
    },
  } as never);
  return {
    alarms,
    asked,
    audited,
    dropped,
    given,
    questions,
    recorded,
    stored,
    /** Lets time pass, and checks. Returns whether more is due at once. */
    later: (milliseconds: number, guard = () => Promise.resolve()) => {
      now += milliseconds;
      return check.compare(guard);
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
    const { asked, recorded, later } = openCheck({ ends: { one: ours, two: another } });
    expect(await later(minute)).to.equal(false);
    await later(15 * second - 1);
    expect([asked, recorded]).to.deep.equal([["one: block 20"], []]);
    await later(1);
    expect(recorded).to.deep.equal(["one: 11 to 20"]);
  });

  it("is not kept if any of the joined ranges begins or ends with another block", async () => {
    const ends = { one: null, two: ours };
    const elsewhere = { ...scanned, parentHash: "elsewhere" };
    const below = { ...scanned, toHeight: 15, toHash: hashAt(15) };
    const above = { ...scanned, fromHeight: 16, parentHash: hashAt(15), toHash: "elsewhere" };
    for (const rows of [[elsewhere], [below, above]]) {
      const { asked, recorded, later } = openCheck({ ends, rows });
      await later(minute);
      expect([asked, recorded]).to.deep.equal([["one: block 20"], []]);
    }
  });

  it("is of the newest blocks, as many as the provider answers at once, which grow with its answers", async () => {
    const rows = [{ ...scanned, toHeight: 520, toHash: hashAt(520) }];
    const { recorded, later } = openCheck({ ends: { one: ours }, rows });
    await later(minute);
    await later(0);
    expect(recorded).to.deep.equal(["one: 321 to 520", "one: 221 to 520"]);
  });

  it("reaches down to the oldest open hold in blocks that an earlier version of Till read", async () => {
    const early = (toHeight: number): ReadingRow => ({
      ...scanned,
      toHeight,
      toHash: hashAt(toHeight),
      readings: [{ provider: unknownProvider, at: 0 }],
    });
    const read = async (rows: readonly ReadingRow[], heldSince: number | null) => {
      const { recorded, later } = openCheck({ ends: { one: ours }, rows, heldSince });
      await later(minute);
      return recorded;
    };
    // The newest block is 30, and each takes twelve seconds.
    expect(await read([early(20)], hour - 180 * second)).to.deep.equal(["one: 15 to 20"]);
    expect(await read([early(20)], hour - 60 * second)).to.deep.equal([]);
    expect(await read([early(30)], null)).to.deep.equal([]);
    const readings = [{ provider: "one", at: hour }];
    const above = { ...scanned, fromHeight: 21, toHeight: 30, toHash: hashAt(30), readings };
    expect(await read([early(20), above], hour - 60 * second)).to.deep.equal([]);
  });

  it("asks for the oldest hold once an hour, and for none if no earlier version read blocks", async () => {
    const rows = [{ ...scanned, readings: [{ provider: unknownProvider, at: 0 }] }];
    const { questions, later } = openCheck({ ends: { one: ours }, rows });
    await later(minute);
    await later(hour - 15 * second);
    expect(questions.holds).to.equal(1);
    await later(15 * second);
    expect(questions.holds).to.equal(2);
    const own = openCheck({ ends: { one: ours } });
    await own.later(minute);
    expect(own.questions.holds).to.equal(0);
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
      const open = check.alarms.open().map(({ kind, subject }) => [kind, subject]);
      // The alarm is stored together with the transfer, and not again.
      expect(check.alarms.changes()).to.deep.equal([]);
      expect(check.stored).to.deep.equal(open.map(([kind]) => kind));
      return [open, check.audited];
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

  it("is not due if nothing is to be read, or nobody can be asked, and comes again later", async () => {
    for (const given of [{ ends: { one: ours }, rows: [] }, { ends: {} }]) {
      const { later, questions, recorded } = openCheck(given);
      expect(await later(minute)).to.equal(false);
      expect(recorded).to.deep.equal([]);
      await later(15 * second - 1);
      expect(questions.readings).to.equal(1);
      await later(1);
      expect(questions.readings).to.equal(2);
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

  it("are withdrawn again if it omits transfers once more after its recovery", async () => {
    const { given, later, dropped } = openCheck({ ends: { one: ours, two: ours }, silentSince: 7 });
    for (const isSilent of [true, false, true, true]) {
      given.isSilent = isSilent;
      await later(minute);
    }
    expect(dropped).to.deep.equal([0, 0]);
  });

  it("are withdrawn only while the lease is held", async () => {
    const { later, dropped } = openCheck({ ends: { one: ours, two: ours }, silentSince: 7 });
    const lost = await later(minute, () => Promise.reject(new Error("lost"))).catch(String);
    expect([lost, dropped]).to.deep.equal(["Error: lost", []]);
    await later(minute);
    expect(dropped).to.deep.equal([0]);
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

  it("on blocks has them read again, which does not count as a reading", async () => {
    const { alarms, recorded, later } = openCheck({ ends: { one: ours, two: ours }, rows: [] });
    alarms.raise("providers_disagree", "blocks 12 to 14", "one has many, two denies them");
    await later(minute);
    expect(recorded).to.deep.equal(["two: 12 to 14, again"]);
  });

  it("is asked about with twenty others at a time, beginning after the last one", async () => {
    const { alarms, asked, later } = openCheck({ ends: { one: ours, two: ours }, rows: [] });
    const names = Array.from({ length: 25 }, (_, place) => `tx${String(place + 10)}`);
    const questions = async () => {
      for (const name of names) alarms.raise("providers_disagree", name, "two denies it");
      await later(10 * minute);
      return asked.splice(0).map((question) => question.replace("two: receipt ", ""));
    };
    expect(await questions()).to.deep.equal(names.slice(0, 20));
    expect(await questions()).to.deep.equal([...names.slice(20), ...names.slice(0, 15)]);
  });

  it("is the only kind of alarm that is asked about, and only by its own subject", async () => {
    const { alarms, asked, later } = openCheck({ ends: { one: ours, two: ours }, rows: [] });
    alarms.raise("payment_held", "pay_1", "two denies it");
    for (const subject of ["tx1", restSubject]) {
      alarms.raise("providers_disagree", subject, "two denies it");
    }
    await later(minute);
    expect(asked).to.deep.equal(["two: receipt tx1"]);
  });

  it("stays open while no second provider can be asked", async () => {
    const { alarms, asked, later } = openCheck({ ends: { one: ours }, rows: [] });
    alarms.raise("providers_disagree", "tx1", "two denies it");
    await later(minute);
    expect(asked).to.deep.equal([]);
    expect(alarms.open()).to.have.length(1);
  });
});
