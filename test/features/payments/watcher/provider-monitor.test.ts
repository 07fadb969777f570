// The stored health of a network's providers and its alarms: when they are written, and resumed by the next process.
import { expect } from "chai";
import { makeMonitor } from "../../../../src/features/payments/watcher/provider-monitor.ts";
import { second } from "../../../../src/kernel/clock.ts";
import { acknowledgedKinds, type Alarm } from "../../../../src/platform/chain/state/alarms.ts";
import {
  alarmTable,
  endAlarms,
  storedProviders,
  writeAlarms,
} from "../../../../src/platform/chain/state/provider-health.ts";
import type { ReadingRow } from "../../../../src/platform/chain/state/reading-ranges.ts";
import { openLedger, type Ledger } from "../../../support/ledger.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";
import { hashAt, openChecked, scanned } from "./checked-network.ts";

const alarm = (kind: Alarm["kind"], subject: string): Alarm => ({
  kind,
  subject,
  message: "before",
  raisedAt: 1,
  endedAt: null,
});

const unwritten = { isMore: false, isWritten: false };
const written = { isMore: false, isWritten: true };

anyStore("The monitor of a network's providers", (store) => {
  let shop: Ledger;
  before(async () => {
    shop = await openLedger(await store.open());
  });

  /** Opens the monitor of a network with one provider and one token, and some ranges that were read long ago. */
  async function open(rows: readonly ReadingRow[] = []) {
    const provider = "http://one";
    const checked = { ends: { [provider]: hashAt(20) }, rows };
    const { network, alarms, check } = await openChecked(shop, checked);
    const { db } = shop;
    const health = { provider, condition: "ok", isInUse: true, latencyMs: 5, place: 0 };
    const resumed: unknown[] = [];
    let probes = 0;
    const monitor = makeMonitor({
      db,
      network,
      alarms,
      clock: { now: shop.now },
      pool: {
        providers: [{ provider }],
        health: () => [health],
        check: () => Promise.resolve(void (probes += 1)),
        resume: (known: unknown) => resumed.push(known),
      } as never,
      crossCheck: check,
      wallets: { readSome: () => Promise.resolve(false) },
    });
    return {
      alarms,
      health,
      resumed,
      resume: () => monitor.resume(),
      opened: () => alarms.open().map(({ kind, subject }) => `${kind} ${subject}`),
      /** Stores alarms, as another process did. */
      store: (...stored: readonly Alarm[]) =>
        db.write(testContext, (tx) => writeAlarms(tx, network.id, stored, shop.now())),
      /** Ends a stored alarm, as an operator does. */
      acknowledge: (subject: string) => {
        const which = { network: network.id, kinds: acknowledgedKinds, subject };
        return db.write(testContext, (tx) => endAlarms(tx, which, shop.now()));
      },
      /** Returns the stored alarms, and whether each has ended. */
      stored: async () => {
        const rows = await db.find(alarmTable, "WHERE network = $1", [network.id]);
        return rows.map(({ kind, subject, endedAt }) => [kind, subject, endedAt !== null]);
      },
      /** Lets time pass, and records the status. Returns whether more is due, and whether the health was stored. */
      record: async (milliseconds: number, guard = () => Promise.resolve()) => {
        shop.advance(milliseconds);
        const before = probes;
        const isMore = await monitor.recordStatus(guard);
        expect(probes - before).to.equal(1);
        const [row] = await storedProviders(db, network.id);
        return { isMore, isWritten: row?.writtenAt === shop.now() };
      },
    };
  }

  it("stores their health every fifteen seconds, and at once when a condition changes", async () => {
    const { record, health } = await open();
    expect(await record(0)).to.deep.equal(written);
    health.latencyMs = 900;
    expect(await record(15 * second - 1)).to.deep.equal(unwritten);
    expect(await record(1)).to.deep.equal(written);
    for (const change of [{ condition: "behind" }, { isInUse: false }, { healedAt: 7 }]) {
      Object.assign(health, change);
      expect(await record(1), JSON.stringify(change)).to.deep.equal(written);
      expect(await record(1)).to.deep.equal(unwritten);
    }
  });

  it("says whether the later readings leave work", async () => {
    const { record } = await open([{ ...scanned, toHeight: 3_000, toHash: hashAt(3_000) }]);
    expect((await record(15 * second - 1)).isMore).to.equal(false);
    expect((await record(1)).isMore).to.equal(true);
  });

  it("stores each change of an alarm once, and none once the lease is lost", async () => {
    const { record, alarms, stored } = await open();
    await record(0);
    alarms.raise("network_not_read", "base", "it is away");
    const lost = await record(1, () => Promise.reject(new Error("lost"))).catch(String);
    expect(lost).to.equal("Error: lost");
    expect(await stored()).to.deep.equal([]);
    expect(await record(1)).to.deep.equal(written);
    expect(await stored()).to.deep.equal([["network_not_read", "base", false]]);
    expect(await record(1)).to.deep.equal(unwritten);
    alarms.clear("network_not_read", "base");
    expect(await record(1)).to.deep.equal(written);
    expect(await stored()).to.deep.equal([["network_not_read", "base", true]]);
    expect(await record(1)).to.deep.equal(unwritten);
  });

  it("drops the alarms that an operator acknowledged, and no others", async () => {
    const { record, alarms, opened, acknowledge } = await open();
    for (const subject of ["tx1", "tx2"]) alarms.raise("providers_disagree", subject, "one denies");
    await record(0);
    expect(opened()).to.deep.equal(["providers_disagree tx1", "providers_disagree tx2"]);
    await acknowledge("tx1");
    await record(15 * second);
    expect(opened()).to.deep.equal(["providers_disagree tx2"]);
  });

  it("goes on from what the process before stored, and writes at once", async () => {
    const { record, resume, resumed, health } = await open();
    await record(0);
    await resume();
    expect(resumed).to.deep.equal([[health]]);
    expect(await record(1)).to.deep.equal(written);
  });

  it("ends the alarms of providers and tokens that are no longer configured, and no others", async () => {
    const kept = [
      alarm("token_disabled", "USDT"),
      alarm("provider_silent_logs", "http://one"),
      alarm("network_not_read", "base"),
      alarm("providers_disagree", "tx1"),
      alarm("payment_held", "pay_1"),
    ];
    const gone = [
      alarm("token_disabled", "GONE"),
      ...(
        [
          "provider_wrong_chain",
          "provider_silent_logs",
          "provider_too_far_ahead",
          "provider_wrong_time",
          "block_time_disputed",
        ] as const
      ).map((kind) => alarm(kind, "http://gone")),
    ];
    const { resume, opened, store: add } = await open();
    await add(...kept, ...gone);
    await resume();
    expect(opened()).to.have.members(kept.map(({ kind, subject }) => `${kind} ${subject}`));
  });
});
