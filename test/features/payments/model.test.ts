// Random histories are played to the watcher, the ledger, the invoices and their holds together, and held against a small
// model. A failure prints the seed and the history that it shrank to: `TILL_SEED=… npm run prove:payments` plays it again.
import fc from "fast-check";
import type { Database } from "../../../src/platform/database/index.ts";
import { expectSound } from "../../support/sound.ts";
import { eachStore, testsAll } from "../../support/stores.ts";
import { history, openWorld, type World } from "./model.ts";

const isProof = process.env["TILL_PROVE"] === "1";
/** By `npm run prove:payments`, by `npm run test:all`, and in CI. */
const runs = Number(process.env["TILL_RUNS"] ?? (isProof ? "5000" : testsAll ? "200" : "80"));
const seed = process.env["TILL_SEED"];
/** Histories that are played at once, each on a store of its own: most of the time they wait for it. */
const lanes = seed === undefined ? 4 : 1;
/** A chain is left for a fresh one when it has become long. */
const heightMax = 6_000;

eachStore("Random histories of invoices and their payments", (store) => {
  async function playRuns(count: number): Promise<void> {
    let opened: { readonly db: Database; readonly world: World } | null = null;

    async function worldOf(): Promise<World> {
      if (opened !== null && opened.world.height() > heightMax) {
        await expectSound(opened.db);
        await opened.db.close();
        opened = null;
      }
      if (opened === null) {
        const db = await store.open();
        opened = { db, world: await openWorld(db) };
      }
      return opened.world;
    }

    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const world = await worldOf();
        try {
          await world.play(steps);
        } catch (error) {
          // A history that failed leaves a chain behind that the next should not start from.
          opened = null;
          throw error;
        }
      }),
      { numRuns: count, ...(seed === undefined ? {} : { seed: Number(seed) }) },
    );
    await worldOf();
    const last = opened as { readonly db: Database } | null;
    if (last !== null) await expectSound(last.db);
  }

  it("leave every invoice and transfer as the model says, and the store whole", async function () {
    this.timeout(runs * 6_000);
    const played = Array.from({ length: lanes }, () => playRuns(Math.ceil(runs / lanes)));
    // Every one ends before the store is taken away.
    await Promise.allSettled(played);
    await Promise.all(played);
  });
});
