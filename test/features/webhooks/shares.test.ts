// Organizations that share the slots of webhooks, of which one has receivers that answer late.
import { expect } from "chai";
import { organizations } from "../../../src/features/organizations/store.ts";
import { slowAfterMs, type Deliverer } from "../../../src/features/webhooks/delivery/deliverer.ts";
import { findBacklogs, leaseDue } from "../../../src/features/webhooks/delivery/leases.ts";
import { createWebhookEndpoint } from "../../../src/features/webhooks/endpoints.ts";
import { webhookDeliveries, webhookEndpoints } from "../../../src/features/webhooks/table.ts";
import { day, minute } from "../../../src/kernel/clock.ts";
import { createIds, type Id } from "../../../src/kernel/id.ts";
import type { Database, Reader, Tx } from "../../../src/platform/database/database.ts";
import type { SqlValue } from "../../../src/platform/database/schema/table.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { addOrganization } from "../../support/merchants.ts";
import { eachStore, testContext, testsAll } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { install, type Installation } from "./sending.ts";

/** Maximum number of enabled endpoints of an organization. */
const endpointsMax = 10;
/** Due deliveries of one organization. */
const dueCount = testsAll ? 100_000 : 5_000;
/** Longer than the time after which an answer is slow, in milliseconds. */
const slowMs = slowAfterMs + 200;

interface Shop {
  readonly id: Id<"organization">;
  readonly receiver: Receiver;
  /** Whether its receiver keeps its answers back. */
  isHeld: boolean;
  /** The number of its open requests. */
  open(): number;
  /** Answers all open requests. */
  answer(): void;
}

eachStore("the slots of webhooks", (store) => {
  let db: Database;
  let here: Installation;
  let receivers: Receiver[] = [];

  beforeEach(async () => {
    db = await store.open();
    here = await install(db, { slowAfterMs });
  });
  afterEach(async () => {
    for (const receiver of receivers) await receiver.close();
    receivers = [];
    await here.close();
  });

  async function addShop(endpointCount = endpointsMax): Promise<Shop> {
    const answers = new Set<() => void>();
    const shop: Shop = {
      id: await addOrganization(db, createIds(systemRandom), here.clock.now()),
      receiver: await startReceiver((_request, response) => {
        const answer = () => {
          answers.delete(answer);
          response.end("ok");
        };
        answers.add(answer);
        response.once("close", () => answers.delete(answer));
        if (!shop.isHeld) answer();
      }),
      isHeld: false,
      open: () => answers.size,
      answer() {
        for (const answer of answers) answer();
      },
    };
    receivers.push(shop.receiver);
    const url = `http://127.0.0.1:${String(shop.receiver.port)}/`;
    for (let count = 0; count < endpointCount; count += 1) {
      await createWebhookEndpoint(here.app, testContext, shop.id, { url });
    }
    return shop;
  }

  function emit(id: Id<"organization">): Promise<void> {
    return db.write(testContext, (tx) => {
      here.app.journal.record(tx, here.clock.now(), {
        organizationId: id,
        subjectType: "invoice",
        subjectId: "inv_1",
        events: { types: ["invoice.paid"], version: 1, data: {} },
      });
      return Promise.resolve();
    });
  }

  /** Emits events of a shop, as callers who come at once. */
  async function emitMany({ id }: Shop, count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => emit(id)));
    await here.relay();
  }

  const fill = async (deliverer: Deliverer): Promise<void> => {
    while (await deliverer.run(new AbortController().signal));
  };

  /** Sends an event to a shop and returns once its receiver has it. */
  async function deliver(deliverer: Deliverer, shop: Shop): Promise<void> {
    const { requests } = shop.receiver;
    const had = requests.length;
    await emitMany(shop, 1);
    await until(
      "the other organization's delivery",
      async () => (await fill(deliverer), requests.length),
      (count) => count > had,
    );
  }

  /** Runs a deliverer until a shop has so many open requests, and no more. */
  async function openRequests(deliverer: Deliverer, shop: Shop, count: number): Promise<void> {
    await until(
      "open requests",
      async () => (await fill(deliverer), shop.open()),
      (open) => open >= count,
    );
    await fill(deliverer);
    expect(shop.open()).to.equal(count);
  }

  /** Adds a shop whose ten endpoints have earned all concurrent requests, eight each, and has more due than that. */
  async function addGreedy(deliverer: Deliverer): Promise<Shop> {
    const greedy = await addShop();
    for (let round = 0; round < 4; round += 1) {
      await emitMany(greedy, 1);
      await fill(deliverer);
      await deliverer.idle();
    }
    greedy.isHeld = true;
    await emitMany(greedy, 40);
    return greedy;
  }

  it("are all for one organization that is alone, and another one's event is sent at once although they all are in use", async () => {
    const deliverer = here.deliverer();
    const [other, third] = [await addShop(1), await addShop(1)];
    const greedy = await addGreedy(deliverer);
    await openRequests(deliverer, greedy, 64);
    await deliver(deliverer, other);
    other.isHeld = true;
    await deliver(deliverer, other);
    await deliver(deliverer, third);
    expect(greedy.open()).to.equal(64);
    greedy.answer();
  });

  it("stay free for others while clocks jump, and while the organization that has most is suspended", async () => {
    const deliverer = here.deliverer();
    const other = await addShop(1);
    const greedy = await addGreedy(deliverer);
    await openRequests(deliverer, greedy, 64);
    await db.write(testContext, (tx) =>
      tx.update(organizations, { status: "suspended" }, "WHERE id = $1", [greedy.id]),
    );
    await deliver(deliverer, other);
    here.clock.advance(40 * day);
    await deliver(deliverer, other);
    here.clock.advance(-40 * day);
    await deliver(deliverer, other);
    expect(greedy.open()).to.equal(64);
    greedy.answer();
  });

  it("are not all for receivers that answer 200 late, and others that do so have some too", async () => {
    const deliverer = here.deliverer();
    const [late, quick] = [await addShop(1), await addShop(1)];
    const greedy = await addGreedy(deliverer);
    await openRequests(deliverer, greedy, 64);
    // Both answer late once.
    late.isHeld = true;
    await deliver(deliverer, late);
    await new Promise((resolve) => setTimeout(resolve, slowMs));
    greedy.answer();
    late.answer();
    await deliverer.idle();
    await openRequests(deliverer, greedy, 32);
    await deliver(deliverer, late);
    await deliver(deliverer, quick);
    expect(greedy.open()).to.equal(32);
    greedy.isHeld = false;
    greedy.answer();
    late.answer();
  });

  it("count as those of a troubled endpoint once its answer is late: then retries wait, and new events do not", async () => {
    const deliverer = here.deliverer();
    const [retried, quick] = [await addShop(1), await addShop(1)];
    const greedy = await addGreedy(deliverer);
    await openRequests(deliverer, greedy, 64);
    await new Promise((resolve) => setTimeout(resolve, slowMs));
    await emitMany(retried, 1);
    await db.write(testContext, (tx) =>
      tx.update(
        webhookDeliveries,
        { status: "failed", attempts: 1 },
        "WHERE organization_id = $1",
        [retried.id],
      ),
    );
    await deliver(deliverer, quick);
    expect(retried.receiver.requests).to.have.length(0);
    greedy.isHeld = false;
    greedy.answer();
    await until(
      "the retry",
      async () => (await fill(deliverer), retried.receiver.requests.length),
      (count) => count === 1,
    );
  });

  it("are shared on each of several servers: no organization has more than a quarter while others wait", async () => {
    const servers = Array.from({ length: 4 }, () => here.deliverer());
    const shops = [await addShop(), await addShop()];
    for (const shop of shops) shop.isHeld = true;
    // 64 callers at once, each with an event of either.
    await Promise.all(shops.map((shop) => emitMany(shop, 32)));
    const runAll = () => Promise.all(servers.map(fill));
    const open = () => shops.map((shop) => shop.open());
    await until(
      "the shares of both",
      async () => (await runAll(), open()),
      (counts) => counts.every((count) => count >= 64),
    );
    await runAll();
    expect(open()).to.deep.equal([64, 64]);
    const ids = shops.flatMap(({ receiver: { requests } }) =>
      requests.map(({ headers }) => headers["till-delivery-id"]),
    );
    expect(new Set(ids).size).to.equal(ids.length);
    // The first one has nothing else to send, so that the second one is alone.
    const [first, second] = shops as [Shop, Shop];
    await db.write(testContext, (tx) =>
      tx.update(
        webhookDeliveries,
        { status: "succeeded", dueAt: null, completedAt: here.clock.now() },
        "WHERE organization_id = $1 AND status = 'pending'",
        [first.id],
      ),
    );
    await until(
      "all of the other's",
      async () => (await runAll(), second.open()),
      (count) => count >= 4 * endpointsMax * 4,
    );
    for (const shop of shops) shop.answer();
  });

  it("go to a hundred organizations with one delivery each before one with thousands has more than its share", async () => {
    const deliverer = here.deliverer();
    const greedy = await addGreedy(deliverer);
    await openRequests(deliverer, greedy, 64);
    const target = await addShop(1);
    const many: Id<"organization">[] = [];
    for (let count = 0; count < 100; count += 1) {
      const id = await addOrganization(db, createIds(systemRandom), here.clock.now());
      const url = `http://127.0.0.1:${String(target.receiver.port)}/`;
      await createWebhookEndpoint(here.app, testContext, id, { url });
      many.push(id);
    }
    await Promise.all(many.map(emit));
    await here.relay();
    await until(
      "a delivery of each",
      async () => (await fill(deliverer), target.receiver.requests.length),
      (count) => count === many.length,
    );
    expect(greedy.open()).to.equal(64);
    greedy.answer();
  });

  it("are claimed by index, however many deliveries of one organization are due", async () => {
    const greedy = await addShop(1);
    await emitMany(greedy, 1);
    const [original] = await db.find(webhookDeliveries, "");
    if (original === undefined) throw new Error("there is no delivery");
    const ids = createIds(systemRandom);
    const now = here.clock.now();
    await db.write(testContext, async (tx) => {
      const copies = Array.from({ length: dueCount }, (_, place) => ({
        ...original,
        id: ids.next("webhookDelivery", now),
        eventId: ids.next("event", now),
        sequence: place + 2,
      }));
      await tx.insertMany(webhookDeliveries, copies);
      await tx.update(webhookEndpoints, { lastSequence: dueCount + 1 }, "WHERE id = $1", [
        original.endpointId,
      ]);
    });
    const asked: { readonly sql: string; readonly values: readonly SqlValue[] }[] = [];
    const noting = <R extends Reader>(reader: R): R => ({
      ...reader,
      all: (sql: string, values: readonly SqlValue[] = []) => {
        asked.push({ sql, values });
        return reader.all(sql, values);
      },
    });
    const claim = {
      now,
      lone: new Set<never>(),
      leaseUntil: now + minute,
      token: "token",
      perEndpointMax: 4,
    };
    await findBacklogs(noting<Reader>(db));
    const wanted = new Map([[original.endpointId, 4]]);
    const claimed = await db.write(testContext, (tx) => leaseDue(noting<Tx>(tx), wanted, claim));
    expect(claimed).to.have.length(4);
    expect(asked).to.have.length(2);
    const explain = db.dialect === "sqlite" ? "EXPLAIN QUERY PLAN" : "EXPLAIN";
    const expectByIndex = async () => {
      for (const { sql, values } of asked) {
        const plan = JSON.stringify(await db.all(`${explain} ${sql}`, values));
        expect(plan).to.include("webhook_deliveries_due");
        expect(plan).not.to.match(
          /Seq Scan on webhook_deliveries|SCAN webhook_deliveries|SCAN d (?!USING COVERING INDEX webhook_deliveries_due)/,
        );
      }
    };
    await expectByIndex();
    if (db.dialect === "sqlite") return;
    await db.write(testContext, (tx) => tx.run("ANALYZE webhook_deliveries"));
    await expectByIndex();
  });
});
