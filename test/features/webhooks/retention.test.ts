import { expect } from "chai";
import {
  deadLetterKeptFor,
  deliveryKeptFor,
  mendDueTimes,
  pruneDeliveries,
} from "../../../src/features/webhooks/delivery/retention.ts";
import { notFailing } from "../../../src/features/webhooks/endpoints/failure-policy.ts";
import {
  webhookAttempts,
  webhookDeliveries,
  webhookEndpoints,
} from "../../../src/features/webhooks/table.ts";
import { day, hour, minute } from "../../../src/kernel/clock.ts";
import { createIds } from "../../../src/kernel/id.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { eventKeptFor, events, pruneEvents } from "../../../src/platform/events/outbox.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { addOrganization } from "../../support/merchants.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

const now = Date.UTC(2031, 0, 31);
const running = new AbortController().signal;

eachStore("the retention of webhook data", (store) => {
  const ids = createIds(systemRandom);
  let db: Database;

  before(async () => {
    db = await store.open();
  });

  async function add(status: "succeeded" | "dead_letter" | "failed", age: number, count = 1) {
    // Ids count up within a process, so that older ones need a source of their own.
    const source = createIds(systemRandom);
    const at = now - age;
    const made = Array.from({ length: count }, () => ({
      id: source.next("webhookDelivery", at),
      organizationId: "org_1" as const,
      endpointId: "wep_1" as const,
      eventId: source.next("event", at),
      eventType: "invoice.paid",
      status,
      sequence: 1,
      earlyAttempts: 0,
      attempts: 1,
      dueAt: status === "failed" ? now : null,
      lastAttemptAt: at,
      leaseToken: null,
      responseStatus: 200,
      lastError: null,
      replayOf: null,
      createdAt: at,
      completedAt: at,
      body: "{}",
    }));
    await db.write(testContext, async (tx) => {
      await tx.insertMany(webhookDeliveries, made);
      await tx.insertMany(
        webhookAttempts,
        made.map(({ id }) => ({
          deliveryId: id,
          number: 1,
          startedAt: at,
          durationMs: 1,
          responseStatus: 200,
          errorKind: null,
          oddity: null,
          bodyExcerpt: "",
        })),
      );
    });
    return made.map(({ id }) => id);
  }

  it("keeps deliveries and attempts for 90 days, dead letters for 180, and pending ones forever", async () => {
    expect([deliveryKeptFor, deadLetterKeptFor]).to.deep.equal([90 * day, 180 * day]);
    const old = await add("succeeded", 94 * day, 2_300);
    const oldDead = await add("dead_letter", 184 * day);
    const stuck = await add("failed", 94 * day);
    const dead = await add("dead_letter", 179 * day);
    const fresh = await add("succeeded", 89 * day);
    expect(await pruneDeliveries(db, now, testContext, running)).to.equal(false);
    const left = await db.find(webhookDeliveries, "ORDER BY id");
    expect(left.map(({ id }) => id)).to.have.members([...stuck, ...dead, ...fresh]);
    expect(left.map(({ id }) => id)).not.to.include.members([old[0], oldDead[0]]);
    const attempts = await db.find(webhookAttempts, "");
    expect(attempts.map(({ deliveryId }) => deliveryId)).to.deep.equal(fresh);
  });

  it("makes deliveries due whose due time only a clock that was set back has made distant", async () => {
    const [next] = await add("failed", day);
    const [distant] = await add("failed", day);
    // The longest delay: twice the last one of the schedule, and the jitter.
    const dueAt = now + 48 * hour + 15 * minute;
    const set = (id: string | undefined, at: number) =>
      db.write(testContext, (tx) =>
        tx.update(webhookDeliveries, { dueAt: at }, "WHERE id = $1", [id ?? ""]),
      );
    await set(next, dueAt);
    await set(distant, dueAt + 1);
    expect(await mendDueTimes(db, now, testContext)).to.equal(false);
    const read = async (id = "") =>
      (await db.findOne(webhookDeliveries, "WHERE id = $1", [id]))?.dueAt;
    expect([await read(next), await read(distant)]).to.deep.equal([dueAt, now]);
  });

  it("plans a lone attempt for now that is further ahead than a receiver can ask for", async () => {
    const organizationId = await addOrganization(db, ids, now);
    const endpoint = (id: "wep_2" | "wep_3", probeAt: number) => ({
      id,
      organizationId,
      url: "https://shop.example/till",
      description: null,
      eventTypes: [],
      status: "enabled" as const,
      disabledReason: null,
      secret: "sealed",
      previousSecret: null,
      previousSecretUntil: null,
      ...notFailing,
      failingSince: now,
      probeAt,
      apiVersion: "v1",
      lastSequence: 0,
      version: 1,
      createdAt: now,
      updatedAt: now,
    });
    await db.write(testContext, (tx) =>
      tx.insertMany(webhookEndpoints, [
        endpoint("wep_2", now + hour),
        endpoint("wep_3", now + hour + 1),
      ]),
    );
    await mendDueTimes(db, now, testContext);
    const endpoints = await db.find(webhookEndpoints, "ORDER BY id");
    expect(endpoints.map(({ probeAt }) => probeAt)).to.deep.equal([now + hour, now]);
  });

  it("keeps events for 90 days, and the newest forever, so that positions continue", async () => {
    const event = (position: number | null, age: number) => ({
      id: ids.next("event", now),
      organizationId: "org_1",
      type: "invoice.paid",
      apiVersion: "v1",
      objectType: "invoice",
      objectId: "inv_1",
      objectVersion: 1,
      payload: {},
      occurredAt: now - age,
      position,
      supersededAt: null,
    });
    const prune = async () => {
      while (await pruneEvents(db, now, testContext));
      return (await db.find(events, "ORDER BY id")).map(({ position }) => position);
    };
    const waiting = event(null, 100 * day);
    const old = Array.from({ length: 1_200 }, (_, n) => event(n + 1, eventKeptFor + 1));
    await db.write(testContext, (tx) => tx.insertMany(events, [waiting, ...old]));
    expect(await prune()).to.deep.equal([null, 1_200]);
    await db.write(testContext, (tx) => tx.insertMany(events, [event(1_201, 0)]));
    expect(await prune()).to.deep.equal([null, 1_201]);
  });
});
