import { expect } from "chai";
import { makeMonitor } from "../../../../src/features/payments/watcher/provider-monitor.ts";
import { hour, second } from "../../../../src/kernel/clock.ts";
import { createAlarms, type Alarm } from "../../../../src/platform/chain/state/alarms.ts";
import { alarmTable } from "../../../../src/platform/chain/state/provider-store.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";

const alarm = (kind: Alarm["kind"], subject: string): Alarm => ({
  kind,
  subject,
  message: "before",
  raisedAt: 1,
  endedAt: null,
});

/** The monitor of a network with one provider and one token, over a store that a test fills. */
function open() {
  let now = 10 * hour;
  const clock = { now: () => now };
  const alarms = createAlarms({ clock, logger: silentLogger });
  const health = { provider: "http://one", condition: "ok", isInUse: true, latencyMs: 5, place: 0 };
  const stored: { alarms: Alarm[]; health: unknown[] } = { alarms: [], health: [] };
  const given = { isMore: false };
  const resumed: unknown[] = [];
  const steps: string[] = [];
  const written: unknown[] = [];
  const tx = {
    run: () => Promise.resolve(),
    insertMany: () => Promise.resolve(),
    upsertMany(_table: unknown, rows: readonly Alarm[]) {
      written.push(rows.map(({ kind, subject, endedAt }) => [kind, subject, endedAt !== null]));
      return Promise.resolve();
    },
  };
  const monitor = makeMonitor({
    clock,
    alarms,
    network: { id: "base", tokens: [{ symbol: "USDT" }] },
    pool: {
      providers: [{ provider: "http://one" }],
      health: () => [health],
      check: () => Promise.resolve(void steps.push("check")),
      resume: (known: unknown) => resumed.push(known),
    },
    crossCheck: {
      compare() {
        steps.push("compare");
        return Promise.resolve(given.isMore);
      },
    },
    db: {
      find: (table: unknown) =>
        Promise.resolve(
          table === alarmTable ? stored.alarms : stored.health.map((known) => ({ health: known })),
        ),
      write(_context: unknown, change: (to: typeof tx) => Promise<void>) {
        steps.push("write");
        return change(tx);
      },
    },
  } as never);
  return {
    alarms,
    health,
    stored,
    given,
    resumed,
    written,
    resume: () => monitor.resume(),
    opened: () => alarms.open().map(({ kind, subject }) => `${kind} ${subject}`),
    /** Lets time pass, and records the status. Returns whether more is due, and what was done. */
    record: async (milliseconds: number, guard = () => Promise.resolve()) => {
      now += milliseconds;
      steps.length = 0;
      return [await monitor.recordStatus(guard), ...steps];
    },
  };
}

const unwritten = [false, "check", "compare"];
const whole = [...unwritten, "write"];

describe("The monitor of a network's providers", () => {
  it("stores their health every fifteen seconds, and at once when a condition changes", async () => {
    const { record, health } = open();
    expect(await record(0)).to.deep.equal(whole);
    health.latencyMs = 900;
    expect(await record(15 * second - 1)).to.deep.equal(unwritten);
    expect(await record(1)).to.deep.equal(whole);
    for (const change of [{ condition: "behind" }, { isInUse: false }, { healedAt: 7 }]) {
      Object.assign(health, change);
      expect(await record(1), JSON.stringify(change)).to.deep.equal(whole);
      expect(await record(1)).to.deep.equal(unwritten);
    }
  });

  it("says whether the later readings leave work", async () => {
    const { record, given } = open();
    given.isMore = true;
    expect((await record(0))[0]).to.equal(true);
  });

  it("stores each change of an alarm once, and none once the lease is lost", async () => {
    const { record, alarms, written, stored } = open();
    await record(0);
    alarms.raise("network_not_read", "base", "it is away");
    const lost = await record(1, () => Promise.reject(new Error("lost"))).catch(String);
    expect(lost).to.equal("Error: lost");
    expect(await record(1)).to.deep.equal(whole);
    stored.alarms = [...alarms.open()];
    expect(await record(1)).to.deep.equal(unwritten);
    alarms.clear("network_not_read", "base");
    expect(await record(1)).to.deep.equal(whole);
    expect(written).to.deep.equal([
      [],
      [["network_not_read", "base", false]],
      [["network_not_read", "base", true]],
    ]);
  });

  it("drops the alarms that an operator acknowledged", async () => {
    const { record, alarms, opened, stored } = open();
    alarms.raise("network_not_read", "base", "it is away");
    await record(0);
    expect(opened()).to.deep.equal(["network_not_read base"]);
    stored.alarms = [];
    await record(15 * second);
    expect(opened()).to.deep.equal([]);
  });

  it("goes on from what the process before stored, and writes at once", async () => {
    const { record, resume, resumed, stored, health } = open();
    await record(0);
    stored.health = [health];
    await resume();
    expect(resumed).to.deep.equal([[health]]);
    expect(await record(1)).to.deep.equal(whole);
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
    const { resume, opened, stored } = open();
    stored.alarms = [...kept, ...gone];
    await resume();
    expect(opened()).to.deep.equal(kept.map(({ kind, subject }) => `${kind} ${subject}`));
  });
});
