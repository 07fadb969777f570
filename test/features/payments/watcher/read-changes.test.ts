// The questions of a scan: the watched addresses, and the times of the blocks of logs.
import { expect } from "chai";
import type { TransferRow } from "../../../../src/features/payments/table.ts";
import {
  makeBlockTimes,
  type AskedBlock,
} from "../../../../src/features/payments/watcher/block-times.ts";
import {
  recipientsMax,
  recipientsOf,
  withTimes,
} from "../../../../src/features/payments/watcher/read-changes.ts";
import { holds } from "../../../../src/features/invoices/table.ts";
import type { ChainClient, TransferLog } from "../../../../src/platform/chain/client.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import { openLedger, type Ledger } from "../../../support/ledger.ts";
import { addNetwork } from "../../../support/watched-ledger.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";
import { addressOf } from "../../../support/chain/fake-chain.ts";
import { standInInvoices, token } from "../../../support/chain/asked-invoices.ts";
import { openPool } from "../../../support/chain/world.ts";

anyStore("The addresses that a scan asks for", (store) => {
  let shop: Ledger;
  before(async () => {
    shop = await openLedger(await store.open());
  });

  const shopAt = (place: number) => `5${place.toString(16).padStart(39, "0")}`;
  const paid = ["paid 1", "paid 2"];

  /** Opens a network on which invoices of the shop hold this number of addresses. */
  async function open(count: number) {
    const network = addNetwork(shop, { addressFamily: `family of ${String(count)}` });
    const { db } = shop;
    await shop.scan(network.id);
    const { id: walletId } = await shop.addWallet(network.id, { address: `0x${shopAt(0)}` });
    await shop.create({ network: network.id, walletId });
    const [hold] = await db.find(holds, "WHERE network = $1", [network.id]);
    if (hold === undefined) throw new Error("the invoice holds no address");
    const copies = Array.from({ length: count - 1 }, (_, place) => ({
      ...hold,
      id: shop.ids.next("hold", shop.now()),
      address: shopAt(place + 1),
    }));
    await db.write(testContext, (tx) => tx.insertMany(holds, copies));
    return (...to: readonly string[]) =>
      recipientsOf(
        { db, network },
        to.map((toAddress) => ({ toAddress }) as TransferRow),
      );
  }

  it("are those of holds, and those of transfers that are not final, each once", async () => {
    const recipients = await open(2);
    const found = await recipients(shopAt(1), ...paid);
    expect(found.addresses).to.deep.equal([shopAt(0), shopAt(1), ...paid]);
    expect([...(await found.among(["whatever"]))]).to.deep.equal(found.addresses);
  });

  it("are at most five thousand, above which all transfers are read and their addresses looked up", async () => {
    for (const [count, to] of [
      [4_998, paid],
      [5_000, []],
    ] as const) {
      const recipients = await open(count);
      expect((await recipients(...to)).addresses).to.have.length(5_000);
      const more = await recipients(...to, "paid 3");
      expect(more.addresses).to.equal(null);
      const found = await more.among([shopAt(7), "stranger"]);
      expect([...found].sort()).to.deep.equal([shopAt(7), ...to, "paid 3"]);
    }
    const without = await (await open(5_001))();
    expect(without.addresses).to.equal(null);
  });
});

describe("The times of logs", () => {
  const log = (height: number, blockTime: number | null) =>
    ({ blockHeight: height, blockHash: `b${String(height)}`, blockTime }) as TransferLog;

  /**
   * Adds times to logs between the times 10 and 20. The provider that is read has the block 5, of the time 15, and the
   * block 8, of the impossible time 21; two other ones report the times `believed` by height.
   */
  async function timed(
    logs: readonly TransferLog[],
    onRecord: Readonly<Record<string, number>> = {},
    believed: Readonly<Record<number, number>> = {},
  ) {
    const heights: number[] = [];
    const checked: AskedBlock[] = [];
    const provider = (name: string, times: Readonly<Record<number, number>>) => ({
      network: "base",
      provider: name,
      blocks: (given: readonly number[]) =>
        Promise.resolve(
          given.map((height) => {
            const time = times[height];
            return time === undefined ? null : { height, hash: `b${String(height)}`, time };
          }),
        ),
    });
    const read = provider("http://one", { 5: 15, 8: 21 });
    const client: Partial<ChainClient> = {
      ...read,
      blocks(given) {
        heights.push(...given);
        return read.blocks(given);
      },
    };
    const others = ["http://two", "http://three"].map((name) => provider(name, believed));
    const clock = { now: () => 1_000 };
    const alarms = createAlarms({ clock, logger: silentLogger });
    const providers = [read, ...others] as readonly Partial<ChainClient>[] as ChainClient[];
    const times = makeBlockTimes({ clock, providers, alarms });
    const stored = Object.entries(onRecord).map(
      ([blockHash, blockTime]) => ({ blockHash, blockTime }) as TransferRow,
    );
    const found = await withTimes({ client: client as ChainClient, times }, stored, logs, {
      after: 10,
      before: 20,
      check: (given) => Promise.resolve(void checked.push(...given)),
    }).then(
      (of) => of.map(({ blockTime, isTimeAgreed }) => [blockTime, isTimeAgreed]),
      (error: unknown) => (error as Error).message,
    );
    return { found, heights, checked };
  }

  it("are those of the logs, of their blocks or on record, in this order", async () => {
    const { found, heights, checked } = await timed(
      [log(1, 10), log(2, 20), log(5, null), log(5, null), log(7, null)],
      { b1: 99, b7: 12 },
    );
    expect(found).to.deep.equal([10, 20, 15, 15, 12].map((time) => [time, false]));
    expect(heights).to.deep.equal([5]);
    expect(checked.map(({ hash, reported }) => [hash, reported?.time ?? null])).to.deep.equal([
      ["b1", 10],
      ["b2", 20],
      ["b5", 15],
      ["b5", 15],
      ["b7", null],
    ]);
    expect((await timed([log(1, 11)])).heights).to.deep.equal([]);
  });

  it("are those on which providers agree, if they do", async () => {
    const { found } = await timed([log(1, 11), log(7, null)], { b7: 12 }, { 1: 13, 7: 14 });
    expect(found).to.deep.equal([
      [13, true],
      [14, true],
    ]);
  });

  it("are those of their blocks if they are impossible", async () => {
    for (const time of [9, 21]) {
      const { found, heights } = await timed([log(5, 11), log(5, time)]);
      expect(found).to.deep.equal([15, 15].map((itsTime) => [itsTime, false]));
      expect(heights).to.deep.equal([5]);
    }
  });

  it("drop the answer if those of their blocks are impossible too, or a block was replaced", async () => {
    for (const time of [9, 21]) {
      expect((await timed([log(5, 11), log(8, time)])).found).to.match(/a block time before/);
    }
    expect((await timed([log(6, null)])).found).to.match(/block was replaced/);
  });
});

anyStore("A scan with more addresses than providers filter by", (store) => {
  store.leavesUnsound(standInInvoices);

  it("fetches every transfer with an alarm until there are fewer, and misses no payment", async () => {
    const till = await openPool(await store.open());
    try {
      const shop = addressOf("shop");
      till.invoices.ask({ address: shop });
      const others = Array.from({ length: recipientsMax }, (_, place) =>
        till.invoices.ask({ address: `6${place.toString(16).padStart(39, "0")}` }),
      );
      const kinds = () => till.alarms.open().map(({ kind }) => kind);
      till.chain.mine([{ to: shop, amount: token(25) }]);
      await till.mine(1);
      expect(kinds()).to.deep.equal(["addresses_unfiltered"]);
      expect(await till.storedAlarms()).to.deep.equal(["addresses_unfiltered"]);
      expect(await till.payments()).to.have.length(1);
      for (const other of others.slice(0, 1)) other.isWatched = false;
      till.chain.mine([{ to: shop, amount: token(25) }]);
      await till.mine(1);
      expect(kinds()).to.deep.equal([]);
      expect(await till.payments()).to.have.length(2);
    } finally {
      await till.stop();
    }
  });
});
