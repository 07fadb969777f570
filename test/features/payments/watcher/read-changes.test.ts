// Unit tests of what a scan asks for: the watched addresses, and the times of the blocks of logs.
import { expect } from "chai";
import type { TransferRow } from "../../../../src/features/payments/table.ts";
import type { AskedBlock } from "../../../../src/features/payments/watcher/block-times.ts";
import { recipientsOf, withTimes } from "../../../../src/features/payments/watcher/read-changes.ts";
import type { TransferLog } from "../../../../src/platform/chain/client.ts";

describe("The addresses that a scan asks for", () => {
  const recipients = (held: readonly string[], paid: readonly string[] = ["paid 1", "paid 2"]) => {
    const invoices = {
      watchedAddresses: (_db: unknown, _network: unknown, limit: number) =>
        Promise.resolve(held.slice(0, limit)),
      watchedAmong: (_db: unknown, _network: unknown, asked: readonly string[]) =>
        Promise.resolve(asked.filter((address) => held.includes(address))),
    };
    const revocable = paid.map((toAddress) => ({ toAddress }) as TransferRow);
    return recipientsOf({ db: {}, network: { id: "base" }, invoices } as never, revocable);
  };
  const shops = (count: number) =>
    Array.from({ length: count }, (_, place) => `shop ${String(place)}`);

  it("are those with a hold and those of transfers that are not final, each once", async () => {
    const found = await recipients(["shop 1", "paid 1"]);
    expect(found.addresses).to.deep.equal(["shop 1", "paid 1", "paid 2"]);
    expect([...(await found.among(["whatever"]))]).to.deep.equal(found.addresses);
  });

  it("are at most a thousand; beyond that, all transfers are read and their addresses looked up", async () => {
    expect((await recipients(shops(998))).addresses).to.have.length(1_000);
    const more = await recipients(shops(999));
    expect(more.addresses).to.equal(null);
    const found = await more.among(["shop 7", "stranger"]);
    expect([...found].sort()).to.deep.equal(["paid 1", "paid 2", "shop 7"]);
    expect((await recipients(shops(1_000), [])).addresses).to.have.length(1_000);
    expect((await recipients(shops(1_001), [])).addresses).to.equal(null);
  });
});

describe("The times of logs", () => {
  const log = (height: number, blockTime: number | null) =>
    ({ blockHeight: height, blockHash: `b${String(height)}`, blockTime }) as TransferLog;

  /** Adds times to logs between the times 10 and 20. The provider has the block 5, of the time 15. */
  async function timed(
    logs: readonly TransferLog[],
    onRecord: Readonly<Record<string, number>> = {},
    believed: Readonly<Record<string, number>> = {},
  ) {
    const heights: number[] = [];
    const asked: AskedBlock[] = [];
    const checked: AskedBlock[] = [];
    const client = {
      provider: "http://one",
      blocks(given: readonly number[]) {
        heights.push(...given);
        const own = (height: number) => (height === 5 ? { height, hash: "b5", time: 15 } : null);
        return Promise.resolve(given.map(own));
      },
    };
    const times = {
      of(given: readonly AskedBlock[]) {
        asked.push(...given);
        return Promise.resolve(
          new Map(
            given.flatMap(({ hash, reported }): [string, object][] => {
              const time = believed[hash] ?? reported?.time;
              return time === undefined ? [] : [[hash, { time, isAgreed: hash in believed }]];
            }),
          ),
        );
      },
    };
    const stored = Object.entries(onRecord).map(
      ([blockHash, blockTime]) => ({ blockHash, blockTime }) as TransferRow,
    );
    const found = await withTimes({ client, times } as never, stored, logs, {
      after: 10,
      before: 20,
      check: (given) => Promise.resolve(void checked.push(...given)),
    }).then(
      (of) => of.map(({ blockTime, isTimeAgreed }) => [blockTime, isTimeAgreed]),
      (error: unknown) => (error as Error).message,
    );
    return { found, heights, asked, checked };
  }

  it("are those of the logs, of their blocks or on record, in this order", async () => {
    const { found, heights, asked, checked } = await timed(
      [log(1, 10), log(2, 20), log(5, null), log(5, null), log(7, null)],
      { b1: 99, b7: 12 },
    );
    expect(found).to.deep.equal([10, 20, 15, 15, 12].map((time) => [time, false]));
    expect(heights).to.deep.equal([5]);
    expect(asked.map(({ hash, reported }) => [hash, reported?.time ?? null])).to.deep.equal([
      ["b1", 10],
      ["b2", 20],
      ["b5", 15],
      ["b5", 15],
      ["b7", null],
    ]);
    expect(checked).to.deep.equal(asked);
    expect((await timed([log(1, 11)])).heights).to.deep.equal([]);
  });

  it("are those on which providers agree, if they do", async () => {
    const { found } = await timed([log(1, 11), log(7, null)], { b7: 12 }, { b1: 13, b7: 14 });
    expect(found).to.deep.equal([
      [13, true],
      [14, true],
    ]);
  });

  it("drop the answer if they are impossible, or a block was replaced", async () => {
    for (const time of [9, 21]) {
      expect((await timed([log(1, 11), log(2, time)])).found).to.match(/a block time before/);
    }
    expect((await timed([log(6, null)])).found).to.match(/block was replaced/);
  });
});
