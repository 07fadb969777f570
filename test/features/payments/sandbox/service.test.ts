import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { makeSandboxService } from "../../../../src/features/payments/index.ts";
import { watchWorkerName } from "../../../../src/features/payments/worker.ts";
import { minute, systemClock } from "../../../../src/kernel/clock.ts";
import { systemActor } from "../../../../src/kernel/actor.ts";
import { createIds } from "../../../../src/kernel/id.ts";
import { createState, stateTable } from "../../../../src/platform/chain/state/network-state.ts";
import type { Database } from "../../../../src/platform/database/index.ts";
import { createLeases } from "../../../../src/platform/jobs/leases.ts";
import { systemRandom } from "../../../../src/platform/secrets/random.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";

const network = "sandbox";
const tip = { height: 100, hash: "aa".repeat(32) };

eachStore("a command of the sandbox", (store) => {
  let db: Database;
  beforeEach(async () => {
    db = await store.open();
  });

  const untilRead = async (head: { readonly height: number; readonly hash: string }) => {
    const deps = { db, clock: systemClock, network: { id: network } };
    type Deps = Parameters<typeof makeSandboxService>[0];
    const sandbox = makeSandboxService(deps as unknown as Deps);
    await sandbox.untilRead(head as Parameters<typeof sandbox.untilRead>[0]);
  };
  const lease = async () => {
    const ids = createIds(systemRandom);
    const leases = createLeases({ db, clock: systemClock, ids, actor: systemActor("test") });
    expect(await leases.acquire(watchWorkerName(network), minute)).to.include({ token: 1 });
  };
  const readTo = (height: number, hash: string) =>
    db.write(testContext, (tx) =>
      tx.update(stateTable, { tipHeight: height, tipHash: hash }, "WHERE network = $1", [network]),
    );
  const reach = async () => {
    const at = systemClock.now();
    const first = { cursorHeight: 90, cursorHash: "bb".repeat(32), cursorTime: at };
    const newest = { tipHeight: tip.height, tipHash: tip.hash, tipTime: at };
    const rest = {
      chainId: 1,
      headHeight: tip.height,
      scannedAt: at,
      disabledTokens: [],
      version: 1,
    };
    await db.write(testContext, (tx) => createState(tx, { network, ...first, ...newest, ...rest }));
  };
  /** Returns whether a wait for a block is over within 400 ms, and the wait itself. */
  const wait = async (head: { readonly height: number; readonly hash: string }) => {
    const done = untilRead(head).then(() => true);
    const isOver = await Promise.race([done, setTimeout(400, false)]);
    return { isOver, done };
  };

  it("waits until the server has read its block, or one above it", async () => {
    await lease();
    await reach();
    expect((await wait(tip)).isOver).to.equal(true);
    expect((await wait({ height: 99, hash: "cc".repeat(32) })).isOver).to.equal(true);
    // A reorganization: the block that was read has the same height, and is another one.
    const other = { height: tip.height, hash: "dd".repeat(32) };
    const replaced = await wait(other);
    expect(replaced.isOver).to.equal(false);
    await readTo(other.height, other.hash);
    expect(await replaced.done).to.equal(true);
    const next = await wait({ height: 101, hash: "ee".repeat(32) });
    expect(next.isOver).to.equal(false);
    await readTo(102, "ff".repeat(32));
    expect(await next.done).to.equal(true);
  });

  it("waits for no server that does not run, and for no network that was never reached", async () => {
    const far = { height: 1_000, hash: "cc".repeat(32) };
    await reach();
    expect((await wait(far)).isOver).to.equal(true);
    await lease();
    await db.write(testContext, (tx) => tx.run("DELETE FROM network_states"));
    expect((await wait(far)).isOver).to.equal(true);
  });
});
