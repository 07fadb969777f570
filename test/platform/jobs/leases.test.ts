import { expect } from "chai";
import { systemActor } from "../../../src/kernel/actor.ts";
import { day, minute } from "../../../src/kernel/clock.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { createLeases, LeaseLost, type Leases } from "../../../src/platform/jobs/leases.ts";
import { newIds } from "../../support/context.ts";
import { movingClock, type MovingClock } from "../../support/clock.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

eachStore("leases", (store) => {
  let db: Database;
  let clock: MovingClock;

  beforeEach(async () => {
    db = await store.open();
    clock = movingClock();
  });

  function newProcess(): Leases {
    const actor = systemActor("worker");
    return createLeases({ db, clock, ids: newIds(), actor });
  }

  it("go to one of many processes that ask at the same time, the first time and after the end", async () => {
    const processes = Array.from({ length: 16 }, newProcess);
    const askAll = () => Promise.all(processes.map((each) => each.acquire("watch", minute)));
    for (const token of [1, 2, 3]) {
      const acquired = (await askAll()).filter((lease) => lease !== null);
      expect(acquired.map((lease) => lease.token)).to.deep.equal([token]);
      clock.advance(minute + 1);
    }
  });

  it("refuse the write of a process whose token another one has too, as after a restore", async () => {
    const [paused, next] = [newProcess(), newProcess()];
    const lost = await paused.acquire("watch", minute);
    if (lost === null) throw new Error("a lease that was free was refused");
    await db.write(testContext, (tx) => tx.run("DELETE FROM leases"));
    expect(await next.acquire("watch", minute)).to.include({ token: lost.token });
    const written = await db.write(testContext, (tx) => paused.guard(tx, lost)).catch(String);
    expect(written).to.include("LeaseLost");
  });

  it("refuse the write of a process whose lease another one has taken", async () => {
    const [slow, quick] = [newProcess(), newProcess()];
    const lost = await slow.acquire("watch", minute);
    clock.advance(minute + 1);
    const held = await quick.acquire("watch", minute);
    if (lost === null || held === null) throw new Error("a lease that was free was refused");
    expect(slow.holds("watch")).to.equal(false);
    const late = db.write(testContext, (tx) => slow.guard(tx, lost));
    expect(await late.catch((error: unknown) => error)).to.be.instanceOf(LeaseLost);
    await db.write(testContext, (tx) => quick.guard(tx, held));
  });

  it("do not wait for an end that only a clock which was set back has made distant", async () => {
    const [first, second] = [newProcess(), newProcess()];
    clock.advance(40 * day);
    const lost = await first.acquire("watch", minute);
    clock.advance(-40 * day);
    expect(await second.acquire("watch", minute)).to.include({ token: 2 });
    if (lost === null) throw new Error("a lease that was free was refused");
    const late = db.write(testContext, (tx) => first.guard(tx, lost));
    expect(await late.catch((error: unknown) => error)).to.be.instanceOf(LeaseLost);
    expect(await first.acquire("watch", minute)).to.equal(null);
    clock.advance(minute + 1);
    expect(await first.acquire("watch", minute)).to.include({ token: 3 });
  });

  it("are not taken by a server whose clock is nine minutes behind that of the holder", async () => {
    const [ahead, behind] = [newProcess(), newProcess()];
    clock.advance(9 * minute);
    const held = await ahead.acquire("watch", minute);
    if (held === null) throw new Error("a lease that was free was refused");
    clock.advance(-9 * minute);
    expect(await behind.acquire("watch", minute)).to.equal(null);
    await db.write(testContext, (tx) => ahead.guard(tx, held));
  });

  it("are free at once for others when their process releases them, or when all are ended", async () => {
    const [one, other] = [newProcess(), newProcess()];
    await one.acquire("watch", minute);
    expect(await other.acquire("watch", minute)).to.equal(null);
    await one.releaseAll();
    expect(await other.acquire("watch", minute)).to.include({ token: 2 });
    await one.endAll();
    expect(await one.acquire("watch", minute)).to.include({ token: 3 });
  });
});
