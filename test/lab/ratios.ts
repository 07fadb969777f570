// CPU time per request as a multiple of what a Koa server needs to echo the same request. Both are measured in turns in
// one run, so that other work on the machine concerns both. The windows are long enough for Node to compile what they
// run: shorter ones mostly measure how soon it did, which depends on the machine. docs/performance.md has the figures
// of servers that are warm. Other work on the machine doubles the ratio, so this runs alone: npm run prove:ratios.
import { expect } from "chai";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import {
  checkouts,
  measure,
  singles,
  start,
  type Figures,
  type Target,
  type Work,
} from "./bench/load.ts";

/** The largest multiple of Koa's CPU time: half as much again as the 43 and 8 times that were measured. */
const limits: readonly { readonly work: Work; readonly echoes: number; readonly most: number }[] = [
  { work: singles(900), echoes: 3_000, most: 65 },
  { work: checkouts(4_000), echoes: 6_000, most: 12 },
];
/** The best of a few rounds counts, because other work on the machine only adds to the time. */
const roundsMax = 6;

const cpuOf = ({ mainMs, othersMs }: Figures): number => mainMs + othersMs;

describe("The CPU time of a request, compared with a Koa server that echoes it", () => {
  let receiver: Receiver;
  let till: Target;
  let koa: Target;
  before(async () => {
    receiver = await startReceiver();
    koa = await start({ kind: "echo" });
    till = await start({ kind: "till", keys: 65, receiver: receiver.url });
  });
  after(async () => {
    await till.stop();
    await koa.stop();
    await receiver.close();
  });

  for (const { work, echoes, most } of limits) {
    it(`stays below ${String(most)} times for ${work.name}`, async () => {
      const echo = { ...work, requests: echoes };
      // The first round compiles the code of both, so that it counts for Koa only.
      await measure([till], work);
      const koas = [cpuOf(await measure([koa], echo))];
      const tills: number[] = [];
      const ratio = () => Math.min(...tills) / Math.min(...koas);
      while (tills.length < roundsMax && !(ratio() < most)) {
        tills.push(cpuOf(await measure([till], work)));
        koas.push(cpuOf(await measure([koa], echo)));
      }
      expect(ratio()).to.be.below(most);
    });
  }
});
