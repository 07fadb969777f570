// A server whose receivers mean it ill: each attempt ends in time, and the server's memory does not grow with what they
// send. `TILL_PROVE=1` lets them go on for two minutes.
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { webhookAttempts, webhookDeliveries } from "../../../src/features/webhooks/table.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { startPeer, startReceiver, type Receiver } from "../../support/receiver.ts";
import { send } from "../../support/app.ts";
import { makeInstallation, type Installation } from "../../support/programs/program.ts";
import { eachStore } from "../../support/store/stores.ts";
import { init, till } from "../../support/programs/till.ts";
import { until } from "../../support/until.ts";

const isWhole = process.env["TILL_PROVE"] !== undefined;
const provingMs = 120_000;
/** Maximum duration of an attempt plus a margin, in milliseconds. */
const attemptMax = 15_000 + 10_000;
const events = 8;
const megabyte = 1_024 ** 2;
/** Maximum amount of buffered data per loopback connection, in bytes. */
const onTheWayMax = 64 * megabyte;
const growthMax = 60 * megabyte;

eachStore("a server with hostile receivers", (store) => {
  // These tests do not depend on the database.
  if (store.dialect === "postgres") return;

  const receivers: Receiver[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let installation: Installation;
  let db: Database;

  before(async () => {
    const place = await store.place("migrated");
    const file = "sqliteFile" in place ? place.sqliteFile : "";
    const settings = { TILL_NETWORKS: "sandbox", TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32" };
    const folder = { TILL_DATA_DIR: file.slice(0, file.lastIndexOf("/")) };
    installation = await makeInstallation({ ...settings, ...folder });
    db = await store.open(place);
  });
  after(async () => {
    await installation.remove();
    for (const timer of timers) clearInterval(timer);
    for (const receiver of receivers) await receiver.close();
  });

  function drip(to: ServerResponse | Socket, text: string): void {
    const timer = setInterval(() => to.write(text), 100);
    timers.add(timer);
    to.once("close", () => {
      clearInterval(timer);
    });
  }

  /** Writes until it is cut off or has written a gigabyte. */
  function pour(to: ServerResponse | Socket, text: string, count: (bytes: number) => void): void {
    const chunk = Buffer.from(text.repeat(Math.ceil((64 * 1_024) / text.length)));
    let poured = 0;
    const more = () => {
      while (!to.destroyed && poured < 1_024 * megabyte) {
        poured += chunk.byteLength;
        count(chunk.byteLength);
        if (!to.write(chunk)) return;
      }
    };
    to.on("drain", more);
    more();
  }

  it("ends endless attempts by their time limit, reads little of each response, and does not grow", async () => {
    const poured = new Map<string, number>();
    const counting = (name: string) => (bytes: number) =>
      void poured.set(name, (poured.get(name) ?? 0) + bytes);
    const bomb = gzipSync(Buffer.alloc(256 * megabyte));
    const hostile = {
      silent: await startReceiver(() => undefined),
      dripping: await startReceiver((_request, response) => {
        response.writeHead(200);
        drip(response, ".");
      }),
      gigabyte: await startReceiver((_request, response) => {
        response.writeHead(200, { "content-length": String(1_024 * megabyte) });
        pour(response, "x", counting("gigabyte"));
      }),
      bomb: await startReceiver((_request, response) => {
        response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
      }),
      endlessHeader: await startPeer((socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        pour(socket, "x-more: and more and more\r\n", counting("endlessHeader"));
      }),
      drippingHeader: await startPeer((socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        drip(socket, "x-more: and more\r\n");
      }),
    };
    receivers.push(...Object.values(hostile));

    const { env } = installation;
    const made = await init([], { env });
    const { organization } = JSON.parse(made.stdout) as { organization: { id: string } };
    const words = ["--organization", organization.id, "--name", "shop", "--scopes", "read,write"];
    const created = await till(["key", "create", ...words, "--json"], { env });
    const { secret: key } = JSON.parse(created.stdout) as { secret: string };
    const base = `/v1/organizations/${organization.id}`;
    const server = await installation.serve();
    const post = async (path: string, body: unknown) => {
      const answer = await send(server.url, "POST", base + path, { key, body });
      expect(answer.status, answer.text).to.equal(201);
      return answer.body;
    };
    const endpoints = new Map<string, string>();
    for (const [name, { port }] of Object.entries(hostile)) {
      const url = `http://127.0.0.1:${String(port)}/hook`;
      const endpoint = await post("/webhook-endpoints", { url, eventTypes: ["customer.created"] });
      endpoints.set(String(endpoint["id"]), name);
    }

    const memory = () => {
      const status = readFileSync(`/proc/${String(server.child.pid)}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1_024;
    };
    const before = memory();
    let highest = before;
    const watching = setInterval(() => (highest = Math.max(highest, memory())), 100);
    timers.add(watching);
    const end = Date.now() + provingMs;
    do {
      for (let count = 0; count < events; count += 1) await post("/customers", { name: "Ada" });
      if (isWhole) await new Promise((resolve) => setTimeout(resolve, 5_000));
    } while (isWhole && Date.now() < end);

    interface Seen {
      readonly name: string | undefined;
      readonly durationMs: number;
      readonly excerpt: number;
      readonly errorKind: string | null;
    }
    const attempts = async (): Promise<Seen[]> => {
      const deliveries = await db.find(webhookDeliveries, "");
      const ownerOf = new Map(deliveries.map((each) => [each.id, each.endpointId]));
      return (await db.find(webhookAttempts, "")).map((each) => ({
        name: endpoints.get(ownerOf.get(each.deliveryId) ?? ""),
        durationMs: each.durationMs,
        excerpt: (each.bodyExcerpt ?? "").length,
        errorKind: each.errorKind,
      }));
    };
    const isOver = (seen: readonly Seen[]) =>
      Object.keys(hostile).every((name) => seen.some((each) => each.name === name));
    const seen = await until("an attempt at each", attempts, isOver);
    clearInterval(watching);

    for (const { name, excerpt } of seen) {
      expect(excerpt, name).to.be.at.most(4_096);
    }
    const kindsOf = (name: string) =>
      new Set(seen.filter((each) => each.name === name).map((each) => each.errorKind));
    expect([...kindsOf("silent")]).to.deep.equal(["timeout"]);
    expect([...kindsOf("dripping")]).to.deep.equal(["timeout"]);
    expect([...kindsOf("drippingHeader")]).to.deep.equal(["timeout"]);
    expect([...kindsOf("endlessHeader")]).to.deep.equal([null]);
    expect([...kindsOf("gigabyte")]).to.deep.equal([null]);
    expect([...kindsOf("bomb")]).to.deep.equal([null]);
    for (const name of ["gigabyte", "endlessHeader"] as const) {
      expect((poured.get(name) ?? 0) / hostile[name].connections(), name).to.be.below(onTheWayMax);
    }
    expect(highest - before).to.be.below(growthMax);
    const longestMs = Math.max(...seen.map((each) => each.durationMs));
    // Only the proof measures seconds.
    if (isWhole) expect(longestMs).to.be.below(attemptMax);
    const inMegabytes = (bytes: number) => (bytes / megabyte).toFixed(0);
    if (isWhole) {
      console.log(
        `      ${String(seen.length)} attempts, the longest ${String(longestMs)} ms; ${inMegabytes(before)} MiB before, ${inMegabytes(highest)} MiB at most; poured ${[...poured].map(([name, bytes]) => `${name} ${inMegabytes(bytes)} MiB over ${String(hostile[name as "gigabyte"].connections())} connections`).join(", ")}`,
      );
    }
  });
});
