// Two servers on one PostgreSQL, of which each in turn is stopped by SIGSTOP beyond its leases, and then goes on.
import { setTimeout as delay } from "node:timers/promises";
import { firstSuccess } from "./kills.ts";
import { isAlive, openGround, type Dialect } from "./ground.ts";
import { startLoad } from "./load.ts";
import { report } from "./report.ts";
import { settle } from "./settle.ts";

const seconds = Number(process.env["PROVE_SECONDS"] ?? "60");
const calmMs = 3_000;

export async function provePausedServer(dialect: Dialect): Promise<void> {
  if (dialect === "sqlite") return;
  const ground = await openGround("two servers, each stopped by SIGSTOP", dialect);
  try {
    ground.servers.push(await ground.serve());
    const both = [...ground.servers];
    const load = startLoad(ground);
    const recovery: number[] = [];
    for (const [place, server] of both.entries()) {
      await delay(calmMs);
      server.child.kill("SIGSTOP");
      const stoppedAt = performance.now();
      ground.servers.splice(0, 2, ...both.filter((_, other) => other !== place));
      recovery.push((await firstSuccess(load.answers, stoppedAt)) / 1_000);
      await delay(seconds * 1_000);
      server.child.kill("SIGCONT");
      ground.servers.splice(0, 1, ...both);
    }
    await delay(calmMs);
    await load.stop();
    const faults = both.every(isAlive) ? [] : ["a server has ended"];
    const figures = await settle(ground, load);
    const ids = ground.receiver.requests.map(({ headers }) => headers["webhook-id"]);
    const again = ids.length - new Set(ids).size;
    const notes = [`${String(ids.length)} webhooks`, `${String(again)} of them again`];
    report(ground, figures, { recovery, notes, faults });
  } finally {
    await ground.end();
  }
}
