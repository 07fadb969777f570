import { expect } from "chai";
import { noteLag } from "../../../../src/features/payments/watcher/network-checks.ts";
import { minute } from "../../../../src/kernel/clock.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import { testNetworks } from "../../../support/merchants.ts";

describe("A chain whose new blocks have old times", () => {
  const network = testNetworks("ethereum").get("ethereum");
  if (network === undefined) throw new Error("there is no network");
  const now = 1_000 * minute;
  const before = { tipHeight: 100, scannedAt: now, usualLagMs: 0 };
  const note = (
    given: ReturnType<typeof createAlarms>,
    height: number,
    time: number,
    usualLagMs = 0,
  ) => {
    noteLag({ network, alarms: given }, { ...before, usualLagMs }, { height, hash: "b", time });
    return given.open().map(({ kind }) => kind);
  };
  const alarms = () => createAlarms({ clock: { now: () => now }, logger: silentLogger });

  it("raises an alarm when they are older than usual, which ends with a block that is not", () => {
    const raised = alarms();
    expect(note(raised, 101, now - 2 * minute)).to.deep.equal([]);
    expect(note(raised, 101, now - 2 * minute - 1)).to.deep.equal(["chain_time_lags"]);
    expect(note(raised, 100, now)).to.deep.equal(["chain_time_lags"]);
    expect(note(raised, 102, now - minute)).to.deep.equal([]);
  });

  it("raises one beyond twice what is usual on the network, if that is more", () => {
    const raised = alarms();
    const usual = 30 * minute;
    expect(note(raised, 101, now - 60 * minute, usual)).to.deep.equal([]);
    expect(note(raised, 102, now - 60 * minute - 1, usual)).to.deep.equal(["chain_time_lags"]);
    expect(note(raised, 103, now - 31 * minute, usual)).to.deep.equal([]);
  });

  it("raises none for the first block after a quiet time or a restart, whose time is after the last scan", () => {
    expect(note(alarms(), 101, now + 1)).to.deep.equal([]);
    expect(note(alarms(), 700, now + 2 * 60 * minute)).to.deep.equal([]);
  });

  it("raises none for a block that was read before, however old it is", () => {
    expect(note(alarms(), 100, now - 30 * minute)).to.deep.equal([]);
  });
});
