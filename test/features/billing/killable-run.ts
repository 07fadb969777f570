// Bills what is due in a process of its own, and kills it with SIGKILL at one of its statements: the place of that
// statement, its clock and the store come by the environment.
import { createApp } from "../../../src/compose/index.ts";
import { makeBillingRun } from "../../../src/features/billing/run.ts";
import { loadConfig } from "../../../src/platform/config/index.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { withStatements } from "./statements.ts";

const place = Number(process.env["KILL_AT"]);
const added = Number(process.env["CLOCK_ADDED"]);
const { config } = await loadConfig({ mode: "cli", env: process.env });
const clock = { now: () => Date.now() + added };
const app = await createApp(config, "use", { clock, logger: silentLogger });
let statements = 0;
const db = withStatements(app.db, (name) => {
  statements += 1;
  if (statements !== place) return;
  process.stdout.write(`killed at ${name}\n`);
  process.kill(process.pid, "SIGKILL");
});
const run = makeBillingRun({
  ...{ db, clock, logger: silentLogger },
  ...{ managed: app.managed, transitions: app.transitions },
});
const done = await run.runAll();
await app.close();
process.stdout.write(`${JSON.stringify({ ...done, statements })}\n`);
