import { expect } from "chai";
import { makeConfirmations } from "../../../../src/features/payments/watcher/confirmations.ts";
import type { TransferRow } from "../../../../src/features/payments/table.ts";
import { hour, second } from "../../../../src/kernel/clock.ts";
import type { NetworkStateRow } from "../../../../src/platform/chain/state/network-state.ts";

interface Waiting {
  /** The number of payments that have their confirmations. */
  readonly count: number;
  /** Returns true for a payment whose receipts agree. */
  readonly agrees?: (id: string) => boolean;
  readonly held?: readonly string[];
  readonly stillConfirming?: readonly string[];
  /** How long it takes to store a batch, in milliseconds. */
  readonly storing?: number;
}

/** Payments that wait for their confirmation, of one transfer each, and what is confirmed. */
function open({
  count,
  agrees = () => true,
  held = [],
  stillConfirming = [],
  storing = 0,
}: Waiting) {
  let now = hour;
  const payments = Array.from({ length: count }, (_, place) => {
    const name = String(place).padStart(4, "0");
    return { id: `pay_${name}`, transferId: `trf_${name}`, confirmsAtHeight: 10 };
  });
  const confirmed: (readonly [number, string | undefined, number])[] = [];
  const released: (readonly string[])[] = [];
  const confirmations = makeConfirmations({
    clock: { now: () => now },
    network: { id: "ethereum" },
    db: {
      dialect: "sqlite",
      all: () => Promise.resolve(stillConfirming.map((id) => ({ id }))),
      find(_table: unknown, sql: string, values: readonly unknown[]) {
        if (!sql.includes("LIMIT")) {
          const ids = JSON.parse(String(values[0])) as readonly string[];
          return Promise.resolve(ids.map((id) => ({ id })));
        }
        const [, , height, after, limit] = values as [unknown, unknown, number, string, number];
        const above = payments.filter(({ id }) => height < 10 || id > after);
        return Promise.resolve(above.slice(0, limit));
      },
    },
    verifier: {
      held: () => held,
      release: (gone: readonly string[]) => released.push(gone),
      verify: (candidates: readonly { readonly id: string }[]) =>
        Promise.resolve(new Set(candidates.map(({ id }) => id).filter(agrees))),
    },
    recorder: {
      confirm(_guard: unknown, state: NetworkStateRow, verified: readonly { id: string }[]) {
        confirmed.push([state.version, verified[0]?.id, verified.length]);
        now += storing;
        return Promise.resolve({ ...state, version: state.version + 1 });
      },
    },
  } as never);
  const state = { tipHeight: 12, version: 3 } as NetworkStateRow;
  return {
    confirmed,
    released,
    find: async (moving: readonly string[] = []) => {
      const rows = moving.map((id) => ({ id }) as unknown as TransferRow);
      const { verified, isMore } = await confirmations.find(12, rows);
      return [verified[0]?.id, verified.length, isMore];
    },
    confirmOthers: () => confirmations.confirmOthers(() => Promise.resolve(), state),
    /** Lets time pass, and releases. */
    release: (milliseconds: number) => {
      now += milliseconds;
      return confirmations.releaseDecided();
    },
  };
}

describe("Payments with enough confirmations", () => {
  it("are found five hundred at a time, and from the first one after the last ones", async () => {
    const { find } = open({ count: 700 });
    expect(await find()).to.deep.equal(["pay_0000", 500, true]);
    expect(await find()).to.deep.equal(["pay_0500", 200, false]);
    expect(await find()).to.deep.equal(["pay_0000", 500, true]);
    expect(await open({ count: 0 }).find()).to.deep.equal([undefined, 0, false]);
    // Payments that nobody verifies keep the others waiting for one scan only.
    const some = open({ count: 700, agrees: (id) => id >= "pay_0600" });
    expect(await some.find()).to.deep.equal([undefined, 0, false]);
    expect(await some.find()).to.deep.equal(["pay_0600", 100, false]);
  });

  it("are left out while the position of their transfer changes", async () => {
    const { find } = open({ count: 3 });
    expect(await find(["trf_0000", "trf_0002"])).to.deep.equal(["pay_0001", 1, false]);
  });

  it("are confirmed in batches on one state after another, until none is left", async () => {
    const { confirmOthers, confirmed } = open({ count: 1_200 });
    expect(await confirmOthers()).to.equal(false);
    expect(confirmed).to.deep.equal([
      [3, "pay_0000", 500],
      [4, "pay_0500", 500],
      [5, "pay_1000", 200],
    ]);
    const none = open({ count: 2, agrees: () => false });
    expect(await none.confirmOthers()).to.equal(false);
    expect(none.confirmed).to.deep.equal([]);
  });

  it("wait for the next scan once their confirmation has taken five seconds", async () => {
    const slow = open({ count: 1_200, storing: 2.5 * second });
    expect(await slow.confirmOthers()).to.equal(true);
    expect(slow.confirmed).to.have.length(2);
    // The clock was set back.
    const back = open({ count: 1_200, storing: -hour });
    expect(await back.confirmOthers()).to.equal(true);
    expect(back.confirmed).to.have.length(1);
  });

  it("are released if they are held and no longer confirming, which is looked at every fifteen seconds", async () => {
    const { release, released } = open({
      count: 0,
      held: ["pay_1", "pay_2"],
      stillConfirming: ["pay_2"],
    });
    await release(1);
    expect(released).to.deep.equal([["pay_1"]]);
    await release(15 * second - 1);
    expect(released).to.have.length(1);
    await release(1);
    expect(released).to.have.length(2);
    await release(-hour);
    expect(released).to.have.length(3);
    const quiet = open({ count: 0, stillConfirming: ["pay_2"] });
    await quiet.release(1);
    expect(quiet.released).to.deep.equal([]);
  });
});
