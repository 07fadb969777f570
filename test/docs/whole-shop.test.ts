// The guide of a whole shop: its programs, as written, sell through everything that payers, chains and crashes do.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { transform } from "esbuild";
import type { Event } from "../../src/client/index.ts";
import { sign } from "../../src/platform/outbound/standard-webhooks.ts";
import { endWithThisProcess } from "../support/programs/guard.ts";
import { until } from "../support/until.ts";
import { openSandboxShop, type SandboxShop } from "./sandbox-shop.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The answer of the programs about an order. */
interface Order {
  readonly invoice: string;
  readonly status: string;
  readonly owed: string;
  readonly review: string;
  readonly held: boolean;
  readonly message: string;
}

/** A program of the guide: the commands that run it, each a process. */
interface Language {
  readonly name: string;
  readonly commands: (folder: string, port: number) => readonly (readonly string[])[];
}

const all: readonly Language[] = [
  { name: "ts", commands: (folder) => [[process.execPath, join(folder, "shop.mjs")]] },
  { name: "python", commands: (folder) => [["python3", join(folder, "shop.py")]] },
  {
    name: "php",
    commands: (folder, port) => [
      ["php", "-S", `127.0.0.1:${String(port)}`, join(folder, "shop.php")],
      ["php", join(folder, "shop.php")],
    ],
  },
];
/** The languages that can be run here. */
const languages = all.filter(({ commands }) =>
  commands("", 0).every(([file = ""]) => spawnSync(file, ["--version"]).status === 0),
);

/** A program of the guide that runs as a shop, with its processes. */
interface Shop {
  readonly secret: string;
  /** Returns the name of an order of this shop. */
  named(order: string): string;
  start(secret?: string): void;
  kill(): Promise<void>;
  /** Returns all that it printed, for a test that fails. */
  log(): string;
  /** Returns the orders that it released, each as often as it did. */
  released(): readonly string[];
  ask(method: string, order: string): Promise<{ status: number; order: Order | null }>;
  deliver(body: string, headers: Readonly<Record<string, string>>): Promise<number>;
  /** Sends a request to a path as it is, and returns the answer's status. */
  put(path: string): Promise<number>;
  /** Begins to deliver, and breaks the connection in the middle of the body. */
  breakOff(): Promise<void>;
}

function makeShop(
  { name, commands }: Language,
  folder: string,
  port: number,
  env: Readonly<Record<string, string>> & { readonly WEBHOOK_SECRET: string },
): Shop {
  const url = `http://127.0.0.1:${String(port)}`;
  const named = (order: string) => `${name}-${order}`;
  let log = "";
  let running: readonly ChildProcess[] = [];
  return {
    secret: env.WEBHOOK_SECRET,
    named,
    start(secret = env.WEBHOOK_SECRET) {
      const place = { PORT: String(port), STORE: join(folder, `store-${name}`) };
      const path = { PATH: process.env["PATH"] ?? "" };
      running = commands(folder, port).map(([file = "", ...words]) => {
        const child = spawn(file, words, {
          env: { ...path, ...env, ...place, WEBHOOK_SECRET: secret },
          stdio: ["ignore", "pipe", "pipe"],
        });
        endWithThisProcess(child);
        child.stdout.on("data", (chunk: Buffer) => (log += chunk.toString("utf8")));
        child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString("utf8")));
        return child;
      });
    },
    async kill() {
      const gone = running.map((child) => once(child, "exit"));
      for (const child of running) child.kill("SIGKILL");
      await Promise.all(gone);
      running = [];
    },
    log: () => log,
    released: () =>
      [...log.matchAll(/^release [a-z]+-(\S+)$/gm)].map(([, order = ""]) => order).sort(),
    async ask(method, order) {
      const response = await fetch(`${url}/orders/${named(order)}`, { method }).catch(() => null);
      if (response === null) return { status: 0, order: null };
      const text = await response.text();
      return {
        status: response.status,
        order: response.ok ? (JSON.parse(text) as Order) : null,
      };
    },
    async deliver(body, headers) {
      return (await fetch(url, { method: "POST", body, headers })).status;
    },
    put: (path) =>
      new Promise((resolve, reject) => {
        request({ host: "127.0.0.1", port, path, method: "PUT" }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .on("error", reject)
          .end();
      }),
    async breakOff() {
      const headers = { "content-length": 100 };
      const sent = request({ host: "127.0.0.1", port, method: "POST", headers });
      sent.write("{", () => sent.destroy());
      await once(sent, "close").catch(() => undefined);
    },
  };
}

describe("the guide of a whole shop", () => {
  let sandbox: SandboxShop;
  let folder = "";
  let shops: readonly Shop[] = [];

  before(async function () {
    this.timeout(120_000);
    sandbox = await openSandboxShop({ TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" });
    folder = await mkdtemp(join(tmpdir(), "till-whole-shop-"));
    await mkdir(join(folder, "node_modules"));
    await symlink(join(root, "dist/client"), join(folder, "node_modules/till-client"));
    const guide = await readFile(join(root, "docs/guides/whole-shop.md"), "utf8");
    const programOf = (fence: string) =>
      new RegExp(`\`\`\`${fence}\n([^]+?)\`\`\``).exec(guide)?.[1] ?? "";
    const { code } = await transform(programOf("ts"), { loader: "ts" });
    await writeFile(join(folder, "shop.mjs"), code);
    await writeFile(join(folder, "shop.py"), programOf("python"));
    await writeFile(join(folder, "shop.php"), programOf("php"));
    const made: Shop[] = [];
    for (const language of languages) {
      const port = await freePort();
      const { secret } = await sandbox.till.webhooks.createEndpoint(sandbox.organizationId, {
        url: `http://127.0.0.1:${String(port)}/`,
      });
      made.push(
        makeShop(language, folder, port, {
          WEBHOOK_SECRET: secret,
          TILL: sandbox.url,
          KEY: sandbox.key,
          TILL_ORGANIZATION: sandbox.organizationId,
        }),
      );
    }
    shops = made;
  });
  after(async () => {
    for (const shop of shops) await shop.kill();
    await sandbox.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const orders = "paid rest part none late over fake back gone ours canceled down".split(" ");

  /** Does the same in each shop at once. */
  const each = <Found>(action: (shop: Shop) => Promise<Found>) => Promise.all(shops.map(action));

  /** Runs a command of the sandbox for the invoice of an order of each shop. */
  async function payers(order: string, ...words: readonly string[]): Promise<void> {
    for (const shop of shops) {
      const [verb = "", ...more] = words;
      await sandbox.play([["sandbox", verb, await invoiceOf(shop, order), ...more]]);
    }
  }
  /** Replaces the blocks from the payments of an order on, which are in the same block for all shops. */
  async function reorganize(order: string, ...more: readonly string[]): Promise<void> {
    const [shop] = shops;
    if (shop === undefined) throw new Error("no shop");
    await sandbox.play([["sandbox", "reorg", await invoiceOf(shop, order), ...more]]);
  }
  const mine = (blocks: number) => sandbox.play([["sandbox", "mine", String(blocks)]]);

  async function invoiceOf(shop: Shop, order: string): Promise<string> {
    const { data } = await sandbox.till.invoices.list(sandbox.organizationId, {
      externalId: shop.named(order),
    });
    return data[0]?.id ?? "";
  }

  /** Waits until each shop says of an order what is wanted. */
  async function expectAll(order: string, wanted: Partial<Order> & { says?: RegExp }) {
    const { says = /./, ...fields } = wanted;
    await each((shop) =>
      until(
        `${shop.named(order)} ${JSON.stringify(fields)} ${String(says)}; ${shop.log()}`,
        () => shop.ask("GET", order),
        ({ order: found }) =>
          found !== null &&
          says.test(found.message) &&
          Object.entries(fields).every(([name, value]) => found[name as keyof Order] === value),
      ),
    );
  }

  it("sells, and decides by the newest state, whatever payers and the chain do", async function () {
    this.timeout(180_000);
    for (const shop of shops) shop.start();
    for (const order of orders) {
      await each((shop) =>
        until(
          shop.named(order),
          () => shop.ask("PUT", order),
          ({ status }) => status === 200,
        ),
      );
    }
    await expectAll("paid", {
      status: "open",
      says: /pay 25\.00 USDT at http.*, 0\.00 of 25\.00 have/,
    });
    // A repeated order has the same invoice.
    const again = await each((shop) => shop.ask("PUT", "paid"));
    expect(again.map(({ order }) => order?.invoice)).to.deep.equal(
      await each((shop) => invoiceOf(shop, "paid")),
    );

    // A name that would leave the store, and one that the file's name would change, are not orders.
    for (const path of ["/orders/../../escaped", "/orders/2026.1042", "/orders/"]) {
      expect(await each((shop) => shop.put(path))).to.deep.equal(shops.map(() => 404));
    }
    await each((shop) => shop.breakOff());

    for (const order of ["rest", "part"]) await payers(order, "part");
    for (const order of ["paid", "ours"]) await payers(order, "pay");
    await payers("over", "over");
    await payers("fake", "fake");
    for (const shop of shops) {
      await sandbox.till.invoices.cancel(sandbox.organizationId, await invoiceOf(shop, "canceled"));
    }
    await payers("canceled", "pay");
    await mine(3);
    await expectAll("paid", { status: "paid", owed: "0.00", says: /on its way. Thank you/ });
    await expectAll("over", { status: "paid", owed: "1.00", says: /on its way.*left over.*http/ });
    await expectAll("rest", {
      status: "partially_paid",
      says: /pay 12\.50 .* 12\.50 of 25\.00 have/,
    });
    await expectAll("fake", { status: "open", says: /pay 25\.00/ });
    await expectAll("canceled", { status: "canceled", review: "25.00", says: /send nothing now/ });

    await payers("rest", "pay");
    for (const order of ["part", "none", "late"]) await payers(order, "expire");
    await mine(1);
    await expectAll("none", { status: "expired", owed: "0.00", says: /The time to pay is over/ });
    await expectAll("part", { status: "expired", owed: "12.50", says: /left over.*http/ });
    await payers("late", "pay");
    await mine(3);
    await expectAll("rest", { status: "paid" });
    await expectAll("late", { status: "paid" });

    // A payment that the merchant reverses is not held.
    await expectAll("ours", { status: "paid" });
    for (const shop of shops) {
      const query = { invoiceId: await invoiceOf(shop, "ours") };
      const { data } = await sandbox.till.payments.list(sandbox.organizationId, query);
      const [{ id } = { id: "" }] = data;
      await sandbox.till.payments.reverse(sandbox.organizationId, id, { cancel: true });
    }
    await expectAll("ours", { status: "canceled", held: false, says: /^Please send nothing now/ });

    await payers("back", "pay");
    await mine(3);
    await expectAll("back", { status: "paid", held: false });
    await reorganize("back");
    await expectAll("back", { held: true, says: /send nothing now/ });
    await mine(3);
    await expectAll("back", { status: "paid", held: false });

    await payers("gone", "pay");
    await mine(3);
    await expectAll("gone", { status: "paid", held: false });
    await reorganize("gone", "--drop");
    await expectAll("gone", { held: true, says: /send nothing now/ });
    await mine(33);
    await expectAll("gone", { status: "open", held: true, says: /pay 25\.00 .* 0\.00 of/ });
    await expectAll("ours", { owed: "25.00", held: false, says: /^Money is left over/ });
    await payers("gone", "expire");
    await mine(1);
    await expectAll("gone", { status: "expired", held: true, says: /taken your payment back/ });
  });

  it("miss nothing while they or Till are down, and believe nobody but Till", async function () {
    this.timeout(120_000);
    await each((shop) => shop.kill());
    await payers("down", "pay");
    await mine(3);
    // With another secret, each webhook is refused, so that the list of events alone says it.
    for (const shop of shops) shop.start(`whsec_${Buffer.alloc(32).toString("base64")}`);
    await expectAll("down", { status: "paid" });
    const forged = { "webhook-id": "evt_1", "webhook-signature": "v1,YQ==" };
    for (const shop of shops) {
      expect(await shop.deliver("{}", {})).to.equal(400);
      expect(await shop.deliver("{}", { ...forged, "webhook-timestamp": "1" })).to.equal(400);
      await shop.kill();
      shop.start();
    }
    await expectAll("down", { status: "paid" });
    await sandbox.restart(async () => {
      const answers = await each((shop) => shop.ask("PUT", "later"));
      for (const { status } of answers) expect(status).to.equal(503);
    });
    // The worker tries each minute, and at its start.
    await each((shop) => shop.kill());
    for (const shop of shops) shop.start();
    await expectAll("later", { status: "open", says: /pay 25\.00/ });
  });

  it("change nothing when all events come again in the opposite order", async function () {
    this.timeout(120_000);
    const before = await each(seen);
    const events: Event[] = [];
    for await (const event of sandbox.till.webhooks.listEvents(sandbox.organizationId)) {
      events.unshift(event);
    }
    await each(async (shop) => {
      for (const [place, event] of events.entries()) {
        const body = Buffer.from(JSON.stringify(event));
        const message = { id: `again_${String(place)}`, timestampSeconds: now(), body };
        const headers = { ...sign({ ...message, secrets: [shop.secret] }) };
        expect(await shop.deliver(body.toString("utf8"), headers)).to.equal(204);
      }
    });
    // This is decided on after them.
    await payers("later", "pay");
    await mine(3);
    await expectAll("later", { status: "paid" });
    expect(await each(seen)).to.deep.equal(before);
    const released = ["back", "down", "gone", "late", "later", "ours", "over", "paid", "rest"];
    for (const shop of shops) expect(shop.released(), shop.log()).to.deep.equal(released);
  });

  /** Returns what a shop says of all orders but the last one. */
  async function seen(shop: Shop) {
    return Promise.all(orders.map(async (order) => (await shop.ask("GET", order)).order));
  }
});

const now = () => Math.floor(Date.now() / 1_000);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
