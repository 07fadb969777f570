// The cursors of events that are valid after restores.
import { expect } from "chai";
import { epochsAfter, listEvents } from "../../../src/features/events/events.ts";
import { appOf } from "../../support/context.ts";
import { serverSecret as secret } from "../../support/secret.ts";
import { anyStore } from "../../support/store/stores.ts";

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
    const places = [100, 120, 200].map((place, n) => restoreOf(`rst_${String(n + 1)}`, place));
    const thrice = epochsAfter(places);
    expect(thrice.parse("110").outdated?.shared).to.equal(100);
    expect(thrice.parse("130:rst_1").outdated?.shared).to.equal(120);
    expect(thrice.parse("900:rst_3").outdated).to.equal(null);
  });

  it("are outdated if they are of a restore that a later restore has undone", () => {
    const undone = epochsAfter([restoreOf("rst_1", 100)]);
    const now = epochsAfter([restoreOf("rst_2", 50)]);
    expect(now.parse(undone.format(40)).outdated?.shared).to.equal(null);
  });
});

anyStore("the service of events", (store) => {
  it("reads the restores again after the store was unavailable, and then once", async () => {
    const db = await store.open();
    let reads = 0;
    const findOne: typeof db.findOne = (...asked) => {
      reads += 1;
      return reads === 1 ? Promise.reject(new Error("the store is away")) : db.findOne(...asked);
    };
    const app = appOf({ db: { ...db, findOne }, secret });
    const list = () => listEvents(app, "org_1", {});
    const failed: unknown = await list().catch((error: unknown) => error);
    expect(failed).to.have.property("message", "the store is away");
    for (let time = 0; time < 2; time += 1) expect((await list()).data).to.deep.equal([]);
    expect(reads).to.equal(2);
  });
});
