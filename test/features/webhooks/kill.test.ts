// Kills processes that deliver, with SIGKILL, in the middle of their work: nothing that happened stays untold.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";
import { endpointConcurrencyMax } from "../../../src/features/webhooks/delivery/circuit-breaker.ts";
import { webhookAttempts } from "../../../src/features/webhooks/table.ts";
import { minute, second } from "../../../src/kernel/clock.ts";
import type { StoreOptions } from "../../../src/platform/database/open.ts";
import { events } from "../../../src/platform/events/outbox.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { compiledProgram } from "../../support/programs/built.ts";
import { endWithThisProcess } from "../../support/programs/guard.ts";
import { eachStore, testsAll } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { install, verified } from "./sending.ts";

const program = new URL("deliver-until-killed.ts", import.meta.url);
const rounds = testsAll ? 4 : 2;
const endpointCount = 5;
const eventsPerRound = testsAll ? 60 : 30;
/** Past the end of every lease of the process before. */
const leaseOver = minute + second;

eachStore("webhook deliveries under kill -9", (store) => {
  let receiver: Receiver;
  /** Deliveries that were sent and not yet answered. */
  const unanswered = new Set<string>();
  /** The ones whose process was killed. */
  const cutOff: string[] = [];

  before(async () => {
    receiver = await startReceiver(({ headers }, response) => {
      const id = String(headers["till-delivery-id"]);
      unanswered.add(id);
      setTimeout(() => {
        unanswered.delete(id);
        response.end("ok");
      }, 20);
    });
  });
  after(() => receiver.close());

  async function deliverUntil(
    place: StoreOptions,
    ahead: number,
    isEnough: () => Promise<boolean>,
  ): Promise<void> {
    const child = spawn(
      process.execPath,
      [compiledProgram(program), JSON.stringify(place), String(ahead)],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    endWithThisProcess(child);
    try {
      await once(child.stdout, "data");
      await until("enough deliveries", isEnough, Boolean);
    } finally {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      cutOff.push(...unanswered);
      await gone;
    }
  }

  it("arrive at least once, whenever their process dies", async () => {
    const place = await store.place("migrated");
    const db = await store.open(place);
    const here = await install(db);
    const endpoints = await Promise.all(
      Array.from({ length: endpointCount }, () => here.endpoint(receiver.port)),
    );
    let ahead = 0;
    for (let round = 0; round < rounds; round += 1) {
      const before = receiver.requests.length;
      await here.emit(...Array.from({ length: eventsPerRound }, () => "invoice.paid" as const));
      // Somewhere in the middle: later in each round.
      const enough = before + 20 + round * 37;
      await deliverUntil(place, ahead, () =>
        Promise.resolve(receiver.requests.length >= enough && unanswered.size > 0),
      );
      ahead += leaseOver;
    }
    const unfinished = async () =>
      (await here.deliveries()).filter((each) => each.status !== "succeeded").length;
    expect(await unfinished()).to.be.above(0);
    await deliverUntil(place, ahead, async () => {
      const [waiting] = await db.all(
        "SELECT 1 AS found FROM events WHERE position IS NULL LIMIT 1",
      );
      return waiting === undefined && (await unfinished()) === 0;
    });
    await here.close();

    const told = await db.find(events, "WHERE type = 'invoice.paid' ORDER BY position");
    expect(told).to.have.length(rounds * eventsPerRound);
    const deliveries = await here.deliveries();
    const attempts = await db.find(webhookAttempts, "");
    expect(deliveries).to.have.length(told.length * endpoints.length);
    expect(attempts).to.have.length(deliveries.length);
    const received = new Set(receiver.requests.map(({ headers }) => headers["till-delivery-id"]));
    expect([...received]).to.have.members(deliveries.map((each) => each.id));
    // Each kill met requests that were under way, and what they carried came again.
    expect(cutOff.length).to.be.at.least(rounds);
    for (const id of cutOff) {
      const times = receiver.requests.filter(({ headers }) => headers["till-delivery-id"] === id);
      expect(times, id).to.have.length.above(1);
    }
    const owners = new Map(deliveries.map((each) => [each.id as string, each.endpointId]));
    const numbers = new Map(endpoints.map(({ id }) => [id as string, new Set<number>()]));
    for (const request of receiver.requests) {
      const owner = owners.get(String(request.headers["till-delivery-id"]));
      const secret = endpoints.find((endpoint) => endpoint.id === owner)?.secret;
      const { type, sequence } = verified(request, secret ?? "");
      expect(type).to.equal("invoice.paid");
      numbers.get(owner ?? "")?.add(sequence);
    }
    const gapless = told.map((_, index) => index + 1);
    for (const received of numbers.values()) {
      expect([...received].sort((one, other) => one - other)).to.deep.equal(gapless);
    }
    // Only deliveries running when a process died arrived twice.
    const heldMax = rounds * endpointCount * endpointConcurrencyMax;
    expect(receiver.requests.length - deliveries.length).to.be.at.most(heldMax);
  });
});
