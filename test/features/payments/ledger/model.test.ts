// Plays random histories to the watcher, the payment ledger, the invoices and their holds together, and compares the
// result with a small model. A failure prints the seed and the shrunk history; `TILL_SEED=… npm run prove:payments`
// plays it again.
import fc from "fast-check";
import type { Database } from "../../../../src/platform/database/database.ts";
import { expectSound } from "../../../support/store/expect-store-is-consistent.ts";
import { eachStore, testsAll } from "../../../support/store/stores.ts";
import { history, openWorld, type World } from "./model.ts";

const isProof = process.env["TILL_PROVE"] === "1";
/** The number of histories in `npm run prove:payments`, in `npm run test:all`, and in CI. */
const runs = Number(process.env["TILL_RUNS"] ?? (isProof ? "5000" : testsAll ? "200" : "80"));
const seed = process.env["TILL_SEED"];
/** The number of histories played concurrently, each on a separate store, for which they mostly wait. */
const lanes = seed === undefined ? 4 : 1;
/** The height at which a chain is replaced by a new one, because longer chains answer more slowly. */
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
          // The next history must not start from the chain of a failed one.
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

  it("leave every invoice and transfer as the model predicts, and the store consistent", async () => {
    const played = Array.from({ length: lanes }, () => playRuns(Math.ceil(runs / lanes)));
    // Wait for all, so that the store outlives them.
    await Promise.allSettled(played);
    await Promise.all(played);
  });
});
