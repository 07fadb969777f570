// A process that passes events on and delivers them until somebody kills it. Its arguments: the store's place as JSON,
// and how far its clock is ahead of the machine's, in milliseconds.
import { setTimeout as delay } from "node:timers/promises";
import { openDatabase, type StoreOptions } from "../../../src/platform/database/open.ts";
import { movingClock } from "../../support/clock.ts";
import { install } from "./sending.ts";

const [place = "", ahead = ""] = process.argv.slice(2);
const db = await openDatabase(JSON.parse(place) as StoreOptions);
const here = await install(db, { clock: movingClock(Date.now() + Number(ahead)) });
const deliverer = here.deliverer();
const signal = new AbortController().signal;
process.stdout.write("ready\n");
for (;;) {
  await here.relay();
  await deliverer.run(signal);
  await delay(1);
}
