// The later readings of final blocks: which of them are kept, and how often questions to providers are repeated.
import { expect } from "chai";
import { hour, minute, second } from "../../../../src/kernel/clock.ts";
import { auditLogs } from "../../../../src/platform/audit/chain.ts";
import { restSubject } from "../../../../src/platform/chain/state/alarms.ts";
import { openAlarms } from "../../../../src/platform/chain/state/provider-health.ts";
import type { ReadingRow } from "../../../../src/platform/chain/state/reading-ranges.ts";
import { unknownProvider } from "../../../../src/platform/chain/state/readings.ts";
import { openLedger, type Ledger } from "../../../support/ledger.ts";
import { anyStore } from "../../../support/store/stores.ts";
import {
  hashAt,
  openChecked,
  scanned,
  type Checked,
  type CheckedNetwork,
} from "./checked-network.ts";
import { wordOf } from "../../../support/chain/fake-chain.ts";

const [ours, another] = [hashAt(20), "another"];
/** Blocks that the first provider read long ago. */
const readTo = (toHeight: number, changes: Partial<ReadingRow> = {}): ReadingRow => ({
  ...scanned,
  toHeight,
  toHash: hashAt(toHeight),
  ...changes,
});

anyStore("The check of providers against each other", (store) => {
  let shop: Ledger;
  before(async () => {
    shop = await openLedger(await store.open());
  });
  const open = (checked: Checked): Promise<CheckedNetwork> => openChecked(shop, checked);

  describe("makes later readings of final blocks", () => {
    it("by the other provider, which is believed if the blocks are those that were read before", async () => {
      const { asked, readBy, later } = await open({ ends: { one: null, two: ours } });
      await later(minute);
      expect(await readBy()).to.deep.equal(["two: 11 to 20"]);
      expect(asked.filter((question) => question.startsWith("one"))).to.deep.equal([]);
    });

    it("and drops one of other blocks, which no other provider has; that provider is asked next", async () => {
      for (const one of [ours, null]) {
        const { asked, readBy, later } = await open({ ends: { one, two: another } });
        await later(minute);
        expect(await readBy()).to.deep.equal([]);
        expect(asked.at(-1)).to.equal("one: block 20");
      }
      const { asked, readBy, later } = await open({ ends: { one: ours, two: another } });
      expect(await later(minute)).to.equal(false);
      const questions = asked.length;
      await later(15 * second - 1);
      expect([asked.length, await readBy()]).to.deep.equal([questions, []]);
      await later(1);
      expect(await readBy()).to.deep.equal(["one: 11 to 20"]);
    });

    it("and drops one if any of the joined ranges begins or ends with another block", async () => {
      const ends = { one: null, two: ours };
      const elsewhere = { ...scanned, parentHash: "elsewhere" };
      const above = { ...scanned, fromHeight: 16, parentHash: hashAt(15), toHash: "elsewhere" };
      for (const rows of [[elsewhere], [readTo(15), above]]) {
        const { asked, readBy, later } = await open({ ends, rows });
        await later(minute);
        expect([asked.at(-1), await readBy()]).to.deep.equal(["one: block 20", []]);
      }
    });

    it("of the newest blocks, as many as the provider answers at once, which grow with its answers", async () => {
      const given = { ends: { one: ours }, rows: [readTo(520)], watchedMs: 1, isHeld: true };
      const { readBy, later } = await open(given);
      expect(await later(minute)).to.equal(true);
      expect(await readBy()).to.deep.equal(["one: 321 to 520"]);
      await later(0);
      // Both readings are of one provider and of one time.
      expect(await readBy()).to.deep.equal(["one: 21 to 520"]);
    });

    it("down to the oldest open hold in blocks that an earlier version of Till read", async () => {
      const early = (toHeight: number) =>
        readTo(toHeight, { readings: [{ provider: unknownProvider, at: 0 }] });
      const read = async (rows: readonly ReadingRow[], heldMs: number | null) => {
        const { readBy, later } = await open({
          ends: { one: ours },
          rows,
          ...(heldMs === null ? {} : { watchedMs: heldMs, isHeld: true }),
        });
        await later(minute);
        return readBy("one");
      };
      // The newest block is 30, and each takes twelve seconds.
      expect(await read([early(20)], 180 * second)).to.deep.equal(["one: 15 to 20"]);
      expect(await read([early(20)], minute)).to.deep.equal([]);
      expect(await read([early(30)], null)).to.deep.equal([]);
      const readings = [{ provider: "two", at: shop.now() + minute }];
      const above = readTo(30, { fromHeight: 21, parentHash: hashAt(20), readings });
      expect(await read([early(20), above], minute)).to.deep.equal([]);
    });

    it("and looks for the oldest hold once an hour, and never if no earlier version read blocks", async () => {
      const rows = [{ ...scanned, readings: [{ provider: unknownProvider, at: 0 }] }];
      const { given, later } = await open({ ends: { one: ours }, rows });
      await later(minute);
      await later(hour - 15 * second);
      expect(given.holdsAsked).to.equal(1);
      await later(15 * second);
      expect(given.holdsAsked).to.equal(2);
      const own = await open({ ends: { one: ours } });
      await own.later(minute);
      expect(own.given.holdsAsked).to.equal(0);
    });

    it("and keeps one of other blocks if another provider has them too, or if the network has only one", async () => {
      for (const [ends, read] of [
        [{ one: another, two: another }, "two: 11 to 20"],
        [{ one: another }, "one: 11 to 20"],
      ] as const) {
        const { readBy, later } = await open({ ends });
        await later(minute);
        expect(await readBy()).to.deep.equal([read]);
      }
    });
  });

  it("reports a transfer that was left out, once, if its address was watched when its block came", async () => {
    // Block 15 is three minutes older than the newest one, and what was read before the hold decides.
    const from = async (markHeight: number, watchedMs: number) => {
      const held = { markHeight, watchedMs, isHeld: true };
      const check = await open({ ends: { one: ours }, paidAt: [15], ...held });
      await check.later(minute);
      const { id } = check.network;
      const alarms = await openAlarms(shop.db, id);
      const entries = await shop.db.find(
        auditLogs,
        "WHERE action = 'chain.transfer_left_out' AND target_id = $1",
        [id],
      );
      // The alarm is stored together with the transfer, and not again.
      expect(check.alarms.changes()).to.deep.equal([]);
      const found = await shop.db.all("SELECT id FROM transfers WHERE network = $1", [id]);
      expect(found).to.have.length(1);
      return [
        alarms.map(({ kind, subject }) => [kind, subject]),
        entries.map(({ changes }) => changes),
      ];
    };
    const transactionHash = wordOf("paid at 15");
    const entry = { transactionHash, logIndex: 2, blockHeight: 15, enteredFrom: "one" };
    expect(await from(14, minute)).to.deep.equal([
      [["transfer_left_out", transactionHash]],
      [entry],
    ]);
    expect(await from(15, 4 * minute)).to.deep.equal([[], []]);
  });

  it("is due at once while more ranges are, and within the limit of requests without watched addresses", async () => {
    const given = { ends: { one: ours }, rows: [readTo(30)], maxLogRange: 2 };
    const { later, readBy } = await open(given);
    const isMore: boolean[] = [];
    for (let checks = 0; checks < 6; checks += 1)
      isMore.push(await later(checks === 0 ? minute : 0));
    expect(await readBy()).to.deep.equal(["one: 23 to 30"]);
    expect(isMore).to.deep.equal([true, true, true, false, false, false]);
    await later(30 * second);
    expect(await readBy()).to.deep.equal(["one: 21 to 30"]);
  });

  it("comes every fifteen seconds, also after nothing was to be read or nobody could be asked", async () => {
    const { later, readBy, store: add } = await open({ ends: { one: ours }, rows: [] });
    expect(await later(15 * second - 1)).to.equal(false);
    await add(scanned);
    await later(1);
    expect(await readBy()).to.have.length(1);

    const nothing = await open({ ends: { one: ours }, rows: [] });
    const nobody = await open({ ends: { one: ours }, condition: "waiting" });
    for (const check of [nothing, nobody]) {
      expect(await check.later(minute)).to.equal(false);
      await check.store(scanned);
      check.given.condition = "ok";
      await check.later(15 * second - 1);
      expect(await check.readBy()).to.deep.equal([]);
      await check.later(1);
      expect(await check.readBy()).to.deep.equal(["one: 11 to 20"]);
    }
    const alone = await open({ ends: {} });
    expect(await alone.later(minute)).to.equal(false);
  });

  describe("withdraws the readings of a provider that omits transfers", () => {
    const ends = { one: ours, two: ours };
    const below = readTo(20, { readings: [{ provider: "one", at: 7 }] });
    const readAt = (at: number) =>
      readTo(30, { fromHeight: 21, parentHash: ours, readings: [{ provider: "one", at }] });
    const rows = [below, readAt(8)];
    const silent = { ends, rows, condition: "silent_logs", provenAt: 7 } as const;
    const [kept, withdrawn] = ["one: 11 to 20", "one: 21 to 30"];

    it("once: those since its logs were proven, or else those that can matter to an open hold", async () => {
      const held = { watchedMs: minute, isHeld: true };
      for (const given of [silent, { ends, rows, condition: "silent_logs", ...held } as const]) {
        const { later, readBy, store: add } = await open(given);
        await later(minute);
        expect(await readBy("one")).to.deep.equal([kept]);
        await add(readAt(shop.now()));
        await later(minute);
        expect(await readBy("one")).to.deep.equal([kept, withdrawn]);
      }
      const { later, readBy } = await open({ ...silent, condition: "ok" });
      await later(minute);
      // The other provider has read all of them again, which joins the two ranges.
      expect(await readBy("one")).to.deep.equal(["one: 11 to 30"]);
    });

    it("again if it omits transfers once more after its recovery", async () => {
      const { given, later, readBy, store: add } = await open(silent);
      for (const [condition, expected] of [
        ["silent_logs", [kept]],
        ["ok", [kept, withdrawn]],
        ["silent_logs", [kept]],
        ["silent_logs", [kept, withdrawn]],
      ] as const) {
        given.condition = condition;
        await later(minute);
        expect(await readBy("one")).to.deep.equal(expected);
        await add(readAt(shop.now()));
      }
    });

    it("only while the lease is held", async () => {
      const { later, readBy } = await open(silent);
      const lost = later(minute, () => Promise.reject(new Error("lost")));
      expect(await lost.catch(String)).to.equal("Error: lost");
      expect(await readBy("one")).to.deep.equal([kept, withdrawn]);
      await later(minute);
      expect(await readBy("one")).to.deep.equal([kept]);
    });
  });

  describe("asks about an open disagreement", () => {
    const both = { ends: { one: ours, two: ours }, rows: [] };

    it("again every ten minutes, not with each check", async () => {
      const { alarms, asked, later } = await open(both);
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

    it("on blocks by reading them again, which does not count as a reading", async () => {
      const { alarms, asked, readBy, later } = await open(both);
      alarms.raise("providers_disagree", "blocks 12 to 14", "one has many, two denies them");
      await later(minute);
      expect(asked).to.deep.equal(["two: block 14", "two: block 11"]);
      expect(await readBy()).to.deep.equal([]);
    });

    it("with twenty others at a time, beginning after the last one", async () => {
      const { alarms, asked, later } = await open(both);
      const names = Array.from({ length: 25 }, (_, place) => `tx${String(place + 10)}`);
      const questions = async () => {
        for (const name of names) alarms.raise("providers_disagree", name, "two denies it");
        await later(10 * minute);
        return asked.splice(0).map((question) => question.replace("two: receipt ", ""));
      };
      expect(await questions()).to.deep.equal(names.slice(0, 20));
      expect(await questions()).to.deep.equal([...names.slice(20), ...names.slice(0, 15)]);
    });

    it("and about no other kind of alarm, nor the one that represents the rest", async () => {
      const { alarms, asked, later } = await open(both);
      alarms.raise("payment_held", "pay_1", "two denies it");
      for (const subject of ["tx1", restSubject]) {
        alarms.raise("providers_disagree", subject, "two denies it");
      }
      await later(minute);
      expect(asked).to.deep.equal(["two: receipt tx1"]);
    });

    it("only if there is a second provider, and leaves it open without one", async () => {
      const { alarms, asked, later } = await open({ ends: { one: ours }, rows: [] });
      alarms.raise("providers_disagree", "tx1", "two denies it");
      await later(minute);
      expect(asked).to.deep.equal([]);
      expect(alarms.open()).to.have.length(1);
    });
  });
});
