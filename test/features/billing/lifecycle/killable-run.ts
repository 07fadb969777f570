// Runs due billing, or changes a plan, in a separate process and kills it with SIGKILL at one of its statements. The
// environment gives the number of that statement, the clock, the store and the plan change.
import { createApp } from "../../../../src/compose/app.ts";
import { systemActor } from "../../../../src/kernel/actor.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { runBilling } from "../../../../src/features/billing/lifecycle/worker.ts";
import { changePlan } from "../../../../src/features/billing/subscriptions/subscriptions.ts";
import { loadConfig } from "../../../../src/platform/config/load.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import { withStatements } from "../statements.ts";

const place = Number(process.env["KILL_AT"]);
const added = Number(process.env["CLOCK_ADDED"]);
const { config } = await loadConfig({ mode: "cli", env: process.env });
const clock = { now: () => Date.now() + added };
const app = await createApp(config, "use", { clock, logger: silentLogger });
let statements = 0;
const db = withStatements({ ...app.db }, (name) => {
  statements += 1;
  if (statements !== place) return;
  process.stdout.write(`killed at ${name}\n`);
  process.kill(process.pid, "SIGKILL");
});
const [organizationId, plan] = (process.env["CHANGE_PLAN"] ?? "").split(" ");
let done: object;
if (plan === undefined) {
  done = await runBilling({ ...app, db });
} else {
  Object.assign(app.db, db);
  const context = { actor: systemActor("tests"), requestId: null, ip: null };
  await changePlan(app, context, organizationId as Id<"organization">, plan);
  done = { steps: 1 };
}
await app.close();
process.stdout.write(`${JSON.stringify({ ...done, statements })}\n`);
