// Providers that report other block times than the chain has: ahead of the clock, before their ancestors, or slightly off.
import { expect } from "chai";
import { day, hour, minute, second } from "../../../../src/kernel/clock.ts";
import { makeBlockTimes } from "../../../../src/features/payments/watcher/block-times.ts";
import { makeAncestorTimes } from "../../../../src/features/payments/watcher/read-changes.ts";
import { ReplyDropped } from "../../../../src/features/payments/watcher/chain-reader.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import type { ChainClient } from "../../../../src/platform/chain/client.ts";
import type { NetworkStateRow } from "../../../../src/platform/chain/state/network-state.ts";
import { openAlarms } from "../../../../src/platform/chain/state/provider-health.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import { eachStore, takeTurns } from "../../../support/store/stores.ts";
import {
  blockMs,
  standInInvoices,
  token,
  type AskedTerms,
} from "../../../support/chain/asked-invoices.ts";
import { openPool, type PooledNetwork } from "../../../support/chain/world.ts";
import { addressOf } from "../../../support/chain/fake-chain.ts";

const shop = addressOf("shop");

eachStore("Block times", (store) => {
  const it = takeTurns(store);
  store.leavesUnsound(standInInvoices);

  let till: PooledNetwork;
  afterEach(() => till.stop());

  async function open(nodes: number): Promise<PooledNetwork> {
    till = await openPool(await store.open(), { nodes });
    return till;
  }
  const viewOf = (place: number) => {
    const node = till.nodes[place];
    if (node === undefined) throw new Error("there is no such node");
    return node.view;
  };
  const ask = (terms: AskedTerms = {}) => till.invoices.ask({ address: shop, terms });
  const pay = () => {
    till.chain.mine([{ to: shop, amount: token(25) }]);
    till.advance(blockMs);
    return till.chain.block(till.chain.height()).time;
  };

  it("ten days ahead are not believed from the only provider, and raise an alarm", async () => {
    await open(1);
    const { id } = ask();
    const before = await till.state();
    viewOf(0).timeShift = 10 * day;
    pay();
    await till.look();
    expect(await till.state()).to.deep.equal(before);
    expect(await till.storedAlarms()).to.deep.equal(["network_not_read", "provider_wrong_time"]);
    expect(till.watcher.health().problem).to.match(
      /more than 10 minutes ahead of this server's clock/,
    );
    viewOf(0).timeShift = 0;
    till.advance(6 * minute);
    await till.mine(5);
    expect(await till.storedAlarms()).to.deep.equal([]);
    expect(till.invoices.totals.get(id)).to.include({ confirmed: token(25), isLate: false });
  });

  it("ten days ahead make the network skip the provider if there is another", async () => {
    await open(2);
    ask();
    viewOf(0).timeShift = 10 * day;
    pay();
    await till.look();
    const { tipHeight, tipTime } = await till.state();
    expect(tipHeight).to.equal(till.chain.height());
    expect(tipTime).to.equal(till.chain.block(tipHeight).time);
    expect(await till.payments()).to.have.length(1);
    expect(await till.storedAlarms()).to.deep.equal(["provider_wrong_time"]);
    expect(till.pool.health()[0]).to.include({ isInUse: false });
  });

  it("that stay wrong are logged and written once, not for each new block", async () => {
    await open(1);
    const { timeShift } = viewOf(0);
    for (const wrong of [{ timeShift: 10 * day }, { timeShift, lag: 30 }]) {
      Object.assign(viewOf(0), wrong);
      for (let looks = 0; looks < 6; looks += 1) await till.mine(1);
      const logged = [...till.loggedAlarms];
      const stored = await openAlarms(till.db);
      await till.mine(1);
      await till.mine(1);
      expect(till.loggedAlarms).to.deep.equal(logged);
      expect(await openAlarms(till.db)).to.deep.equal(stored);
      expect(stored.map(({ kind }) => kind)).to.include("network_not_read");
      expect(logged).to.include("network_not_read");
    }
  });

  it("before the times of the blocks below are not believed", async () => {
    await open(1);
    await till.mine(1);
    const before = await till.state();
    for (const shift of ["tipTimeShift", "timeShift"] as const) {
      viewOf(0)[shift] = -60 * minute;
      await till.mine(1);
      expect(await till.state()).to.deep.equal(before);
      expect(await till.storedAlarms()).to.include("provider_wrong_time");
      viewOf(0)[shift] = 0;
    }
  });

  it("before that of the newest scanned block are not believed from the only provider", async () => {
    await open(1);
    const { id } = ask();
    const before = await till.state();
    viewOf(0).timeShift = -90 * second;
    const time = pay();
    await till.look();
    expect(await till.transfers()).to.deep.equal([]);
    expect((await till.state()).tipHash).to.equal(before.tipHash);
    expect(await till.storedAlarms()).to.include("provider_wrong_time");
    viewOf(0).timeShift = 0;
    await till.mine(4);
    expect((await till.transfers())[0]?.blockTime).to.equal(time);
    expect(till.invoices.totals.get(id)).to.include({ confirmed: token(25), isLate: false });
  });

  /** The newest block that the first node has is four minutes old, it dates it as of now, and a payment is above it. */
  async function scanOldTip(): Promise<number> {
    Object.assign(viewOf(0), { lag: 20, timeShift: 4 * minute });
    till.pass(10);
    const time = pay();
    till.pass(19);
    await till.look();
    expect((await till.state()).tipHeight).to.equal(till.chain.height() - 20);
    Object.assign(viewOf(0), { lag: 0, timeShift: 0 });
    return time;
  }

  it("that were wrong for the newest scanned block stop the network for five minutes only", async () => {
    await open(1);
    const { id } = ask();
    const time = await scanOldTip();
    const { tipHash } = await till.state();
    await till.mine(1);
    expect((await till.state()).tipHash).to.equal(tipHash);
    expect(await till.storedAlarms()).to.include("provider_wrong_time");
    till.advance(5 * minute);
    await till.mine(4);
    expect((await till.transfers())[0]?.blockTime).to.equal(time);
    expect(till.invoices.totals.get(id)).to.include({ confirmed: token(25), isLate: false });
    expect(await till.storedAlarms()).to.deep.equal([]);
  });

  it("that were wrong for the newest scanned block are corrected at once by two providers", async () => {
    await open(2);
    const { id } = ask();
    till.nodes[1]?.fail("unavailable", Infinity);
    const time = await scanOldTip();
    till.nodes[1]?.heal();
    till.advance(minute);
    await till.mine(4);
    expect((await till.transfers())[0]?.blockTime).to.equal(time);
    expect(till.invoices.totals.get(id)).to.include({ confirmed: token(25), isLate: false });
    expect(await till.storedAlarms()).to.deep.equal([]);
  });

  it("that are impossible do not cause requests to the only provider without a pause", async () => {
    await open(1);
    ask();
    pay();
    viewOf(0).logTimeShift = 8 * minute;
    await till.look();
    expect(await till.storedAlarms()).to.include("provider_wrong_time");
    // The times of the blocks are believed instead.
    expect(await till.transfers()).to.have.length(1);
    viewOf(0).logTimeShift = 0;
    await till.mine(4);
    expect((await till.payments())[0]).to.include({ status: "confirmed" });
  });

  it("from the only provider are corrected when it corrects them", async () => {
    await open(1);
    const { id } = ask();
    viewOf(0).timeShift = -30 * second;
    const time = pay();
    await till.look();
    expect((await till.transfers())[0]?.blockTime).to.equal(time - 30 * second);
    viewOf(0).timeShift = 0;
    await till.mine(1);
    expect((await till.transfers())[0]?.blockTime).to.equal(time);
    expect(till.invoices.totals.get(id)).to.include({ seen: token(25) });
  });

  it("of logs before that of the newest scanned block are not believed from the only provider", async () => {
    await open(1);
    const { id } = ask();
    await till.mine(1);
    const time = pay();
    // The newest block is young enough again, and the block of the payment is dated before one on which it is built.
    till.chain.mine([], 6);
    till.advance(6 * blockMs);
    viewOf(0).logTimeShift = -80 * second;
    await till.look();
    expect((await till.transfers()).map(({ blockTime }) => blockTime)).to.deep.equal([time]);
    expect(await till.storedAlarms()).to.include("provider_wrong_time");
    viewOf(0).logTimeShift = 0;
    await till.mine(4);
    expect((await till.transfers())[0]?.blockTime).to.equal(time);
    expect(till.invoices.totals.get(id)).to.include({ confirmed: token(25), isLate: false });
  });

  it("in logs that differ from those of their blocks are not believed", async () => {
    await open(2);
    ask();
    pay();
    const node = viewOf(0);
    // The provider's headers stay correct.
    node.logTimeShift = 8 * minute;
    await till.look();
    expect((await till.transfers()).map(({ amount }) => amount)).to.deep.equal([token(25)]);
    expect(await till.storedAlarms()).to.deep.equal(["provider_wrong_time"]);
  });

  it("that two providers dispute make no payment late, and are corrected once they agree", async () => {
    await open(2);
    viewOf(0).timeShift = 5 * minute;
    const { id } = ask({ expiresAt: till.chain.block(till.chain.height() + 2).time });
    const time = pay();
    await till.look();
    expect(till.invoices.totals.get(id)).to.include({ seen: token(25), isLate: false });
    expect(await till.storedAlarms()).to.deep.equal(["block_time_disputed"]);
    viewOf(0).timeShift = 0;
    await till.mine(1);
    await till.mine(1);
    expect(await till.storedAlarms()).to.deep.equal([]);
    const [transfer] = await till.transfers();
    const [payment] = await till.payments();
    expect(transfer?.blockTime).to.equal(time);
    expect(payment).to.include({ blockTime: time, status: "confirmed" });
  });

  it("that only one of two providers reports make no payment late until the other confirms them", async () => {
    await open(2);
    const { id } = ask({ expiresAt: till.chain.block(till.chain.height()).time });
    till.nodes[1]?.fail("unavailable", Infinity);
    const time = pay();
    await till.look();
    expect(till.invoices.totals.get(id)).to.include({ seen: token(25), isLate: false });
    till.nodes[1]?.heal();
    till.advance(minute);
    await till.mine(4);
    await till.mine(1);
    expect(till.invoices.totals.get(id)).to.include({ seen: token(25), isLate: true });
    expect((await till.payments())[0]).to.include({ blockTime: time, status: "confirmed" });
  });

  it("that two of three providers report are believed, and those of the third are distrusted", async () => {
    await open(3);
    viewOf(0).timeShift = 5 * minute;
    const { id } = ask({ expiresAt: till.chain.block(till.chain.height() + 2).time });
    const time = pay();
    await till.look();
    expect((await till.transfers())[0]?.blockTime).to.equal(time);
    expect(till.invoices.totals.get(id)).to.include({ isLate: false });
    expect(await till.storedAlarms()).to.deep.equal(["provider_wrong_time"]);
    expect(till.pool.health()[0]).to.include({ isInUse: false });
  });

  it("release no hold unless two providers agree on the final block", async () => {
    await open(2);
    await till.mine(1);
    // The blocks above it have not had all of their readings.
    const { time } = till.chain.block(50);
    viewOf(1).timeShift = 5 * minute;
    expect(await till.watcher.finalTime()).to.equal(null);
    viewOf(1).timeShift = 0;
    till.nodes[1]?.fail("unavailable", Infinity);
    expect(await till.watcher.finalTime()).to.equal(null);
    till.nodes[1]?.heal();
    till.advance(minute);
    expect(await till.watcher.finalTime()).to.equal(time);
  });

  it("without a second provider's confirmation for ten minutes raise an alarm, which ends with a confirmation", async () => {
    await open(2);
    till.nodes[1]?.fail("unavailable", Infinity);
    ask();
    pay();
    await till.look();
    expect(await till.storedAlarms()).to.deep.equal([]);
    for (let minutes = 0; minutes < 11; minutes += 1) {
      till.advance(minute);
      expect(await till.watcher.finalTime()).to.equal(null);
    }
    await till.look();
    expect(await till.storedAlarms()).to.deep.equal(["block_time_unconfirmed"]);
    till.nodes[1]?.heal();
    till.advance(minute);
    await till.look();
    await till.look();
    expect(await till.storedAlarms()).to.deep.equal([]);
  });

  it("are confirmed for the alarm's sake even if no payment or hold needs them", async () => {
    await open(2);
    till.nodes[1]?.fail("unavailable", Infinity);
    for (let minutes = 0; minutes < 12; minutes += 1) {
      till.advance(minute);
      await till.watcher.finalTime();
    }
    expect(till.alarms.holds("block_time_unconfirmed", "ethereum")).to.equal(true);
    till.nodes[1]?.heal();
    till.advance(minute);
    await till.watcher.scan(() => Promise.resolve());
    expect(till.alarms.holds("block_time_unconfirmed", "ethereum")).to.equal(false);
  });

  it("that one failure left unconfirmed an hour ago raise no alarm at the next failure", async () => {
    await open(2);
    till.nodes[1]?.fail("unavailable", Infinity);
    expect(await till.watcher.finalTime()).to.equal(null);
    till.nodes[1]?.heal();
    // Nobody asks for a time meanwhile.
    await till.mine(300);
    till.nodes[1]?.fail("unavailable", Infinity);
    expect(await till.watcher.finalTime()).to.equal(null);
    await till.look();
    expect(await till.storedAlarms()).to.deep.equal([]);
  });
});

describe("The agreed times of blocks", () => {
  const block = (height: number) => ({ height, hash: String(height), reported: null });

  /** Block times of providers that agree, and the heights that each was asked for. */
  function agreeing(...names: readonly string[]) {
    const asked: string[] = [];
    const providers = names.map(
      (provider) =>
        ({
          provider,
          network: "ethereum",
          blocks(heights: readonly number[]) {
            asked.push(...heights.map((height) => `${provider} ${String(height)}`));
            return Promise.resolve(
              heights.map((height) => ({ height, hash: String(height), time: 0 })),
            );
          },
        }) as unknown as ChainClient,
    );
    const clock = { now: () => 0 };
    const alarms = createAlarms({ clock, logger: silentLogger });
    return { asked, times: makeBlockTimes({ clock, providers, alarms }) };
  }

  it("are kept for a bounded number of blocks, the newest", async () => {
    const { asked, times } = agreeing("one", "two");
    await times.of([block(0)]);
    for (let hundred = 0; hundred < 100; hundred += 1) {
      await times.of(Array.from({ length: 100 }, (_, place) => block(1 + hundred * 100 + place)));
    }
    asked.length = 0;
    await times.of([block(1), block(10_000)]);
    expect(asked).to.deep.equal([]);
    const believed = await times.of([block(0), block(10_000)]);
    expect(asked).to.deep.equal(["one 0", "two 0"]);
    expect(believed.get("0")).to.deep.equal({ time: 0, isAgreed: true });
  });

  it("are forgotten below a height, and not at it", async () => {
    const { asked, times } = agreeing("one", "two");
    await times.of([block(7), block(8), block(9)]);
    times.forgetBelow(8);
    asked.length = 0;
    await times.of([block(7), block(8), block(9)]);
    expect(asked).to.deep.equal(["one 7", "two 7"]);
  });

  it("are asked of no more than two providers, and once", async () => {
    const { asked, times } = agreeing("one", "two", "three");
    for (let again = 0; again < 2; again += 1) await times.of([block(7), block(7)]);
    expect(asked).to.deep.equal(["one 7", "two 7"]);
    const reported = { ...block(8), reported: { provider: "two", time: 0 } };
    for (let again = 0; again < 2; again += 1) await times.of([reported]);
    expect(asked.slice(2)).to.deep.equal(["one 8"]);
  });
});

describe("The confirmation of a block's time by a second provider", () => {
  /** Opens two providers, of which the first one reports the times. A test sets what the second one knows. */
  function open() {
    let now = 1_000 * hour;
    const clock = { now: () => now };
    const alarms = createAlarms({ clock, logger: silentLogger });
    /** The second provider's blocks by height. */
    const known = new Map<number, { readonly hash: string; readonly time: number }>();
    const providers = ["one", "two"].map(
      (provider) =>
        ({
          provider,
          network: "ethereum",
          blocks: (heights: readonly number[]) =>
            Promise.resolve(
              heights.map((height) => {
                const block = provider === "two" ? known.get(height) : undefined;
                return block === undefined ? null : { height, ...block };
              }),
            ),
        }) as unknown as ChainClient,
    );
    const times = makeBlockTimes({ clock, providers, alarms });
    return {
      now: () => now,
      known,
      hasAlarm: () => alarms.holds("block_time_unconfirmed", "ethereum"),
      /** Lets time pass, and asks for blocks. Returns the heights of those whose times are agreed. */
      later: async (milliseconds: number, heights: readonly number[], time = 0) => {
        now += milliseconds;
        const reported = { provider: "one", time };
        const asked = heights.map((height) => ({ height, hash: `b${String(height)}`, reported }));
        const found = await times.of(asked);
        return heights.filter((height) => found.get(`b${String(height)}`)?.isAgreed === true);
      },
    };
  }

  it("counts if it is of the same block, and at most ten minutes ahead of this server's clock", async () => {
    const { known, now, later } = open();
    const most = now() + 10 * minute;
    known.set(1, { hash: "b1", time: most });
    known.set(2, { hash: "b2", time: most + 1 });
    known.set(3, { hash: "another", time: most });
    expect(await later(0, [1], most)).to.deep.equal([1]);
    expect(await later(0, [2], most + 1)).to.deep.equal([]);
    expect(await later(0, [3], most)).to.deep.equal([]);
  });

  it("is missed after ten minutes, until any block is confirmed, and then only after as long again", async () => {
    const { known, hasAlarm, later } = open();
    await later(0, [1]);
    for (let minutes = 1; minutes < 10; minutes += 1) await later(minute, [1]);
    await later(minute - 1, [1]);
    expect(hasAlarm()).to.equal(false);
    await later(1, [1]);
    expect(hasAlarm()).to.equal(true);
    known.set(2, { hash: "b2", time: 0 });
    expect(await later(30 * second, [1, 2])).to.deep.equal([2]);
    expect(hasAlarm()).to.equal(false);
    await later(30 * second, [1]);
    expect(hasAlarm()).to.equal(false);
  });

  it("is not missed if no time was asked for in two minutes, or if all of them are known already", async () => {
    const { known, hasAlarm, later } = open();
    for (let times = 0; times < 10; times += 1) await later(2 * minute, [1]);
    expect(hasAlarm()).to.equal(false);
    known.set(2, { hash: "b2", time: 0 });
    await later(0, [2]);
    for (let minutes = 0; minutes < 12; minutes += 1) await later(minute, [2]);
    expect(hasAlarm()).to.equal(false);
  });
});

describe("The time of the newest scanned block", () => {
  const tipTime = 100 * minute;
  const tipHeight = 20;

  /** Opens providers that report these times for the newest scanned block; null for a block with another hash. */
  function open(...tipTimes: readonly (number | null)[]) {
    let now = tipTime + 10 * minute;
    const clock = { now: () => now };
    const reported = [...tipTimes];
    const providers = tipTimes.map((_, place) => {
      const blocks = (heights: readonly number[]) => {
        const time = reported[place] ?? 0;
        const hash = reported[place] === null ? "replaced" : "tip";
        return Promise.resolve(heights.map((height) => ({ height, hash, time })));
      };
      return { provider: `http://${String(place)}`, blocks } as Partial<ChainClient> as ChainClient;
    });
    const alarms = createAlarms({ clock, logger: silentLogger });
    const times = makeBlockTimes({ clock, providers, alarms });
    const ancestors = makeAncestorTimes({ clock, providers, times });
    const state = { tipHeight, tipHash: "tip", tipTime, scannedAt: now } as NetworkStateRow;
    return {
      reported,
      advance: (milliseconds: number) => (now += milliseconds),
      /** Returns the height of the block that is dated too early, or null. */
      async tooEarly(blocks: readonly (readonly [height: number, time: number | null])[], by = 0) {
        const client = providers[by];
        if (client === undefined) throw new Error("there is no such provider");
        const asked = blocks.map(([height, time]) => ({
          height,
          hash: String(height),
          reported: time === null ? null : { provider: client.provider, time },
        }));
        try {
          await ancestors.assertNoneBeforeTip({ client, state }, asked);
          return null;
        } catch (error) {
          if (!(error instanceof ReplyDropped)) throw error;
          expect(error.fault).to.equal("wrong_time");
          return error.details["blockHeight"];
        }
      },
    };
  }

  it("is the earliest of the blocks above it, unless the provider has another block there", async () => {
    const till = open(tipTime);
    expect(await till.tooEarly([])).to.equal(null);
    expect(await till.tooEarly([[tipHeight + 1, tipTime]])).to.equal(null);
    expect(
      await till.tooEarly([
        [tipHeight, 0],
        [tipHeight - 1, 0],
      ]),
    ).to.equal(null);
    expect(await till.tooEarly([[tipHeight + 1, null]])).to.equal(null);
    const logs = [
      [23, tipTime],
      [22, tipTime - 2],
      [21, tipTime - 1],
    ] as const;
    expect(await till.tooEarly(logs)).to.equal(22);
    expect(await open(null).tooEarly(logs)).to.equal(null);
  });

  it("is given up for an earlier one that the provider reports for five minutes", async () => {
    const early = tipTime - minute;
    const till = open(early);
    const above = [[21, early]] as const;
    expect(await till.tooEarly(above)).to.equal(21);
    till.advance(5 * minute - 1);
    expect(await till.tooEarly(above)).to.equal(21);
    till.advance(1);
    expect(await till.tooEarly(above)).to.equal(null);
    expect(await till.tooEarly([[21, early - 1]])).to.equal(21);
    till.reported[0] = early - 1;
    expect(await till.tooEarly(above)).to.equal(21);
    till.advance(-hour);
    expect(await till.tooEarly(above)).to.equal(21);
    till.advance(5 * minute);
    expect(await till.tooEarly(above)).to.equal(null);
  });

  it("is corrected at once by two providers, and by each one alone after its own five minutes", async () => {
    // With several providers, a block may be up to an hour before the stored time.
    expect(await open(0, 0).tooEarly([[21, tipTime - hour]])).to.equal(null);
    const early = tipTime - hour - minute;
    const above = [[21, early]] as const;
    expect(await open(early, early).tooEarly(above)).to.equal(null);
    expect(await open(early, early).tooEarly([[21, early - 1]])).to.equal(21);
    const till = open(early, early - 1);
    expect(await till.tooEarly(above, 0)).to.equal(21);
    till.advance(3 * minute);
    expect(await till.tooEarly(above, 1)).to.equal(21);
    till.advance(2 * minute);
    expect(await till.tooEarly(above, 0)).to.equal(null);
    expect(await till.tooEarly(above, 1)).to.equal(21);
  });
});
