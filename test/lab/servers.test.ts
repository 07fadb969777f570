// Four servers on one PostgreSQL database, each of which may take any work: nothing is sent or done twice, and late
// outcomes of a server that paused beyond its lease are refused. Reduced here; `npm run prove:servers` runs it in full.
import { expect } from "chai";
import { createWebhookEndpoint } from "../../src/features/webhooks/endpoints.ts";
import { webhookAttempts, webhookDeliveries } from "../../src/features/webhooks/table.ts";
import { createIds, type Id } from "../../src/kernel/id.ts";
import type { Database } from "../../src/platform/database/database.ts";
import type { EventType } from "../../src/platform/events/catalogue.ts";
import { createJournal } from "../../src/platform/journal.ts";
import { cronRuns, jobs } from "../../src/platform/jobs/table.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { startApp, type TestApp } from "../support/app.ts";
import {
  makeInstallation,
  type Installation,
  type RunningServer,
} from "../support/programs/program.ts";
import { eachStore, testContext } from "../support/store/stores.ts";
import { init } from "../support/programs/till.ts";
import { until } from "../support/until.ts";

const isWhole = process.env["TILL_PROVE"] !== undefined;
const serverCount = 4;
const endpointCount = 8;
const eventCount = isWhole ? 1_250 : 50;
const jobCount = isWhole ? 10_000 : 500;
const batchMax = 500;
const token = "a-token-of-the-tests-for-metrics";

eachStore("several servers", (store) => {
  // A SQLite store has only one server.
  if (store.dialect === "sqlite") return;

  const ids = createIds(systemRandom);
  const journal = createJournal({ ids, wake: () => undefined });
  const receivers: Receiver[] = [];
  let installation: Installation;
  /** The program without background work, to inspect the store and to add work. */
  let desk: TestApp;
  let db: Database;
  let shop: Id<"organization">;
  let servers: readonly RunningServer[] = [];

  before(async () => {
    const place = await store.place("migrated");
    const settings = {
      TILL_NETWORKS: "sandbox",
      TILL_RATE_LIMIT_SCALE: "0",
      TILL_METRICS_TOKEN: token,
      TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32",
      TILL_WEBHOOK_RATE_PER_SECOND: "0",
    };
    installation = await makeInstallation(settings, place);
    const made = await init([], { env: installation.env });
    shop = (JSON.parse(made.stdout) as { organization: { id: Id<"organization"> } }).organization
      .id;
    const { TILL_SECRET = "" } = installation.env;
    desk = await startApp({ place, background: false, settings: { ...settings, TILL_SECRET } });
    db = desk.app.db;
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    servers = [];
  });
  after(async () => {
    for (const receiver of receivers) await receiver.close();
    await (desk as TestApp | undefined)?.stop();
    await installation.remove();
  });

  async function endpoint(receiver: Receiver, type: EventType): Promise<Id<"webhookEndpoint">> {
    receivers.push(receiver);
    const url = `http://127.0.0.1:${String(receiver.port)}/hook`;
    const input = { url, eventTypes: [type] };
    return (await createWebhookEndpoint(desk.app, testContext, shop, input)).endpoint.id;
  }

  function emit(type: "invoice.paid" | "invoice.expired", count: number): Promise<void> {
    return db.write(testContext, (tx) => {
      for (let n = 0; n < count; n += 1) {
        journal.record(tx, Date.now(), {
          organizationId: shop,
          subjectType: "invoice",
          subjectId: "inv_1",
          events: { types: [type], version: 1, data: { id: "inv_1" } },
        });
      }
      return Promise.resolve();
    });
  }

  function addJobs(count: number): Promise<void> {
    const now = Date.now();
    const rows = Array.from({ length: count }, () => ({
      id: ids.next("job", now),
      queue: "maintenance",
      name: "prune failed jobs",
      payload: {},
      dedupeKey: null,
      organizationId: null,
      state: "ready" as const,
      runAt: now,
      attempts: 0,
      maxAttempts: 12,
      leaseUntil: null,
      leaseToken: null,
      failedReason: null,
      failedAt: null,
      createdAt: now,
    }));
    return db.write(testContext, (tx) => tx.insertMany(jobs, rows));
  }

  /** Returns a server's own counter by name and labels. */
  async function counted({ url }: RunningServer, name: string): Promise<number> {
    const answer = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${token}` } });
    const line = (await answer.text()).split("\n").find((each) => each.startsWith(`${name} `));
    return Number(line?.split(" ").at(-1) ?? 0);
  }
  const all = (name: string) => Promise.all(servers.map((server) => counted(server, name)));
  const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);

  it(`send each of ${String(eventCount * endpointCount)} deliveries and do each of ${String(jobCount)} jobs once`, async () => {
    const receiver = await startReceiver();
    const endpoints = new Set<string>();
    while (endpoints.size < endpointCount) endpoints.add(await endpoint(receiver, "invoice.paid"));
    servers = await Promise.all(Array.from({ length: serverCount }, () => installation.serve()));
    const startedAt = Date.now();
    for (let done = 0; done < jobCount; done += batchMax) {
      await addJobs(Math.min(batchMax, jobCount - done));
    }
    for (let done = 0; done < eventCount; done += batchMax) {
      await emit("invoice.paid", Math.min(batchMax, eventCount - done));
    }
    const total = eventCount * endpointCount;
    const left = async () => {
      const [found] = await db.all<{ count: number }>(
        `SELECT (SELECT COUNT(*) FROM jobs) + (SELECT COUNT(*) FROM events WHERE position IS NULL)
           + (SELECT COUNT(*) FROM webhook_deliveries WHERE due_at IS NOT NULL) AS "count"`,
      );
      return found?.count;
    };
    await until("all work", left, (count) => count === 0);
    const seconds = (Date.now() - startedAt) / 1_000;

    const received = receiver.requests.map(({ headers }) => String(headers["till-delivery-id"]));
    const deliveries = await db.find(webhookDeliveries, "");
    expect(received).to.have.length(total);
    expect(new Set(received)).to.deep.equal(new Set(deliveries.map(({ id }) => id)));
    expect(
      deliveries.every(({ attempts, status }) => attempts === 1 && status === "succeeded"),
    ).to.equal(true);
    expect(await db.find(webhookAttempts, "")).to.have.length(total);
    for (const id of endpoints) {
      const numbers = deliveries
        .filter((each) => each.endpointId === id)
        .map((each) => each.sequence);
      expect(numbers.sort((one, other) => one - other)).to.deep.equal(
        Array.from({ length: eventCount }, (_, place) => place + 1),
      );
    }

    const sent = await all('till_webhook_attempt_duration_seconds_count{outcome="succeeded"}');
    expect(sum(sent)).to.equal(total);
    // A scheduled time may pass while the jobs are counted.
    const { done, times } = await until(
      "the schedule's jobs",
      async () => ({
        done: await all('till_jobs_ended_total{queue="maintenance",outcome="done"}'),
        times: await db.find(cronRuns, ""),
      }),
      ({ done, times }) => sum(done) === jobCount + times.length,
    );
    // A thousand jobs may be done by the first server before another one has started.
    if (isWhole) {
      expect(sent.filter((share) => share > 0)).to.have.length(serverCount);
      console.log(
        `      ${String(total)} deliveries and ${String(jobCount)} jobs in ${seconds.toFixed(1)} s; shares ${sent.join(", ")} and ${done.join(", ")}; ${String(times.length)} rows of the schedule`,
      );
    }
  });

  // The lease of a delivery lasts one minute.
  if (!isWhole) return;
  it("refuse the outcomes of a server that paused beyond its lease", async () => {
    const held: (() => void)[] = [];
    const receiver = await startReceiver((_request, response) => {
      if (held.length >= 4) response.end("ok");
      else held.push(() => response.writeHead(500).end("late"));
    });
    const id = await endpoint(receiver, "invoice.expired");
    const stopped = await installation.serve();
    servers = [stopped];
    await emit("invoice.expired", 4);
    await until(
      "requests",
      () => receiver.requests.length,
      (count) => count === 4,
    );
    stopped.child.kill("SIGSTOP");
    const other = await installation.serve();
    servers = [stopped, other];
    const rows = () => db.find(webhookDeliveries, "WHERE endpoint_id = $1 ORDER BY id", [id]);
    const over = async () => (await rows()).filter(({ status }) => status === "succeeded").length;
    await until("the other's outcomes", over, (count) => count === 4);
    const before = await rows();
    expect(
      await counted(other, 'till_webhook_attempt_duration_seconds_count{outcome="succeeded"}'),
    ).to.equal(4);
    for (const end of held) end();
    stopped.child.kill("SIGCONT");
    const late = () =>
      counted(stopped, 'till_webhook_attempt_duration_seconds_count{outcome="failed"}');
    await until("the late outcomes", late, (count) => count === 4);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await rows()).to.deep.equal(before);
    const attempts = await db.all(
      `SELECT a.number FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id
       WHERE d.endpoint_id = $1`,
      [id],
    );
    expect(attempts).to.have.length(4);
    expect(receiver.requests).to.have.length(8);
  });
});
