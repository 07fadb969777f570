import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import {
  getWebhookDelivery,
  listReplayableDeliveries,
  listWebhookDeliveries,
  replayWebhookDelivery,
  testWebhookEndpoint,
} from "../../../src/features/webhooks/deliveries.ts";
import { notFailing } from "../../../src/features/webhooks/endpoints/failure-policy.ts";
import { presentDelivery } from "../../../src/features/webhooks/records.ts";
import type { Attempt } from "../../../src/features/webhooks/delivery/deliverer.ts";
import { deliveryBacklog } from "../../../src/features/webhooks/delivery/backlog.ts";
import {
  broughtForwardMax,
  givenUpMax,
  leaseDue,
} from "../../../src/features/webhooks/delivery/leases.ts";
import { recordAttempts } from "../../../src/features/webhooks/delivery/record-attempts.ts";
import { createOpenDeliveries } from "../../../src/features/webhooks/delivery/slots.ts";
import type { DeliveryRow } from "../../../src/features/webhooks/delivery/store.ts";
import {
  createWebhookEndpoint,
  disableWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookEndpoints,
  removeWebhookEndpoint,
  rotateWebhookSecret,
  updateWebhookEndpoint,
} from "../../../src/features/webhooks/endpoints.ts";
import {
  webhookAttempts,
  webhookDeliveries,
  webhookEndpoints,
} from "../../../src/features/webhooks/table.ts";
import { hour, minute, second } from "../../../src/kernel/clock.ts";
import { auditLogs } from "../../../src/platform/audit/chain.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { events } from "../../../src/platform/events/outbox.ts";
import { createIds, type Id } from "../../../src/kernel/id.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { addOrganization } from "../../support/merchants.ts";
import { beforeNextWrite } from "../../support/store/before-next-write.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { stillClock } from "../../support/clock.ts";
import { startReceiver, type Receiver, type Respond } from "../../support/receiver.ts";
import { install, verified, type Installation, type InstallationParts } from "./sending.ts";

const answering =
  (status: number, headers: Record<string, string> = {}): Respond =>
  (_request, response) =>
    response.writeHead(status, headers).end("answer");

eachStore("webhook deliveries", (store) => {
  const it = takeTurns(store);
  let db: Database;
  let here: Installation;
  let opened: { close(): Promise<void> }[] = [];

  async function begin(parts: InstallationParts = {}): Promise<Installation> {
    db = await store.open();
    here = await install(db, parts);
    opened.push(here);
    return here;
  }
  async function receiver(respond?: Respond): Promise<Receiver> {
    const made = await startReceiver(respond);
    opened.push(made);
    return made;
  }

  /** Adds a shop with ten endpoints at a receiver, and events for each of them. */
  async function addShop(port: number, eventCount: number): Promise<void> {
    const shop = await addOrganization(db, createIds(systemRandom), here.clock.now());
    const url = `http://127.0.0.1:${String(port)}/`;
    for (let count = 0; count < 10; count += 1) {
      await createWebhookEndpoint(here.app, testContext, shop, {
        url,
        eventTypes: ["invoice.paid"],
      });
    }
    await db.write(testContext, (tx) => {
      for (let count = 0; count < eventCount; count += 1) {
        here.app.journal.record(tx, here.clock.now(), {
          organizationId: shop,
          subjectType: "invoice",
          subjectId: "inv_1",
          events: { types: ["invoice.paid"], version: 1, data: {} },
        });
      }
      return Promise.resolve();
    });
  }

  /** Adds copies of a delivery, each of an event of its own. */
  async function addCopies(
    original: DeliveryRow | undefined,
    count: number,
    changes: Partial<DeliveryRow>,
  ): Promise<void> {
    if (original === undefined) throw new Error("there is no delivery to copy");
    const { endpointId } = original;
    const ids = createIds(systemRandom);
    await db.write(testContext, async (tx) => {
      const endpoint = await tx.findOne(webhookEndpoints, "WHERE id = $1", [endpointId]);
      const lastSequence = (endpoint?.lastSequence ?? 0) + count;
      const copies = Array.from({ length: count }, (_, place) => ({
        ...original,
        ...changes,
        id: ids.next("webhookDelivery", here.clock.now()),
        eventId: ids.next("event", here.clock.now()),
        sequence: lastSequence - place,
      }));
      await tx.insertMany(webhookDeliveries, copies);
      await tx.update(webhookEndpoints, { lastSequence }, "WHERE id = $1", [endpointId]);
    });
  }

  interface Answer extends Partial<Pick<Attempt, "startedAt" | "isLone">> {
    readonly status: number;
    readonly retryAfterMs?: number;
  }

  /**
   * Claims as many due deliveries of each endpoint as it has answers, and then calls what is to happen before the answers are
   * recorded together.
   */
  async function recordTogether(
    answers: ReadonlyMap<Id<"webhookEndpoint">, readonly Answer[]>,
    failing: ReadonlySet<Id<"webhookEndpoint">> = new Set(),
    beforeRecording: () => void = () => undefined,
  ): Promise<void> {
    const now = here.clock.now();
    const wanted = new Map([...answers].map(([id, { length }]) => [id, length]));
    const claim = {
      now,
      lone: new Set<never>(),
      leaseUntil: now + minute,
      token: "lease",
      perEndpointMax: Math.max(...wanted.values()),
    };
    const claimed = await db.write(testContext, (tx) => leaseDue(tx, wanted, claim));
    const ids = claimed.map(({ id }) => id);
    expect(ids, "in the order of their age").to.deep.equal(ids.toSorted());
    const attempts = [...answers].flatMap(([endpointId, its]) => {
      const mine = claimed.filter((delivery) => delivery.endpointId === endpointId);
      expect(mine).to.have.length(its.length);
      return its.map(({ status, retryAfterMs = null, ...more }, place): Attempt => {
        const [delivery] = mine.slice(place);
        if (delivery === undefined) throw new Error("the delivery was not claimed");
        const answer = { status, oddity: null, retryAfterMs, durationMs: 1, bodyExcerpt: "" };
        const result = { outcome: "response", ...answer } as const;
        return {
          delivery,
          result,
          startedAt: now,
          endedAt: now,
          isLone: false,
          isSlow: false,
          ...more,
        };
      });
    });
    beforeRecording();
    await recordAttempts(here.app, { attempts, failing, isClosing: false });
  }

  const endpointRow = (id: Id<"webhookEndpoint">) =>
    db.findOne(webhookEndpoints, "WHERE id = $1", [id]);

  /** Runs work just before the write of this number from now on. */
  function beforeWrite(number: number, work: () => Promise<unknown>): void {
    beforeNextWrite(db, async () => {
      if (number === 1) await work();
      else beforeWrite(number - 1, work);
    });
  }

  afterEach(async () => {
    // Receivers first: what hangs ends.
    for (const each of opened.reverse()) await each.close();
    opened = [];
  });

  it("count as slow no longer once their attempt has ended by a fault of the program", async () => {
    await begin();
    const { id } = await here.endpoint(1);
    await here.emit("invoice.paid", "invoice.paid");
    await here.relay();
    const open = createOpenDeliveries();
    const ends: { answer(): void; fail(): void }[] = [];
    const deliverer = here.deliverer({
      open,
      slowAfterMs: 1,
      sender: {
        send: () =>
          new Promise((resolve, reject) => {
            ends.push({
              answer() {
                resolve({ outcome: "error", kind: "protocol", message: "", durationMs: 1 });
              },
              fail() {
                reject(new Error("a fault"));
              },
            });
          }),
        close() {
          for (const end of ends) end.answer();
        },
      },
    });
    await deliverer.run(new AbortController().signal);
    await until(
      "two slow requests",
      () => open.of(id)?.slow,
      (slow) => slow === 2,
    );
    ends[0]?.fail();
    await until(
      "the end of the first",
      () => open.of(id)?.count,
      (count) => count === 1,
    );
    expect(open.of(id)).to.include({ sending: 1, retries: 0, slow: 1 });
    ends[1]?.answer();
    await deliverer.idle();
    expect([open.of(id), open.sending()]).to.deep.equal([undefined, 0]);
  });

  it("are counted with their outcome and the seconds that they took", async () => {
    const counted: [string, number][] = [];
    const deliveryAttempted = (outcome: string, seconds: number) =>
      void counted.push([outcome, seconds]);
    const clock = stillClock();
    await begin({ clock, metrics: { deliveryAttempted } });
    let status = 200;
    const target = await receiver((_request, response) => {
      clock.advance(1_500);
      response.writeHead(status).end();
    });
    await here.endpoint(target.port);
    await here.emit("invoice.created");
    await here.deliver();
    status = 500;
    await here.emit("invoice.issued");
    await here.deliver();
    expect(counted).to.deep.equal([
      ["succeeded", 1.5],
      ["failed", 1.5],
    ]);
  });

  it("arrive signed, in order, with gapless sequence numbers", async () => {
    await begin();
    const target = await receiver();
    const { id, secret } = await here.endpoint(target.port);
    await here.emit("invoice.created", "invoice.issued", "invoice.paid");
    await here.deliver();

    expect(target.requests).to.have.length(3);
    const messages = target.requests.map((request) => verified(request, secret));
    expect(messages.map(({ sequence }) => sequence)).to.have.members([1, 2, 3]);
    const [first] = target.requests;
    const message = new Webhook(secret).verify(
      first?.body ?? "",
      first?.headers as Record<string, string>,
    ) as Record<string, unknown>;
    expect(message["id"]).to.equal(first?.headers["webhook-id"]);
    expect(Object.keys(message)).to.deep.equal([
      "id",
      "type",
      "timestamp",
      "data",
      "apiVersion",
      "organizationId",
      "sequence",
    ]);
    expect(message).to.include({ apiVersion: "v1", organizationId: here.shop });
    expect(message["data"]).to.include({ id: "inv_1", amount: "25.00", note: "✓ – ünï" });
    expect(message["data"]).to.have.property("objectVersion").that.is.within(1, 3);
    expect(first?.headers).to.include({ "content-type": "application/json" });

    const stored = await db.find(events, "WHERE type LIKE 'invoice%' ORDER BY position");
    const deliveries = await here.deliveries();
    expect(deliveries.map((delivery) => delivery.eventId)).to.deep.equal(
      stored.map((event) => event.id),
    );
    expect(target.requests.map(({ headers }) => headers["webhook-id"])).to.have.members(
      stored.map((event) => event.id),
    );
    for (const delivery of deliveries) {
      expect(delivery).to.include({
        endpointId: id,
        status: "succeeded",
        attempts: 1,
        responseStatus: 200,
        lastError: null,
        dueAt: null,
        leaseToken: null,
      });
    }
  });

  it("are created for an endpoint's event types, from its creation on", async () => {
    await begin();
    const target = await receiver();
    await here.emit("invoice.paid");
    here.clock.advance(1);
    const all = await here.endpoint(target.port);
    const some = await here.endpoint(target.port, ["invoice.expired"]);
    const off = await here.endpoint(target.port);
    await disableWebhookEndpoint(here.app, testContext, here.shop, off.id);
    await here.emit("invoice.issued", "invoice.expired");
    await here.deliver();
    const deliveries = await here.deliveries();
    const types = (id: string) =>
      deliveries.filter((each) => each.endpointId === id).map((each) => each.eventType);
    expect(types(all.id)).to.have.members([
      "webhook_endpoint.disabled",
      "invoice.issued",
      "invoice.expired",
    ]);
    expect(types(some.id)).to.deep.equal(["invoice.expired"]);
    expect(types(off.id)).to.deep.equal([]);
    const numbers = deliveries.filter((each) => each.endpointId === all.id);
    expect(numbers.map((each) => each.sequence)).to.deep.equal([1, 2, 3]);
  });

  it.onBoth("are created with a constant number of statements", async () => {
    await begin();
    const target = await receiver();
    for (let count = 0; count < 3; count += 1) await here.endpoint(target.port);
    const many = Array.from({ length: 300 }, () => "invoice.paid" as const);
    await here.emit("invoice.paid");
    expect(await here.fanOutStatements()).to.equal(3);
    await here.emit(...many.slice(1));
    expect(await here.fanOutStatements()).to.equal(3 * 2);
    const deliveries = await here.deliveries();
    expect(deliveries).to.have.length(900);
    for (const id of new Set(deliveries.map((each) => each.endpointId))) {
      const mine = deliveries.filter((each) => each.endpointId === id);
      expect(mine.map((each) => each.sequence)).to.deep.equal(many.map((_, place) => place + 1));
    }
  });

  it("are retried until the receiver has recovered, with the same id and bytes", async () => {
    await begin();
    let isBroken = true;
    const target = await receiver((request, response) => {
      answering(isBroken ? 500 : 204)(request, response);
    });
    const { secret } = await here.endpoint(target.port);
    await here.emit("invoice.paid");
    await here.deliver();
    const [failed] = await here.deliveries();
    expect(failed).to.include({
      status: "failed",
      attempts: 1,
      responseStatus: 500,
      lastError: "The receiver responded with 500.",
    });
    // Five seconds, and of one more the share that its four random bytes are of 2 ** 32.
    expect((failed?.dueAt ?? 0) - here.clock.now()).to.equal(5_501);

    here.clock.advance(4 * second);
    await here.deliver();
    expect(target.requests).to.have.length(1);
    here.clock.advance(2 * second);
    await here.deliver();
    expect(target.requests).to.have.length(2);
    isBroken = false;
    here.clock.advance(10 * minute);
    await here.deliver();

    const [delivery] = await here.deliveries();
    expect(delivery).to.include({ status: "succeeded", attempts: 3, lastError: null });
    const [first, second_, third] = target.requests;
    for (const request of target.requests) verified(request, secret);
    expect(first?.bytes.equals(third?.bytes ?? Buffer.from(""))).to.equal(true);
    expect(first?.headers["webhook-id"]).to.equal(third?.headers["webhook-id"]);
    expect(second_?.headers["webhook-timestamp"]).to.not.equal(third?.headers["webhook-timestamp"]);
    const attempts = await db.find(webhookAttempts, "ORDER BY number");
    expect(attempts.map((each) => [each.number, each.responseStatus])).to.deep.equal([
      [1, 500],
      [2, 500],
      [3, 204],
    ]);
  });

  it("show their newest hundred attempts, however many there were", async () => {
    await begin();
    const target = await receiver(answering(503));
    await here.endpoint(target.port);
    await here.emit("invoice.paid");
    await here.deliver();
    const [first] = await db.find(webhookAttempts, "");
    if (first === undefined) throw new Error("no attempt was made");
    const more = Array.from({ length: 120 }, (_, place) => ({ ...first, number: place + 2 }));
    await db.write(testContext, (tx) => tx.insertMany(webhookAttempts, more));
    const { attempts } = await getWebhookDelivery(here.app, here.shop, first.deliveryId);
    const numbers = Array.from({ length: 100 }, (_, place) => place + 22);
    expect(attempts.map(({ number }) => number)).to.deep.equal(numbers);
  });

  it("become dead letters after twelve attempts in 76 hours", async () => {
    await begin({ chance: 0 });
    const target = await receiver(answering(503));
    await here.endpoint(target.port);
    await here.emit("invoice.paid");
    await here.deliver();
    const start = here.clock.now();
    for (let count = 1; count < 12; count += 1) {
      const [delivery] = await here.deliveries();
      expect(delivery).to.include({ status: "failed", attempts: count });
      here.clock.advance((delivery?.dueAt ?? 0) - here.clock.now());
      await here.deliver();
    }
    expect(here.clock.now() - start).to.equal(75 * hour + 42 * minute + 35 * second);
    const [delivery] = await here.deliveries();
    expect(delivery).to.include({ status: "dead_letter", attempts: 12, dueAt: null });
    here.clock.advance(100 * hour);
    await here.deliver();
    expect(target.requests).to.have.length(12);
  });

  it("wait as long as the receiver requests, within bounds", async () => {
    await begin({ chance: 0 });
    const asked = await receiver(answering(429, { "retry-after": "600" }));
    const greedy = await receiver(answering(503, { "retry-after": "999999" }));
    const moved = await receiver(answering(302, { location: "/", "retry-after": "600" }));
    for (const { port } of [asked, greedy, moved]) await here.endpoint(port);
    await here.emit("invoice.paid");
    await here.deliver();
    const waits = (await here.deliveries()).map((each) => (each.dueAt ?? 0) - here.clock.now());
    expect(waits).to.have.members([10 * minute, hour, 5 * second]);
    const redirected = (await here.deliveries()).find((each) => each.responseStatus === 302);
    expect(redirected?.lastError).to.contain("Redirects are not followed");
  });

  it("disable an endpoint that responds with 410, once, and notify the others", async () => {
    await begin();
    const gone = await receiver(answering(410));
    const other = await receiver();
    const ended = await here.endpoint(gone.port);
    const { secret } = await here.endpoint(other.port);
    await here.emit("invoice.created", "invoice.issued", "invoice.paid");
    await here.deliver();
    await here.deliver();
    const [endpoint] = (await listWebhookEndpoints(here.app, here.shop, { status: "disabled" }))
      .data;
    expect(endpoint).to.include({
      id: ended.id,
      disabledReason: "The receiver responded with 410 Gone.",
      version: 2,
    });
    const told = other.requests
      .map((request) => verified(request, secret))
      .filter(({ type }) => type === "webhook_endpoint.disabled");
    expect(told).to.have.length(1);
    expect(told[0]?.data).to.include({ id: ended.id, status: "disabled" });
    const audited = await db.find(auditLogs, "WHERE action = 'webhook_endpoint.disabled'");
    expect(audited).to.have.length(1);
    for (const delivery of await here.deliveries()) {
      const status = delivery.endpointId === ended.id ? "dead_letter" : "succeeded";
      expect(delivery.status).to.equal(status);
    }
    const before = gone.requests.length;
    await here.emit("invoice.paid");
    await here.deliver();
    expect(gone.requests).to.have.length(before);
  });

  it("disable an endpoint that responds with 410 to one of those that are recorded together", async () => {
    await begin();
    const gone = await here.endpoint(9);
    const broken = await here.endpoint(9);
    const goneSince = await here.endpoint(9);
    await here.emit("invoice.created", "invoice.issued");
    await here.relay();
    await recordTogether(
      new Map([
        [gone.id, [{ status: 410 }, { status: 500 }]],
        [broken.id, [{ status: 500 }, { status: 500 }]],
        [goneSince.id, [{ status: 204 }, { status: 410 }]],
      ]),
    );
    const { data } = await listWebhookEndpoints(here.app, here.shop, { status: "disabled" });
    const reason = "The receiver responded with 410 Gone.";
    expect(data.map((endpoint) => [endpoint.id, endpoint.disabledReason])).to.have.deep.members([
      [gone.id, reason],
      [goneSince.id, reason],
    ]);
  });

  it("end a failure if one of several that are recorded together succeeds, unless most fail", async () => {
    await begin();
    const { id } = await here.endpoint(9);
    await here.emit("invoice.created", "invoice.issued");
    await here.relay();
    const start = here.clock.now();
    await recordTogether(new Map([[id, [{ status: 500 }, { status: 500 }]]]));
    expect(await endpointRow(id)).to.include({ failingSince: start });
    const [waiting] = await here.deliveries();
    await addCopies(waiting, 1, { dueAt: start + hour });
    here.clock.advance(30 * second);
    await recordTogether(new Map([[id, [{ status: 204 }, { status: 500 }]]]));
    expect(await endpointRow(id)).to.include(notFailing);
    const broughtForward = (await here.deliveries()).find(({ sequence }) => sequence === 3);
    expect(broughtForward).to.include({ status: "failed", dueAt: start, earlyAttempts: 1 });

    const pausing = [{ status: 204 }, { status: 500 }];
    here.clock.advance(hour);
    await recordTogether(new Map([[id, pausing]]), new Set([id]));
    expect(await endpointRow(id)).to.include({
      pausedSince: here.clock.now(),
      lastFailure: "The receiver responded with 500.",
    });
  });

  it("that fail together count from the first one, and wait for the longest time that was asked for", async () => {
    await begin();
    const { id } = await here.endpoint(9);
    await here.emit("invoice.created", "invoice.issued");
    await here.relay();
    const start = here.clock.now();
    const failures: readonly Answer[] = [
      { status: 503, retryAfterMs: 10 * minute, startedAt: start - 2 * second },
      { status: 500, startedAt: start - second },
    ];
    await recordTogether(new Map([[id, failures]]), new Set([id]));
    expect(await endpointRow(id)).to.include({
      failingSince: start - 2 * second,
      pausedSince: start,
      probeAt: start + 10 * minute,
      lastFailure: "The receiver responded with 500.",
      firstGivenUpAt: null,
    });

    // One of them is the lone attempt at the paused endpoint, and the other one was the last of its delivery.
    here.clock.advance(15 * minute);
    const asked = (await here.deliveries()).find(({ responseStatus }) => responseStatus === 503);
    await db.write(testContext, (tx) =>
      tx.update(webhookDeliveries, { attempts: 11 }, "WHERE id = $1", [asked?.id ?? ""]),
    );
    await recordTogether(new Map([[id, [{ status: 500, isLone: true }, { status: 500 }]]]));
    expect(await endpointRow(id)).to.include({
      probeAt: here.clock.now() + 45_100,
      firstGivenUpAt: here.clock.now(),
    });
    const statuses = (await here.deliveries()).map(({ status }) => status);
    expect(statuses).to.have.members(["failed", "dead_letter"]);
  });

  it("keep their schedule if the endpoint fails again before the rest is brought forward", async () => {
    await begin();
    const { id } = await here.endpoint(9);
    await here.emit("invoice.paid");
    await here.relay();
    const [due] = await here.deliveries();
    const dueAt = here.clock.now() + 24 * hour;
    await addCopies(due, broughtForwardMax + 1, { status: "failed", attempts: 1, dueAt });
    const failing = (failingSince: number) =>
      db.write(testContext, (tx) =>
        tx.update(webhookEndpoints, { failingSince }, "WHERE id = $1", [id]),
      );
    await failing(here.clock.now());
    here.clock.advance(minute);
    await recordTogether(new Map([[id, [{ status: 204 }]]]), new Set(), () => {
      beforeWrite(2, () => failing(here.clock.now()));
    });
    const late = (await here.deliveries()).filter((each) => each.dueAt === dueAt);
    expect(late).to.have.length(1);
  });

  it("notify the other endpoints after one and three days of failures, and disable the endpoint after five", async () => {
    await begin({ chance: 0 });
    const broken = await receiver(answering(500));
    const other = await receiver();
    const failing = await here.endpoint(broken.port, ["invoice.paid"]);
    const { secret } = await here.endpoint(other.port, [
      "webhook_endpoint.failing",
      "webhook_endpoint.disabled",
    ]);
    const start = here.clock.now();
    const told = () => other.requests.map((request) => verified(request, secret));
    const state = async () => db.findOne(webhookEndpoints, "WHERE id = $1", [failing.id]);
    const step = 3;
    let hours = 0;
    while ((await state())?.status === "enabled" && hours < 200) {
      await here.emit("invoice.paid");
      await here.deliver();
      here.clock.advance(step * hour);
      hours += step;
    }
    await here.deliver();
    expect(here.clock.now() - start).to.be.within(120 * hour, 126 * hour);
    expect(told().map(({ type }) => type)).to.deep.equal([
      "webhook_endpoint.failing",
      "webhook_endpoint.failing",
      "webhook_endpoint.disabled",
    ]);
    const [first, second_] = told().map(({ data, timestamp }) => ({ ...data, timestamp }));
    expect(first).to.include({ id: failing.id, failingSince: new Date(start).toISOString() });
    const after = (notice?: { timestamp: string }) =>
      (Date.parse(notice?.timestamp ?? "") - start) / hour;
    expect(after(first)).to.be.within(24, 27);
    expect(after(second_)).to.be.within(72, 75);
    const versions = told().map(({ data }) => data["objectVersion"]);
    expect(versions).to.deep.equal([2, 3, 4]);
    const disabled = await state();
    expect(disabled?.disabledReason).to.contain(`since ${new Date(start).toISOString()}`);

    // After the fix, the failure state starts again.
    await updateWebhookEndpoint(
      here.app,
      testContext,
      here.shop,
      failing.id,
      { status: "enabled" },
      () => undefined,
    );
    expect(await state()).to.include({ status: "enabled", ...notFailing });
  });

  it("clear the failure state with the first success", async () => {
    await begin({ chance: 0 });
    let isBroken = true;
    const target = await receiver((request, response) => {
      answering(isBroken ? 500 : 200)(request, response);
    });
    const { id } = await here.endpoint(target.port);
    const since = async () =>
      (await db.findOne(webhookEndpoints, "WHERE id = $1", [id]))?.failingSince;
    await here.emit("invoice.paid");
    await here.deliver();
    expect(await since()).to.equal(here.clock.now());
    isBroken = false;
    here.clock.advance(10 * second);
    await here.deliver();
    expect(await since()).to.equal(null);
  });

  it("keep to each endpoint's rate limit", async () => {
    await begin({ perSecond: 20 });
    const target = await receiver();
    await here.endpoint(target.port);
    await here.emit(...Array.from({ length: 50 }, () => "invoice.paid" as const));
    const sent: number[] = [];
    for (let time = 0; time < 4; time += 1) {
      await here.deliver();
      sent.push(target.requests.length);
      here.clock.advance(second / 2);
    }
    expect(sent).to.deep.equal([20, 30, 40, 50]);
  });

  it("wake their worker when the rate limit allows the next one, and not otherwise", async () => {
    let woken = 0;
    await begin({ perSecond: 20, wake: () => void (woken += 1) });
    const target = await receiver();
    const broken = await receiver(answering(500));
    // Its deliveries wait because it fails.
    await here.endpoint(broken.port);
    await here.endpoint(target.port);
    await here.emit(...Array.from({ length: 22 }, () => "invoice.paid" as const));
    for (const sent of [20, 21]) {
      await here.deliver();
      expect(target.requests).to.have.length(sent);
      woken = 0;
      await until(
        "the wake-up",
        () => woken,
        (count) => count === 1,
      );
      here.clock.advance(50);
    }
    await here.deliver();
    expect(target.requests).to.have.length(22);
    woken = 0;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(woken).to.equal(0);
  });

  it("leave no timer behind when their worker is closed", async () => {
    await begin({ perSecond: 1 });
    const target = await receiver();
    await here.endpoint(target.port);
    await here.emit("invoice.created", "invoice.paid");
    const { setTimeout: start, clearTimeout: end } = globalThis;
    const waiting = new Set<unknown>();
    // The timers of the rate limit alone; none of them fires, however slow this machine is.
    globalThis.setTimeout = ((call: () => void, milliseconds: number) => {
      const isOfRateLimit = new Error("here").stack?.includes("wakeAtRateLimit") === true;
      const timer = start(call, isOfRateLimit ? hour : milliseconds);
      if (isOfRateLimit) waiting.add(timer);
      return timer;
    }) as typeof setTimeout;
    globalThis.clearTimeout = (timer) => {
      waiting.delete(timer);
      end(timer);
    };
    try {
      await here.deliver();
      expect(target.requests).to.have.length(1);
      expect(waiting.size).to.equal(1);
      await here.close();
      expect(waiting.size).to.equal(0);
    } finally {
      Object.assign(globalThis, { setTimeout: start, clearTimeout: end });
    }
  });

  it("are counted by status, with the earliest due time", async () => {
    await begin();
    const now = here.clock.now();
    const none = { pending: 0, inProgress: 0, failed: 0, deadLetter: 0, later: 0 };
    expect(await deliveryBacklog(db, now)).to.deep.equal({ ...none, oldestDueAt: null });
    await here.endpoint(9);
    await here.emit("invoice.paid");
    await here.relay();
    expect(await deliveryBacklog(db, now)).to.deep.equal({ ...none, pending: 1, oldestDueAt: now });
    const [pending] = await here.deliveries();
    await addCopies(pending, 2, { dueAt: now + 1 });
    await addCopies(pending, 1, { status: "failed", attempts: 1, dueAt: now + 1 });
    await addCopies(pending, 1, { status: "failed", attempts: 1, dueAt: now - second });
    await addCopies(pending, 1, { status: "dead_letter", dueAt: null });
    await addCopies(pending, 1, { status: "succeeded", dueAt: null });
    await addCopies(pending, 1, {
      status: "in_progress",
      dueAt: now - 2 * second,
      leaseToken: "lease",
    });
    expect(await deliveryBacklog(db, now)).to.deep.equal({
      pending: 3,
      inProgress: 1,
      failed: 2,
      deadLetter: 1,
      later: 3,
      oldestDueAt: now - second,
    });
  });

  it("become dead letters if their endpoint is disabled", async () => {
    await begin();
    const target = await receiver(answering(500));
    const { id } = await here.endpoint(target.port);
    await here.emit("invoice.paid", "invoice.paid");
    await here.deliver();
    await disableWebhookEndpoint(here.app, testContext, here.shop, id);
    const [waiting] = await here.deliveries();
    await addCopies(waiting, givenUpMax, {});
    const deliverer = here.deliverer();
    const { signal } = new AbortController();
    expect(await deliverer.run(signal), "there are more").to.equal(true);
    expect(await deliverer.run(signal), "these were all").to.equal(false);
    for (const delivery of await here.deliveries()) {
      expect(delivery).to.include({
        status: "dead_letter",
        lastError: "The endpoint was disabled.",
        dueAt: null,
      });
    }
  });

  it("are given up at once if the address is no longer allowed", async () => {
    await begin();
    const target = await receiver();
    const { id } = await here.endpoint(target.port);
    await db.write(testContext, (tx) =>
      tx.run("UPDATE webhook_endpoints SET url = $1 WHERE id = $2", ["http://10.0.0.1/", id]),
    );
    await here.emit("invoice.paid");
    await here.deliver();
    const [delivery] = await here.deliveries();
    expect(delivery).to.include({ status: "dead_letter", attempts: 1, responseStatus: null });
    const [attempt] = await db.find(webhookAttempts, "");
    expect(attempt).to.include({ errorKind: "blocked", bodyExcerpt: null });
  });

  it("reach others while a silent receiver holds its few requests", async () => {
    // However slow this machine is, none of its requests ends before the others' are through.
    await begin({ limits: { totalMs: hour } });
    const silent = await receiver(() => undefined);
    const other = await receiver();
    await here.endpoint(silent.port);
    const { id } = await here.endpoint(other.port);
    const many = Array.from({ length: 40 }, () => "invoice.paid" as const);
    await here.emit(...many);
    await here.relay();
    const deliverer = here.deliverer();
    const signal = new AbortController().signal;
    // Until the outcomes are on record: what the receiver has answered may still be on its way.
    const succeeded = await until(
      "the others' outcomes",
      async () => {
        await deliverer.run(signal);
        const mine = (await here.deliveries()).filter((each) => each.endpointId === id);
        return mine.filter((each) => each.status === "succeeded").length;
      },
      (count) => count === many.length,
    );
    expect(other.requests).to.have.length(succeeded);
    expect(silent.requests).to.have.length(4);
    await deliverer.close(0);
  });

  it("leave places for first attempts while others are retried", async () => {
    await begin({ limits: { totalMs: hour } });
    const silent = await receiver(() => undefined);
    const deliverer = here.deliverer();
    const underWay = async (): Promise<number> => {
      await here.relay();
      while (await deliverer.run(new AbortController().signal));
      const deliveries = await here.deliveries();
      return deliveries.filter(({ status }) => status === "in_progress").length;
    };
    for (let count = 0; count < 2; count += 1) await here.endpoint(silent.port, ["invoice.paid"]);
    await here.emit(...Array.from({ length: 4 }, () => "invoice.paid" as const));
    expect(await underWay()).to.equal(8);
    for (let count = 0; count < 4; count += 1) await addShop(silent.port, 4);
    await here.relay();
    const retried = { status: "failed", attempts: 1 } as const;
    await db.write(testContext, (tx) =>
      tx.update(webhookDeliveries, retried, "WHERE status = 'pending'", []),
    );
    expect(await underWay()).to.equal(8 + 48);
    for (let count = 0; count < 4; count += 1) await here.endpoint(silent.port, ["invoice.issued"]);
    await here.emit(...Array.from({ length: 4 }, () => "invoice.issued" as const));
    // A quarter is the organization's share while others wait.
    expect(await underWay()).to.equal(16 + 48);
    await deliverer.close(0);
  });

  it("that cannot be signed fail with the reason, take no room, and are sent once the secret is rotated", async () => {
    await begin();
    const target = await receiver();
    const unreadable = await here.endpoint(target.port, ["invoice.paid"]);
    const moved = await here.endpoint(target.port, ["invoice.expired"]);
    const other = await here.endpoint(target.port, ["invoice.issued"]);
    const [sound] = await db.find(webhookEndpoints, "WHERE id = $1", [other.id]);
    const setSecret = (id: Id<"webhookEndpoint">, secret = "not sealed by this server") =>
      db.write(testContext, (tx) => tx.update(webhookEndpoints, { secret }, "WHERE id = $1", [id]));
    await setSecret(unreadable.id);
    await setSecret(moved.id, sound?.secret);
    await here.emit("invoice.paid", "invoice.paid", "invoice.expired", "invoice.issued");
    await here.deliver();
    expect(target.requests).to.have.length(1);
    const now = here.clock.now();
    for (const delivery of await here.deliveries()) {
      const attempts = await db.find(webhookAttempts, "WHERE delivery_id = $1", [delivery.id]);
      expect(attempts).to.have.length(1);
      if (delivery.endpointId === other.id) {
        expect(delivery.status).to.equal("succeeded");
        continue;
      }
      expect(delivery).to.include({ status: "failed", attempts: 1 });
      expect(delivery.lastError).to.include("cannot read the endpoint's secret");
      expect(delivery.dueAt).to.be.within(now + 5 * second, now + 6 * second);
      expect(attempts[0]).to.include({ errorKind: "protocol", responseStatus: null });
    }
    for (const { id } of [unreadable, moved]) {
      await rotateWebhookSecret(here.app, testContext, here.shop, id, { overlapSeconds: 0 });
    }
    here.clock.advance(minute);
    await here.deliver();
    expect(target.requests).to.have.length(4);
    expect((await here.deliveries()).map(({ status }) => status)).to.deep.equal(
      Array.from({ length: 4 }, () => "succeeded"),
    );
  });

  it("continue to other endpoints while results wait to be recorded", async () => {
    db = await store.open();
    let isClaiming = true;
    let isRecording = false;
    let woken = 0;
    let isOver = false;
    let record: () => void = () => undefined;
    const recording = new Promise<void>((resolve) => (record = resolve));
    // Writes outside of a run record results.
    const held: Database = {
      ...db,
      async write(context, work) {
        isRecording ||= !isClaiming;
        if (!isClaiming) await recording;
        return db.write(context, work);
      },
    };
    here = await install(held, { wake: () => void (woken += 1) });
    opened.push(here);
    const answers: (() => void)[] = [];
    const target = await receiver((_request, response) => {
      const answer = () => response.end("ok");
      answers.push(answer);
      if (isOver) answer();
    });
    for (let count = 0; count < 7; count += 1) await addShop(target.port, 4);
    await here.relay();
    const deliverer = here.deliverer();
    const fill = async (): Promise<void> => {
      isClaiming = true;
      while (await deliverer.run(new AbortController().signal));
      isClaiming = false;
    };
    const requests = (count: number) =>
      until(
        "requests",
        () => answers.length,
        (there) => there === count,
      );
    await fill();
    await requests(64);
    woken = 0;
    isOver = true;
    for (const answer of answers) answer();
    await until("outcomes", () => isRecording, Boolean);
    expect(woken, "as there is room again").to.be.above(0);
    // Of 280 deliveries, as many as one process may hold.
    await until(
      "room",
      async () => (await fill(), answers.length),
      (there) => there >= 256,
    );
    await fill();
    const claimed = (await here.deliveries()).filter(({ status }) => status === "in_progress");
    expect(claimed).to.have.length(256);
    record();
    await deliverer.idle();
    const done = (await here.deliveries()).filter(({ status }) => status === "succeeded");
    expect(done).to.have.length(answers.length);
  });

  it("wait at least a minute for a silent receiver, which then gets one request at a time", async () => {
    await begin({ limits: { totalMs: 400 } });
    const silent = await receiver(() => undefined);
    await here.endpoint(silent.port);
    await here.emit(...Array.from({ length: 8 }, () => "invoice.paid" as const));
    await here.relay();
    const deliverer = here.deliverer();
    const signal = new AbortController().signal;
    const attempted = async (): Promise<number> => {
      await deliverer.run(signal);
      await deliverer.idle();
      const failed = (await here.deliveries()).filter((each) => each.status === "failed");
      for (const each of failed) {
        expect((each.dueAt ?? 0) - here.clock.now()).to.be.within(minute, 72 * second);
      }
      return failed.length;
    };
    expect(await attempted()).to.equal(4);
    expect(await attempted()).to.equal(5);
    expect(await attempted()).to.equal(6);
    expect(await db.find(webhookAttempts, "")).to.have.length(6);
    // If the machine was stalled, time ran out before an attempt got this far.
    expect(silent.requests.length).to.be.within(1, 6);
  });

  it("use no attempts while their endpoint is paused, and are given up by age", async () => {
    await begin();
    const target = await receiver(answering(500));
    await here.endpoint(target.port);
    await here.emit(...Array.from({ length: 30 }, () => "invoice.paid" as const));
    await here.deliver();
    const early = target.requests.length;
    expect(early).to.be.within(10, 14);
    const untouched = (await here.deliveries()).filter((each) => each.attempts === 0);
    expect(untouched.length).to.equal(30 - early);
    here.clock.advance(31 * second);
    await here.deliver();
    expect(target.requests).to.have.length(early + 1);
    here.clock.advance(76 * hour);
    await here.deliver();
    const [endpoint] = await db.find(webhookEndpoints, "");
    expect(endpoint).to.include({ status: "enabled", firstGivenUpAt: here.clock.now() });
    await here.deliver();
    const states = new Set((await here.deliveries()).map((each) => each.status));
    expect([...states]).to.deep.equal(["dead_letter"]);
  });

  it("older than 76 hours keep their attempts while their endpoint is not paused", async () => {
    await begin();
    const target = await receiver(answering(500));
    const { id } = await here.endpoint(target.port);
    await here.emit("invoice.created");
    await here.deliver();
    const createdAt = here.clock.now() - 77 * hour;
    await db.write(testContext, (tx) =>
      tx.update(webhookDeliveries, { createdAt }, "WHERE endpoint_id = $1", [id]),
    );
    await here.emit("invoice.paid");
    await here.deliver();
    const statuses = (await here.deliveries()).map(({ status }) => status);
    expect(statuses).to.deep.equal(["failed", "failed"]);
    const endpoint = await db.findOne(webhookEndpoints, "WHERE id = $1", [id]);
    expect(endpoint).to.include({ pausedSince: null, firstGivenUpAt: null });
  });

  it.onBoth(
    "wait at a paused endpoint, which two servers try alone, and follow once it responds",
    async () => {
      await begin();
      let isBroken = true;
      const target = await receiver((request, response) => {
        answering(isBroken ? 500 : 204)(request, response);
      });
      const { id } = await here.endpoint(target.port);
      await here.emit(...Array.from({ length: 30 }, () => "invoice.paid" as const));
      await here.deliver();
      const early = target.requests.length;
      const start = here.clock.now();
      const endpoint = () => getWebhookEndpoint(here.app, here.shop, id);
      expect(await endpoint()).to.include({
        failingSince: start,
        pausedSince: start,
        probeAt: start + 30 * second,
        lastFailure: "The receiver responded with 500.",
      });

      // The list says when each can really be tried, and a replay repeats it.
      const listed = (await listWebhookDeliveries(here.app, here.shop, {})).data.map(
        presentDelivery,
      );
      const soonest = new Date(start + 30 * second).toISOString();
      expect(listed.map(({ nextAttemptAt }) => nextAttemptAt ?? "").sort()[0]).to.equal(soonest);
      const waiting = listed.find(({ attempts }) => attempts === 0)?.id as Id<"webhookDelivery">;
      expect(
        (await getWebhookDelivery(here.app, here.shop, waiting)).delivery.pausedUntil,
      ).to.equal(start + 30 * second);
      const refused = replayWebhookDelivery(here.app, testContext, here.shop, waiting);
      const told = ((await refused.catch((error: unknown) => error)) as Error).message;
      expect(told).to.contain(soonest).and.to.contain(`till webhook trigger ${id}`);

      // Two servers, for ten minutes: one lone attempt every 30 s.
      const servers = [here.deliverer(), here.deliverer()];
      const turn = async (): Promise<void> => {
        const signal = new AbortController().signal;
        const started = await Promise.all(servers.map((each) => each.run(signal)));
        await Promise.all(servers.map((each) => each.idle()));
        if (started.some(Boolean)) await turn();
      };
      for (let tried = 1; tried <= 20; tried += 1) {
        here.clock.advance(30 * second);
        await turn();
        expect(target.requests).to.have.length(early + tried);
      }
      // No delivery has used up more attempts than its schedule has for this time.
      for (const { attempts, earlyAttempts } of await here.deliveries()) {
        expect(attempts - earlyAttempts).to.be.at.most(4);
      }

      isBroken = false;
      here.clock.advance(30 * second);
      await turn();
      expect(await endpoint()).to.include(notFailing);
      const done = await here.deliveries();
      expect(new Set(done.map(({ status }) => status))).to.deep.equal(new Set(["succeeded"]));
      expect(target.requests).to.have.length(early + 20 + 30);
      const attempts = await db.find(webhookAttempts, "");
      expect(attempts).to.have.length(target.requests.length);
    },
  );

  it.onBoth(
    "are tried alone although 64 callers ask for it at once, and all follow once the endpoint responds",
    async () => {
      await begin();
      let isBroken = true;
      const target = await receiver((request, response) => {
        answering(isBroken ? 503 : 204)(request, response);
      });
      const { id } = await here.endpoint(target.port);
      await here.emit(...Array.from({ length: 12 }, () => "invoice.paid" as const));
      await here.deliver();
      const servers = [here.deliverer(), here.deliverer()];
      const ask = () =>
        Promise.all(
          Array.from({ length: 64 }, (_, caller) =>
            caller % 2 === 0
              ? testWebhookEndpoint(here.app, testContext, here.shop, id)
              : updateWebhookEndpoint(
                  here.app,
                  testContext,
                  here.shop,
                  id,
                  { status: "enabled" },
                  () => undefined,
                ),
          ),
        );
      const turn = async (): Promise<void> => {
        const signal = new AbortController().signal;
        const started = await Promise.all(servers.map((each) => each.run(signal)));
        await Promise.all(servers.map((each) => each.idle()));
        if (started.some(Boolean)) await turn();
      };
      const early = target.requests.length;
      await ask();
      await turn();
      expect(target.requests).to.have.length(early + 1);
      isBroken = false;
      here.clock.advance(10 * second);
      await ask();
      await turn();
      const done = await here.deliveries();
      expect(done).to.have.length(12 + 2 * 32);
      expect(new Set(done.map(({ status }) => status))).to.deep.equal(new Set(["succeeded"]));
      expect(target.requests).to.have.length(early + 1 + done.length);
    },
  );

  it.onBoth(
    "follow once their endpoint responds, also more than one transaction moves",
    async () => {
      await begin();
      let isBroken = true;
      const target = await receiver((request, response) => {
        answering(isBroken ? 500 : 204)(request, response);
      });
      const { id } = await here.endpoint(target.port);
      await here.emit(...Array.from({ length: 12 }, () => "invoice.paid" as const));
      await here.deliver();
      const failed = (await here.deliveries()).find(({ status }) => status === "failed");
      const dueAt = here.clock.now() + 24 * hour;
      await addCopies(failed, 2 * broughtForwardMax + 1, { dueAt });
      isBroken = false;
      here.clock.advance(10 * second);
      await testWebhookEndpoint(here.app, testContext, here.shop, id);
      const server = here.deliverer();
      await server.run(new AbortController().signal);
      await server.idle();
      const late = (await here.deliveries()).filter((each) => (each.dueAt ?? 0) >= dueAt);
      expect(late).to.have.length(0);
    },
  );

  it("are tried at once after a test event, an enabling or a changed URL", async () => {
    await begin();
    let isBroken = true;
    const target = await receiver((request, response) => {
      answering(isBroken ? 502 : 204)(request, response);
    });
    const { id } = await here.endpoint(target.port);
    const update = (changes: object) =>
      updateWebhookEndpoint(here.app, testContext, here.shop, id, changes, () => undefined);
    await here.emit(...Array.from({ length: 12 }, () => "invoice.paid" as const));
    await here.deliver();
    const before = target.requests.length;
    const more = async () => {
      await here.deliver();
      return target.requests.length - before;
    };
    expect(await more()).to.equal(0);
    expect((await testWebhookEndpoint(here.app, testContext, here.shop, id)).pausedUntil).to.equal(
      here.clock.now(),
    );
    expect(await more()).to.equal(1);
    expect(await update({ status: "enabled" })).to.include({ probeAt: here.clock.now() });
    expect(await more()).to.equal(2);
    isBroken = false;
    await update({ url: `http://127.0.0.1:${String(target.port)}/moved` });
    await here.deliver();
    const left = async (wanted: string) =>
      (await here.deliveries()).filter(({ status }) => status === wanted).length;
    expect(await left("pending")).to.equal(0);

    isBroken = true;
    await here.emit(...Array.from({ length: 12 }, () => "invoice.paid" as const));
    await here.deliver();
    here.clock.advance(10 * second);
    isBroken = false;
    const failed = await left("failed");
    expect(failed).to.be.above(9);
    await testWebhookEndpoint(here.app, testContext, here.shop, id);
    await here.deliver();
    expect(await left("failed")).to.equal(0);
  });

  it("of a quiet endpoint are tried every 30 s at first, without using up their attempts", async () => {
    await begin({ chance: 0 });
    let isBroken = true;
    const target = await receiver((request, response) => {
      answering(isBroken ? 503 : 204)(request, response);
    });
    await here.endpoint(target.port);
    await here.emit("invoice.paid");
    for (let time = 0; time < 4 * minute; time += 5 * second) {
      await here.deliver();
      here.clock.advance(5 * second);
    }
    // At 0, 5, 35 and 155 s by the schedule, and every 30 s without a scheduled one.
    expect(target.requests).to.have.length(9);
    const [failed] = await here.deliveries();
    expect((failed?.attempts ?? 0) - (failed?.earlyAttempts ?? 0)).to.be.within(3, 4);
    isBroken = false;
    here.clock.advance(30 * second);
    await here.deliver();
    expect((await here.deliveries())[0]).to.include({ status: "succeeded" });
  });

  it("that a receiver refuses keep their schedule while it takes others", async () => {
    await begin({ chance: 0 });
    const target = await receiver((request, response) => {
      answering(request.body.includes("invoice.paid") ? 500 : 204)(request, response);
    });
    await here.endpoint(target.port);
    await here.emit("invoice.paid");
    for (let count = 0; count < 40; count += 1) {
      await here.emit("invoice.created");
      await here.deliver();
      here.clock.advance(second);
    }
    const refused = async () =>
      (await here.deliveries()).find(({ eventType }) => eventType === "invoice.paid");
    expect(await refused()).to.include({ status: "failed", attempts: 3, earlyAttempts: 0 });
    // Other events now and then: each ends a failure of 40 s, and not each sends the refused one again.
    for (let count = 0; count < 60; count += 1) {
      here.clock.advance(40 * second);
      await here.emit("invoice.created");
      await here.deliver();
    }
    expect((await refused())?.attempts).to.be.at.most(3 + 20 + 2);
  });

  it.onBoth("are sent once by two deliverers while leases hold", async () => {
    await begin();
    const target = await receiver();
    for (let count = 0; count < 8; count += 1) await here.endpoint(target.port);
    await here.emit(...Array.from({ length: 50 }, () => "invoice.paid" as const));
    await here.relay();
    const signal = new AbortController().signal;
    await Promise.all(
      [here.deliverer(), here.deliverer()].map(async (each) => {
        while ((await here.deliveries()).some(({ dueAt }) => dueAt !== null)) {
          await each.run(signal);
          await each.idle();
        }
      }),
    );
    expect(target.requests).to.have.length(400);
    const sent = target.requests.map(({ headers }) => headers["till-delivery-id"]);
    expect(new Set(sent).size).to.equal(400);
  });

  it.onBoth("of a dead process are sent again when its lease ends", async () => {
    await begin();
    let isHanging = true;
    const target = await receiver((request, response) => {
      if (!isHanging) answering(200)(request, response);
    });
    await here.endpoint(target.port);
    await here.emit("invoice.paid");
    await here.relay();
    const dead = here.deliverer();
    await dead.run(new AbortController().signal);
    const [claimed] = await here.deliveries();
    if (claimed === undefined) throw new Error("there is no delivery");
    expect(claimed).to.include({ status: "in_progress", attempts: 0 });
    const { nextAttemptAt } = presentDelivery({ ...claimed, pausedUntil: null });
    expect(nextAttemptAt, "while it is attempted").to.equal(null);
    const replay = replayWebhookDelivery(here.app, testContext, here.shop, claimed.id);
    const refused: unknown = await replay.catch((error: unknown) => error);
    expect(refused).to.have.property("message", "It is being sent now.");
    await until(
      "its request",
      () => target.requests.length,
      (count) => count === 1,
    );

    isHanging = false;
    here.clock.advance(minute - 1);
    await here.deliver();
    expect((await here.deliveries())[0]?.leaseToken).to.equal(claimed.leaseToken);
    here.clock.advance(1);
    await here.deliver();
    const [delivered] = await here.deliveries();
    expect(delivered).to.include({ status: "succeeded", attempts: 1 });

    // The first one wakes up at last: what it says under its old lease counts nothing.
    await target.close();
    await dead.idle();
    expect((await here.deliveries())[0]).to.deep.equal(delivered);
    expect(await db.find(webhookAttempts, "")).to.have.length(1);
    expect((await db.find(webhookEndpoints, ""))[0]).to.include(notFailing);
  });

  it("of a dead process are sent again at once by the only process of a store", async () => {
    await begin();
    let isHanging = true;
    const target = await receiver((request, response) => {
      if (!isHanging) answering(200)(request, response);
    });
    await here.endpoint(target.port);
    await here.emit("invoice.paid");
    await here.relay();
    await here.deliverer().run(new AbortController().signal);
    await until(
      "its request",
      () => target.requests.length,
      (count) => count === 1,
    );
    isHanging = false;
    await here.deliverer().takeOver();
    await here.deliver();
    expect((await here.deliveries())[0]).to.include({ status: "succeeded", attempts: 1 });
  });

  it.onBoth("cut off by a stop are returned without an attempt", async () => {
    await begin();
    const target = await receiver(() => undefined);
    await here.endpoint(target.port);
    await here.emit("invoice.paid");
    await here.relay();
    const stopped = here.deliverer();
    await stopped.run(new AbortController().signal);
    await stopped.close(50);
    expect((await here.deliveries())[0]).to.include({
      status: "pending",
      attempts: 0,
      leaseToken: null,
      dueAt: here.clock.now(),
    });
    expect(await stopped.run(new AbortController().signal)).to.equal(false);
  });

  it("are sent soon after an event, a test event, a replay and a change of their endpoint", async () => {
    let woken = 0;
    await begin({ wake: () => void (woken += 1) });
    const target = await receiver(answering(410));
    const { id } = await here.endpoint(target.port, ["invoice.paid"]);
    await here.emit("invoice.created");
    await here.relay();
    expect(woken).to.equal(0);
    await here.emit("invoice.paid");
    await here.relay();
    expect(woken).to.equal(1);
    await here.deliver();
    // Without a limit of requests a second, nothing else wakes the worker than the recorded result.
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(woken).to.equal(2);
    const [dead] = await here.deliveries();
    if (dead === undefined) throw new Error("there is no delivery");
    const { app, shop } = here;
    const changes = [
      () =>
        updateWebhookEndpoint(app, testContext, shop, id, { status: "enabled" }, () => undefined),
      () => testWebhookEndpoint(app, testContext, shop, id),
      () => replayWebhookDelivery(app, testContext, shop, dead.id),
      () => disableWebhookEndpoint(app, testContext, shop, id),
    ];
    for (const [place, change] of changes.entries()) {
      woken = 0;
      await change();
      expect(woken, String(place)).to.equal(1);
    }
    woken = 0;
    await testWebhookEndpoint(app, testContext, shop, id).catch(() => undefined);
    expect(woken).to.equal(0);
  });

  it("are removed with their attempts and their endpoint, and leave those of others", async () => {
    await begin();
    const target = await receiver();
    const removed = await here.endpoint(target.port);
    const other = await here.endpoint(target.port);
    await here.emit("invoice.created", "invoice.paid");
    await here.deliver();
    const { app, shop } = here;
    const elsewhere = await addOrganization(db, createIds(systemRandom), here.clock.now());
    const refused = removeWebhookEndpoint(app, testContext, elsewhere, removed.id);
    expect(await refused.catch((error: unknown) => error)).to.include({ status: 404 });
    expect(await here.deliveries()).to.have.length(4);
    // More than one transaction removes, and the first one is the last of its process.
    const mine = (await here.deliveries()).find(({ endpointId }) => endpointId === removed.id);
    await addCopies(mine, 500, {});
    beforeWrite(2, () => Promise.reject(new Error("the process ended")));
    const stopped = removeWebhookEndpoint(app, testContext, shop, removed.id);
    expect(await stopped.catch(String)).to.equal("Error: the process ended");
    expect(await endpointRow(removed.id)).to.include({
      status: "disabled",
      disabledReason: "Removed on request.",
      version: 2,
    });
    await removeWebhookEndpoint(app, testContext, shop, removed.id);
    const entries = await db.find(auditLogs, "WHERE action = 'webhook_endpoint.removed'");
    expect(entries.map(({ targetId, changes }) => [targetId, changes])).to.deep.equal([
      [removed.id, { url: `http://127.0.0.1:${String(target.port)}/hooks`, description: null }],
    ]);
    const left = await here.deliveries();
    expect(left.map(({ endpointId }) => endpointId)).to.deep.equal([other.id, other.id]);
    const attempts = await db.find(webhookAttempts, "ORDER BY delivery_id");
    expect(attempts.map(({ deliveryId }) => deliveryId)).to.deep.equal(left.map(({ id }) => id));
    expect((await listWebhookEndpoints(app, shop, {})).data.map(({ id }) => id)).to.deep.equal([
      other.id,
    ]);
    const again = removeWebhookEndpoint(app, testContext, shop, removed.id);
    expect(await again.catch((error: unknown) => error)).to.include({ status: 404 });
  });

  it("are replayed as new deliveries of the same event", async () => {
    await begin();
    let status = 410;
    const target = await receiver((request, response) => {
      answering(status)(request, response);
    });
    const { id, secret } = await here.endpoint(target.port);
    await here.emit("invoice.paid");
    await here.deliver();
    const [dead] = await here.deliveries();
    if (dead === undefined) throw new Error("there is no delivery");
    const replay = () => replayWebhookDelivery(here.app, testContext, here.shop, dead.id);
    expect(await replay().catch((error: unknown) => error)).to.include({
      code: "endpoint_disabled",
    });
    await updateWebhookEndpoint(
      here.app,
      testContext,
      here.shop,
      id,
      { status: "enabled" },
      () => undefined,
    );
    status = 200;
    const period = { status: "dead_letter", from: here.clock.now(), to: null } as const;
    const replayable = await listReplayableDeliveries(here.app, here.shop, period, 10);
    expect(replayable.map(({ id }) => id)).to.deep.equal([dead.id]);
    const made = await replay();
    expect(made).to.include({ replayOf: dead.id, eventId: dead.eventId, status: "pending" });
    expect(await replay().catch((error: unknown) => error)).to.include({
      code: "delivery_in_flight",
    });
    await here.deliver();
    expect((await here.deliveries())[1]).to.include({ id: made.id, status: "succeeded" });
    expect(target.requests.map(({ headers }) => headers["webhook-id"])).to.deep.equal([
      dead.eventId,
      dead.eventId,
    ]);
    const [first, again] = target.requests.map((request) => verified(request, secret));
    expect(again).to.deep.equal(first);
    await replay();
  });
});
