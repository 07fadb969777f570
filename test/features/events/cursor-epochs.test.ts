// Which cursors of events are valid after restores.
import { expect } from "chai";
import { epochsAfter } from "../../../src/features/events/cursor-epochs.ts";

const restoreOf = (id: string, eventPosition: number) => ({
  id,
  eventPosition,
  at: 0,
  backupCreatedAt: "2026-11-22T03:15:00.000Z",
});

describe("cursors of events", () => {
  it("stay valid in a store that was never restored, and up to the end of each backup", () => {
    expect(epochsAfter([]).parse("120")).to.deep.equal({ position: 120, outdated: null });
    const once = epochsAfter([restoreOf("rst_1", 100)]);
    expect(once.parse(once.format(120)).outdated).to.equal(null);
    expect(once.parse("100").outdated).to.equal(null);
    expect(once.parse("101").outdated?.shared).to.equal(100);
    const twice = epochsAfter([restoreOf("rst_1", 100), restoreOf("rst_2", 200)]);
    expect(twice.parse("150").outdated?.shared).to.equal(100);
    expect(twice.parse(once.format(200)).outdated).to.equal(null);
    expect(twice.parse(once.format(201)).outdated?.shared).to.equal(200);
  });

  it("are outdated if they are of a restore that a later restore has undone", () => {
    const undone = epochsAfter([restoreOf("rst_1", 100)]);
    const now = epochsAfter([restoreOf("rst_2", 50)]);
    expect(now.parse(undone.format(40)).outdated?.shared).to.equal(null);
  });
});
