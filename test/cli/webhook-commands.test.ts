// Queues and webhooks, as the operator sees them on the command line.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import {
  AdminFailedQueueJobListRecord,
  AdminWebhookDeliveryListRecord,
} from "../../src/features/admin/oversight-records.ts";
import {
  createWebhookEndpoint,
  disableWebhookEndpoint,
} from "../../src/features/webhooks/endpoints.ts";
import {
  webhookAttempts,
  webhookDeliveries,
  webhookEndpoints,
} from "../../src/features/webhooks/table.ts";
import {
  WebhookDeliveryDetailRecord,
  WebhookDeliveryRecord,
  WebhookEndpointRecord,
} from "../../src/features/webhooks/records.ts";
import { jobs } from "../../src/platform/jobs/table.ts";
import { newWebhookSecret, sign } from "../../src/platform/outbound/standard-webhooks.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";
import { till } from "../support/programs/till.ts";
import { context, makeDesk, type DeskStore } from "./billing-operator.ts";

/** A job that has failed; another that waits for the time that it is given, and has the key. */
async function addJobs(store: DeskStore, dedupeKey: string | null = null): Promise<string> {
  return store.withApp(({ db, ids, clock }) =>
    db.write(context, async (tx) => {
      const now = clock.now();
      const job = {
        queue: "billing",
        name: "close the month",
        payload: {},
        organizationId: null,
        runAt: now,
        attempts: 12,
        maxAttempts: 12,
        leaseUntil: null,
        leaseToken: null,
        createdAt: now,
      };
      const failed = {
        ...job,
        id: ids.next("job", now),
        dedupeKey,
        state: "failed" as const,
        failedReason: "no rate",
        failedAt: now,
      };
      const waiting = {
        ...job,
        id: ids.next("job", now),
        dedupeKey: "month",
        state: "ready" as const,
        runAt: now + 3_600_000,
        failedReason: null,
        failedAt: null,
      };
      await tx.insert(jobs, failed);
      await tx.insert(jobs, waiting);
      return failed.id;
    }),
  );
}

describe("till queue", () => {
  const desk = makeDesk();

  it("lists every queue, including empty ones, and the failed jobs", async () => {
    const store = await desk.store();
    const id = await addJobs(store);
    const { data } = (await store.json(["queue", "list"])) as { data: unknown[] };
    const none = { waiting: 0, active: 0, delayed: 0, failed: 0 };
    expect(data).to.deep.equal([
      { queue: "webhooks", ...none },
      { queue: "chain", ...none },
      { queue: "billing", ...none, delayed: 1, failed: 1 },
      { queue: "maintenance", ...none },
    ]);
    expect((await store.till(["queue", "list", "-q"])).stdout.split("\n")).to.have.length(5);
    const failed = AdminFailedQueueJobListRecord.parse(
      await store.json(["queue", "failed", "billing"]),
    );
    expect(failed.data).to.have.length(1);
    expect(failed.data[0]).to.include({ id, failedReason: "no rate", attempts: 12 });
    expect(await store.json(["queue", "failed", "chain"])).to.deep.include({ data: [] });
    expect((await store.till(["queue", "failed", "mail"])).code).to.equal(5);
  });

  it("runs a failed job again, once and audited", async () => {
    const store = await desk.store();
    const id = await addJobs(store);
    const state = () =>
      store.withApp(async ({ db }) => (await db.findOne(jobs, "WHERE id = $1", [id]))?.state);
    expect(await store.json(["queue", "retry", id, "--dry-run"])).to.include({ id });
    expect(await state()).to.equal("failed");
    expect(await store.json(["queue", "retry", id])).to.include({ id, failedReason: "no rate" });
    expect(await state()).to.equal("ready");
    const entries = await store.audited("job.retried");
    expect(entries).to.have.length(1);
    expect(entries[0]).to.include({ actor_type: "operator", target_id: id });
    const again = await store.till(["queue", "retry", id]);
    expect(again.code).to.equal(6);
    expect(again.stderr).to.include("No action is needed");
    expect((await store.till(["queue", "retry", "job_nothing"])).code).to.equal(5);
    const letter = await store.till(["queue", "retry", "whd_1"]);
    expect(letter.stderr).to.include("till webhook replay whd_1");
  });

  it("leaves a failed job alone if an identical one is waiting", async () => {
    const store = await desk.store();
    const id = await addJobs(store, "month");
    const refused = await store.till(["queue", "retry", id]);
    expect(refused.code).to.equal(6);
    expect(refused.stderr).to.include("will do the same");
  });
});

describe("till webhook", () => {
  const desk = makeDesk({ TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32" });

  async function addDelivery(store: DeskStore, status: "dead_letter" | "pending") {
    const organizationId = await store.platformId();
    return store.withApp(async (app) => {
      const { db, ids, clock } = app;
      const { endpoint } = await createWebhookEndpoint(app, context, organizationId, {
        url: "http://127.0.0.1:9/hook",
      });
      const now = clock.now();
      const delivery = {
        id: ids.next("webhookDelivery", now),
        organizationId,
        endpointId: endpoint.id,
        eventId: ids.next("event", now),
        eventType: "invoice.paid",
        status,
        sequence: 1,
        earlyAttempts: 0,
        attempts: 12,
        dueAt: status === "pending" ? now : null,
        lastAttemptAt: now,
        leaseToken: null,
        responseStatus: 500,
        lastError: "The receiver answered 500.",
        replayOf: null,
        createdAt: now,
        completedAt: now,
        body: "{}",
      };
      await db.write(context, (tx) => tx.insert(webhookDeliveries, delivery));
      return { id: delivery.id, endpointId: endpoint.id, organizationId };
    });
  }

  it("lists deliveries with the same filters as the API", async () => {
    const store = await desk.store();
    const { id, endpointId, organizationId } = await addDelivery(store, "dead_letter");
    const list = async (...words: string[]) =>
      AdminWebhookDeliveryListRecord.parse(
        await store.json(["webhook", "deliveries", ...words]),
      ).data.map((one) => one.id);
    const own = ["--organization", organizationId];
    expect(await list()).to.deep.equal([id]);
    expect(await list("--status", "dead_letter")).to.deep.equal([id]);
    expect(await list("--status", "succeeded")).to.deep.equal([]);
    expect(await list(...own, "--endpoint", endpointId)).to.deep.equal([id]);
    expect(await list(...own, "--event-type", "invoice.expired")).to.deep.equal([]);
    // The only organization of the store is meant, and with several one must be named.
    const paid = ["webhook", "deliveries", "--event-type", "invoice.paid"];
    expect((await store.till(paid)).stdout).to.include(id);
    const nook = await store.pendingOrganization();
    const unnamed = await store.till(paid);
    expect(unnamed.code).to.equal(2);
    expect(unnamed.stderr).to.include("--organization").and.include(nook);
    const named = await store.till(paid, { env: { TILL_ORGANIZATION: "Nook" } });
    expect(named.stderr).to.include("No results.");
    expect(await list("--status", "dead_letter"), "of all of them").to.deep.equal([id]);
    const ofEndpoint = await store.till(["webhook", "deliveries", "--endpoint", endpointId]);
    expect(ofEndpoint.code).to.equal(2);
    const failed = AdminFailedQueueJobListRecord.parse(
      await store.json(["queue", "failed", "webhooks"]),
    );
    expect(failed.data.map((one) => one.id)).to.deep.equal([id]);
  });

  it("lists the attempts with the receiver's responses made harmless", async () => {
    const store = await desk.store();
    const { id } = await addDelivery(store, "dead_letter");
    const answer = `<h1>\u001b[2JSorry</h1>\n${"x".repeat(4_000)}`;
    const attempt = { deliveryId: id, startedAt: Date.UTC(2030, 0, 1), durationMs: 12 };
    const failed = { ...attempt, number: 1, responseStatus: 500, errorKind: null };
    const silent = { ...attempt, number: 2, responseStatus: null, errorKind: "timeout" as const };
    await store.withApp(({ db }) =>
      db.write(context, (tx) =>
        tx.insertMany(webhookAttempts, [
          { ...silent, oddity: null, bodyExcerpt: null },
          { ...failed, oddity: null, bodyExcerpt: answer },
        ]),
      ),
    );
    const startedAt = "2030-01-01T00:00:00.000Z";
    expect(await store.json(["webhook", "attempts", id])).to.deep.equal({
      data: [
        {
          number: 1,
          startedAt,
          durationMs: 12,
          responseStatus: 500,
          errorKind: null,
          oddity: null,
          bodyExcerpt: answer,
        },
        {
          number: 2,
          startedAt,
          durationMs: 12,
          responseStatus: null,
          errorKind: "timeout",
          oddity: null,
          bodyExcerpt: null,
        },
      ],
      nextCursor: null,
    });
    const detail = WebhookDeliveryDetailRecord.parse(await store.json(["webhook", "show", id]));
    expect(detail.attemptHistory.map(({ number, errorKind }) => [number, errorKind])).to.deep.equal(
      [
        [1, null],
        [2, "timeout"],
      ],
    );
    const page = (await store.till(["webhook", "show", id])).stdout;
    expect(page).to.include(id).and.to.include("timeout").and.not.to.include("Sorry");
    expect((await store.till(["webhook", "show", "whd_nothing"])).code).to.equal(5);
    const shown = (await store.till(["webhook", "attempts", id])).stdout;
    expect(shown).to.include("Sorry</h1> xxx").and.to.include("timeout");
    expect(shown).not.to.include("\u001b[2J");
    expect(shown.length).to.be.below(400);
    expect((await store.till(["webhook", "attempts", "whd_nothing"])).code).to.equal(5);
  });

  it("replays a delivery after confirmation, and explains a refusal", async () => {
    const store = await desk.store();
    const { id, endpointId, organizationId } = await addDelivery(store, "dead_letter");
    const replay = ["webhook", "replay", id];
    // Of several organizations, only a period needs one.
    await store.pendingOrganization();
    const period = ["webhook", "replay", "--from", "2020-01-01T00:00:00Z", "--yes"];
    const unnamed = await store.till(period);
    expect(unnamed.code).to.equal(2);
    expect(unnamed.stderr).to.include("--organization");
    expect((await store.till(replay)).stderr).to.include("--yes");
    WebhookDeliveryRecord.parse(await store.json([...replay, "--dry-run"]));
    const count = () =>
      store.withApp(async ({ db }) => (await db.find(webhookDeliveries, "")).length);
    expect(await count()).to.equal(1);
    const made = WebhookDeliveryRecord.parse(await store.json([...replay, "--yes"]));
    expect(made).to.include({ replayOf: id, status: "pending", attempts: 0 });
    expect(await count()).to.equal(2);
    expect(await store.audited("webhook_delivery.replayed")).to.have.length(1);
    // The new one is on its way.
    expect((await store.till([...replay, "--yes"])).code).to.equal(6);
    expect((await store.till(["webhook", "replay", "whd_nothing", "--yes"])).code).to.equal(5);
    await store.withApp((app) => disableWebhookEndpoint(app, context, organizationId, endpointId));
    const disabled = await store.till([...replay, "--yes"]);
    expect(disabled.code).to.equal(6);
    expect(disabled.stderr).to.include("Enable the endpoint");
  });
});

describe("till webhook update", () => {
  const desk = makeDesk({ TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32" });

  it("changes the types and the URL of an endpoint, names what is unknown, and shows a pause", async () => {
    const store = await desk.store();
    const organizationId = await store.platformId();
    const own = ["--organization", organizationId];
    const added = await store.till(["webhook", "add", "http://127.0.0.1:9/hook", ...own]);
    expect(added.stdout).to.match(/Event types\s+all\n/);
    const id = /wep_\w+/.exec(added.stdout)?.[0] ?? "";
    const update = ["webhook", "update", id, ...own];
    const change = async (...words: string[]) =>
      WebhookEndpointRecord.parse(await store.json([...update, ...words]));
    const types = "invoice.paid,refund.requested";
    expect((await change("--event-types", types, "--dry-run")).eventTypes).to.have.length(2);
    expect(await change("--url", "http://127.0.0.1:9/moved")).to.include({
      url: "http://127.0.0.1:9/moved",
    });
    const twin = await store.till(["webhook", "add", "http://127.0.0.1:9/moved", ...own]);
    expect(added.stderr).not.to.include("Warning");
    expect(twin.stderr).to.include(`Warning: ${id} is enabled with the same URL`);
    const listed = await change("--event-types", types);
    expect(listed.eventTypes).to.deep.equal(types.split(","));
    expect((await change("--event-types", "all")).eventTypes).to.deep.equal([]);
    const wrong = async (given: string) => {
      const { code, stderr } = await store.till([...update, "--event-types", given]);
      expect(code).to.equal(2);
      return stderr;
    };
    expect(await wrong("invoice.payd"))
      .to.include('"invoice.payd"')
      .and.include("invoice.paid?");
    expect(await wrong("invoice.*"))
      .to.include('"invoice.*"')
      .and.include("no patterns");
    expect((await store.till(update)).stderr).to.include("--event-types");

    const pausedSince = Date.UTC(2030, 0, 1);
    const paused = { pausedSince, probeAt: pausedSince + 30_000, lastFailure: "It answered 502." };
    await store.withApp(({ db }) =>
      db.write(context, (tx) => tx.update(webhookEndpoints, paused, "WHERE id = $1", [id])),
    );
    const shown = (await store.till(["webhook", "endpoints", ...own])).stdout;
    expect(shown)
      .to.include("It answered 502.")
      .and.match(/Paused until/i);
    const tried = await change("--status", "enabled");
    expect(Date.parse(tried.pausedUntil ?? "")).to.be.at.most(Date.now());
  });
});

describe("till webhook verify", () => {
  const desk = makeDesk();
  const secret = newWebhookSecret(systemRandom);
  const body = '{"type":"invoice.paid"}';
  // Asked for each time: the suite of the command line takes long, and a signature is soon too old.
  const now = () => Math.floor(Date.now() / 1_000);

  function words(timestampSeconds = now()): string[] {
    const id = "evt_1";
    const signed = sign({ id, timestampSeconds, body: Buffer.from(body), secrets: [secret] });
    const given = ["--timestamp", String(timestampSeconds), "--json"];
    return [
      ...["webhook", "verify", "--id", id, ...given],
      ...["--signature", `v1,bm90IHRoaXMgb25l ${signed["webhook-signature"]}`],
    ];
  }
  const env = { WEBHOOK_SECRET: secret };

  async function verdict(args: readonly string[], options: Parameters<typeof till>[1]) {
    const { code, stdout, stderr } = await till(args, options);
    expect(stdout + stderr).not.to.include(secret);
    return {
      code,
      ...(JSON.parse(stdout) as { isValid: boolean; fault: string; message: string }),
    };
  }

  it("confirms a valid signature", async () => {
    expect(await verdict(words(), { env, stdin: body })).to.include({ code: 0, isValid: true });
    const folder = (await desk.store()).folder;
    const [bodyFile, secretFile] = [join(folder, "body.json"), join(folder, "secret")];
    await writeFile(bodyFile, body);
    await writeFile(secretFile, `${secret}\n`);
    for (const [more, stdin] of [
      [["--body", bodyFile, "--secret-stdin"], secret],
      [["--secret-file", secretFile], body],
    ] as const) {
      expect(await verdict([...words(), ...more], { stdin })).to.include({ code: 0, fault: null });
    }
  });

  it("explains an invalid signature", async () => {
    const faultOf = async (args: readonly string[], stdin = body, secretOf = secret) =>
      (await verdict(args, { env: { WEBHOOK_SECRET: secretOf }, stdin })).fault;
    expect(await faultOf(words(), body.replace("paid", "Paid"))).to.equal("another_signature");
    expect(await faultOf(words(), body, newWebhookSecret(systemRandom))).to.equal(
      "another_signature",
    );
    expect(await faultOf(words(now() - 301))).to.equal("too_old");
    expect(await faultOf(words(now() + 600))).to.equal("too_new");
    expect(await faultOf([...words(), "--signature", "v0,abc"])).to.equal("no_signature");
    expect(await faultOf([...words(), "--id", ""])).to.equal("no_id");
    expect(await faultOf([...words(), "--timestamp", "soon"])).to.equal("no_timestamp");
    const at = now() - 900;
    const old = [...words(at), "--at", new Date((at + 20) * 1_000).toISOString()];
    expect(await faultOf(old)).to.equal(null);
    const ended = await verdict(words(), { env, stdin: `${body}\n` });
    expect(ended).to.include({ code: 1, isValid: false });
    expect(ended.message).to.include("line break");
  });

  it("reads the secret only from sources that other users cannot read", async () => {
    const without = await till(words(), { stdin: body });
    expect(without.code).to.equal(2);
    expect(without.stderr).to.include("--secret-file");
    const wrong = await till(words(), { stdin: body, env: { WEBHOOK_SECRET: "hunter2" } });
    expect(wrong.code).to.equal(2);
    expect(wrong.stderr).not.to.include("hunter2");
    const both = await till([...words(), "--secret-stdin"], { stdin: body });
    expect(both.stderr).to.include("--body");
  });
});
