// The guide of a whole shop: its programs, as written, sell through everything that payers, chains and crashes do.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { transform } from "esbuild";
import type { Event, Invoice } from "../../src/client/index.ts";
import { sign } from "../../src/platform/outbound/standard-webhooks.ts";
import { freePort } from "../support/programs/free-port.ts";
import { endWithThisProcess } from "../support/programs/guard.ts";
import { until } from "../support/until.ts";
import { openSandboxShop, type SandboxShop } from "./sandbox-shop.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The answer of the programs about an order. */
interface Order {
  readonly order: string;
  readonly ids: readonly string[];
  readonly statuses: readonly string[];
  readonly released: boolean;
  readonly closed: boolean;
  readonly paid: boolean;
  readonly held: boolean;
  readonly takenBack: boolean;
  readonly owed: readonly string[];
  readonly review: readonly string[];
  readonly refused: string | null;
  readonly why: readonly string[];
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

interface Answer {
  readonly status: number;
  readonly order: Order | null;
  /** Why the program refused the request. */
  readonly refused: string | null;
}

/** A program of the guide that runs as a shop, with its processes. */
interface Shop {
  readonly secret: string;
  /** Returns the name of an order of this shop. */
  named(order: string): string;
  start(changes?: Readonly<Record<string, string>>): void;
  kill(): Promise<void>;
  /** Returns all that it printed, for a test that fails. */
  log(): string;
  /** Returns the orders that it released, each as often as it did. */
  released(): readonly string[];
  ask(method: string, order: string): Promise<Answer>;
  /** Returns the orders that its staff should look at, with the reasons. */
  staff(): Promise<Readonly<Record<string, readonly string[]>>>;
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
  const named = (order: string) => `${name}_${order}`;
  let log = "";
  let running: readonly ChildProcess[] = [];
  return {
    secret: env.WEBHOOK_SECRET,
    named,
    start(changes = {}) {
      const place = { PORT: String(port), STORE: join(folder, `store-${name}`) };
      const path = { PATH: process.env["PATH"] ?? "" };
      running = commands(folder, port).map(([file = "", ...words]) => {
        const child = spawn(file, words, {
          env: { ...path, ...env, ...place, ...changes },
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
      [...log.matchAll(/^release [a-z]+_(\S+)$/gm)].map(([, order = ""]) => order).sort(),
    async ask(method, order) {
      const response = await fetch(`${url}/orders/${named(order)}`, { method }).catch(() => null);
      if (response === null) return { status: 0, order: null, refused: null };
      const { status, ok } = response;
      const text = await response.text();
      const refused = status === 409 ? (JSON.parse(text) as { refused: string }).refused : null;
      return { status, order: ok ? (JSON.parse(text) as Order) : null, refused };
    },
    async staff() {
      const listed = (await (await fetch(`${url}/staff`)).json()) as readonly Order[];
      return Object.fromEntries(
        listed.map(({ order, why }) => [order.replace(`${name}_`, ""), why]),
      );
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

/** The way from the shops to Till, on which an answer can be held back. */
interface Way {
  readonly url: string;
  /** Holds back the next answer about an order's invoices. Returns, once Till has given it, how to let it go. */
  hold(order: string): Promise<() => void>;
  close(): void;
}

async function openWay(till: string): Promise<Way> {
  const held = new Map<string, (letGo: () => void) => void>();
  async function pass(given: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of given) chunks.push(chunk as Buffer);
    const { method = "GET", url = "" } = given;
    const headers = new Headers();
    for (const name of ["x-service-key", "content-type", "idempotency-key"]) {
      const value = given.headers[name];
      if (typeof value === "string") headers.set(name, value);
    }
    const body = chunks.length === 0 ? null : Buffer.concat(chunks);
    const answer = await fetch(`${till}${url}`, { method, headers, body });
    const text = await answer.text();
    const order = new URL(url, till).searchParams.get("metadataValue") ?? "";
    const tell = held.get(order);
    held.delete(order);
    if (tell !== undefined) await new Promise<void>(tell);
    for (const name of ["content-type", "retry-after"]) {
      const value = answer.headers.get(name);
      if (value !== null) response.setHeader(name, value);
    }
    response.writeHead(answer.status).end(text);
  }
  const server = createServer((given, response) => {
    // Till is down.
    pass(given, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    hold: (order) => new Promise((resolve) => held.set(order, resolve)),
    close: () => server.close(),
  };
}

describe("the guide of a whole shop", () => {
  let sandbox: SandboxShop;
  let way: Way;
  let folder = "";
  let shops: readonly Shop[] = [];

  before(async () => {
    sandbox = await openSandboxShop({ TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" });
    way = await openWay(sandbox.url);
    folder = await mkdtemp(join(tmpdir(), "till-whole-shop-"));
    await mkdir(join(folder, "node_modules"));
    await symlink(join(root, "dist/client"), join(folder, "node_modules/till-client"));
    const { code } = await transform(await programOf("typescript"), { loader: "ts" });
    await writeFile(join(folder, "shop.mjs"), code);
    await writeFile(join(folder, "shop.py"), await programOf("python"));
    await writeFile(join(folder, "shop.php"), await programOf("php"));
    const made: Shop[] = [];
    for (const language of languages) {
      const port = await freePort();
      const { secret } = await sandbox.till.webhooks.createEndpoint(sandbox.organizationId, {
        url: `http://127.0.0.1:${String(port)}/`,
      });
      made.push(
        makeShop(language, folder, port, {
          WEBHOOK_SECRET: secret,
          TILL: way.url,
          KEY: sandbox.key,
          TILL_ORGANIZATION: sandbox.organizationId,
        }),
      );
    }
    shops = made;
  });
  after(async () => {
    for (const shop of shops) await shop.kill();
    way.close();
    await sandbox.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const orders =
    "paid rest part none late over fake back gone ours canceled down slow crash race mend".split(
      " ",
    );

  /** Does the same in each shop at once. */
  const each = <Found>(action: (shop: Shop) => Promise<Found>) => Promise.all(shops.map(action));

  /** The buttons of the checkout page's test panel, which take less time than a command. */
  const buttons: Readonly<Record<string, string>> = {
    pay: "pay",
    part: "underpay",
    expire: "expire",
  };
  /** Does for an order of each shop what a command of the sandbox does, such as `pay`. */
  async function payers(order: string, verb: string): Promise<void> {
    const action = buttons[verb];
    for (const shop of shops) {
      const { id, checkoutUrl } = await invoiceAt(shop, order);
      if (action === undefined) {
        await sandbox.play([["sandbox", verb, id]]);
        continue;
      }
      const press = { method: "POST", body: new URLSearchParams({ action }), redirect: "manual" };
      const { status } = await fetch(`${checkoutUrl ?? ""}/sandbox`, press as RequestInit);
      expect(status, `${verb} ${shop.named(order)}`).to.equal(303);
    }
  }
  /** Replaces the blocks from the payments of an order on, which are in the same block for all shops. */
  async function reorganize(order: string, ...more: readonly string[]): Promise<void> {
    const [shop] = shops;
    if (shop === undefined) throw new Error("no shop");
    await sandbox.play([["sandbox", "reorg", await invoiceOf(shop, order), ...more]]);
  }
  const mine = (blocks: number) => sandbox.play([["sandbox", "mine", String(blocks)]]);

  /** Returns the first invoice of an order, or the second one of an order whose name has "-2" at its end. */
  async function invoiceAt(shop: Shop, order: string): Promise<Invoice> {
    const { data } = await sandbox.till.invoices.list(sandbox.organizationId, {
      externalId: shop.named(order),
    });
    const [invoice] = data;
    if (invoice === undefined) throw new Error(`no invoice ${shop.named(order)}`);
    return invoice;
  }

  const invoiceOf = async (shop: Shop, order: string) => (await invoiceAt(shop, order)).id;

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
          Object.entries(fields).every(
            ([name, value]) => String(found[name as keyof Order]) === String(value),
          ),
      ),
    );
  }

  /** Waits until each shop has released an order. */
  const releaseAll = (order: string) =>
    each((shop) =>
      until(
        `release ${shop.named(order)}; ${shop.log()}`,
        () => Promise.resolve(shop.released()),
        (released) => released.includes(order),
      ),
    );
  /** Requests something of an order of each shop, until each gives the answer. */
  const askAll = (method: string, order: string, wanted = 200) =>
    each((shop) =>
      until(
        `${method} ${shop.named(order)}; ${shop.log()}`,
        () => shop.ask(method, order),
        ({ status }) => status === wanted,
      ),
    );

  it("sells, and decides by the newest state, whatever payers and the chain do", async function () {
    for (const shop of shops) shop.start();
    for (const order of orders) await askAll("PUT", order);
    await expectAll("paid", { statuses: ["open"], says: /^Please pay 25\.00 USDT at http/ });
    // A repeated order has the same invoice.
    const again = await each((shop) => shop.ask("PUT", "paid"));
    expect(again.map(({ order }) => order?.ids[0])).to.deep.equal(
      await each((shop) => invoiceOf(shop, "paid")),
    );
    // Till refuses the invoice of this order, because another program has taken its number.
    for (const shop of shops) await takeNumber(shop, "taken");
    await askAll("PUT", "taken");
    await expectAll("taken", { why: ["refused"], says: /write to us/ });

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
    await expectAll("paid", {
      paid: true,
      owed: [],
      released: true,
      says: /^Your order is on its way\.$/,
    });
    await expectAll("over", { paid: true, owed: ["1.00"], says: /on its way.*Ask for.*http/ });
    await expectAll("rest", {
      statuses: ["partially_paid"],
      says: /^12\.50 of 25\.00 USDT have arrived\. Please pay 12\.50 /,
    });
    await expectAll("fake", { statuses: ["open"], says: /^Please pay 25\.00/ });
    await expectAll("canceled", { review: ["25.00"], says: /will review.*Do not send/ });
    // No second invoice while the first can be paid, is paid, or waits for a decision.
    for (const order of ["rest", "paid", "canceled"]) await askAll("PUT", `${order}/2`, 409);
    const early = await each((shop) => shop.ask("PUT", "rest/2"));
    for (const { refused } of early) expect(refused).to.match(/paid, can be, or waits/);
    const third = await each((shop) => shop.ask("PUT", "rest/3"));
    for (const { refused } of third) expect(refused).to.equal("An earlier invoice is missing.");

    await payers("rest", "pay");
    for (const order of ["part", "none", "late", "mend"]) await payers(order, "expire");
    await mine(1);
    await expectAll("none", {
      statuses: ["expired"],
      owed: [],
      says: /If you have not, ask .* for a new invoice/,
    });
    await expectAll("part", { statuses: ["expired"], owed: ["12.50"], says: /Ask for the.*http/ });
    // No second invoice while the part may be on its way back.
    const refunds = await each((shop) => askForRefund(shop, "part"));
    await askAll("PUT", "part/2", 409);
    for (const id of refunds) {
      await sandbox.till.payments.rejectRefund(sandbox.organizationId, id, {
        reason: "It counts.",
      });
    }
    // The part counts for a second invoice of the whole price, once a person has moved it: the shop's key may not.
    await askAll("PUT", "part/2");
    await askAll("PUT", "part/2");
    await expectAll("part", {
      statuses: ["expired", "open"],
      owed: ["12.50"],
      why: ["move", "owed"],
      says: /^A part has arrived\. Please send nothing/,
    });
    for (const shop of shops) {
      const query = { invoiceId: await invoiceOf(shop, "part") };
      const { data } = await sandbox.till.payments.list(sandbox.organizationId, query);
      const move = ["payments", "reverse", data[0]?.id ?? "", "--yes"];
      await sandbox.command([...move, "--to", await invoiceOf(shop, "part-2")]);
    }
    await expectAll("part", {
      why: [],
      statuses: ["expired", "partially_paid"],
      owed: [],
      says: /^12\.50 of 25\.00 USDT have arrived\. Please pay 12\.50 /,
    });
    // Till refuses the second invoice of this order, which stays open for the staff to mend.
    for (const shop of shops) await takeNumber(shop, "mend-2");
    await askAll("PUT", "mend/2");
    await expectAll("mend", { statuses: ["expired"], why: ["refused"] });
    await payers("late", "pay");
    await payers("part-2", "pay");
    await mine(3);
    await expectAll("rest", { paid: true });
    await expectAll("late", { paid: true });
    await expectAll("part", { statuses: ["expired", "paid"], released: true, says: /on its way/ });

    // A payment that the merchant reverses is not held.
    await expectAll("ours", { paid: true, released: true });
    for (const shop of shops) {
      const query = { invoiceId: await invoiceOf(shop, "ours") };
      const { data } = await sandbox.till.payments.list(sandbox.organizationId, query);
      const [{ id } = { id: "" }] = data;
      await sandbox.till.payments.reverse(sandbox.organizationId, id, { cancel: true });
    }
    await expectAll("ours", {
      statuses: ["canceled"],
      held: false,
      why: ["not paid", "owed"],
      says: /^25\.00 USDT can be returned to you: it does not count/,
    });

    await payers("back", "pay");
    await mine(3);
    await expectAll("back", { paid: true, released: true, held: false });
    await reorganize("back");
    await expectAll("back", {
      held: true,
      why: ["held"],
      says: /normally returns|being confirmed/,
    });
    await mine(3);
    await expectAll("back", { paid: true, released: true, held: false });

    await payers("gone", "pay");
    await mine(3);
    await expectAll("gone", { paid: true, released: true, held: false });
    await reorganize("gone", "--drop");
    await expectAll("gone", { held: true, says: /normally returns/ });
    await mine(33);
    await expectAll("gone", {
      held: false,
      why: ["not paid"],
      says: /^The network has taken a payment back\. Look in your wallet .* Send 25\.00 USDT on /,
    });
    await expectAll("ours", { owed: ["25.00"], says: /^The invoice can no longer .* Ask for the/ });
    await payers("gone", "expire");
    await mine(1);
    await expectAll("gone", {
      why: ["not paid"],
      says: /Please send nothing: we write/,
    });
    await askAll("PUT", "gone/2");
    await expectAll("gone", {
      statuses: ["expired", "open"],
      says: /^The network has taken your payment back\. Please pay 25\.00 /,
    });
    await payers("gone-2", "pay");
    await mine(3);
    await expectAll("gone", { statuses: ["expired", "paid"], held: false, why: [] });
    const refused = { mend: ["refused"], taken: ["refused"] };
    const listed = { ...refused, canceled: ["review"], ours: ["not paid", "owed"], over: ["owed"] };
    await each((shop) =>
      until(
        `the list for the staff; ${shop.log()}`,
        () => shop.staff(),
        (found) => isDeepStrictEqual(found, listed),
      ),
    );
  });

  it("miss nothing while they or Till are down, and believe nobody but Till", async () => {
    // Another store, whose worker has read the events before the backup, and none after it.
    await each((shop) => shop.kill());
    for (const shop of shops) shop.start({ STORE: join(folder, shop.named("other")) });
    const backup = join(folder, "backup.tar");
    await sandbox.command(["backup", backup, "--no-verify"]);
    await askAll("PUT", "unread");
    // Once it is released, its news are decided on: the next start finds none in the store.
    await payers("unread", "pay");
    await mine(3);
    await releaseAll("unread");
    await each((shop) => shop.kill());
    for (const shop of shops) shop.start();
    await askAll("PUT", "lost");
    await payers("crash", "pay");
    await mine(3);
    await releaseAll("crash");
    await payers("slow", "expire");
    await mine(1);
    await expectAll("slow", { statuses: ["expired"] });
    await each((shop) => shop.kill());
    // One is paid in time, which its shop reads once the time is over.
    for (const order of ["down", "slow"]) await payers(order, "pay");
    await mine(3);
    // With another secret, each webhook is refused, so that the list of events alone says it. A week is over.
    const secret = `whsec_${Buffer.alloc(32).toString("base64")}`;
    for (const shop of shops) shop.start({ WEBHOOK_SECRET: secret, DAYS_AHEAD: "8" });
    for (const order of ["down", "slow"]) await releaseAll(order);
    await expectAll("none", { closed: true, released: false });
    const closed = await each((shop) => shop.ask("PUT", "none/2"));
    for (const { refused } of closed) expect(refused).to.match(/^The order is closed/);
    await expectAll("fake", { closed: false });
    // A payment waits for a decision.
    await expectAll("canceled", { closed: false, review: ["25.00"] });
    // News that come while an older answer is read are not lost with it.
    const answers = await each(async (shop) => {
      const answer = way.hold(shop.named("race"));
      await tell(shop, "race", secret);
      return answer;
    });
    await payers("race", "pay");
    await mine(3);
    await each((shop) =>
      until(
        "the payment",
        () => invoiceAt(shop, "race"),
        ({ status }) => status === "paid",
      ),
    );
    await each((shop) => tell(shop, "race", secret));
    for (const letGo of answers) letGo();
    await releaseAll("race");
    await expectAll("mend", { closed: false });
    const forged = { "webhook-id": "evt_1", "webhook-signature": "v1,YQ==" };
    for (const shop of shops) {
      expect(await shop.deliver("{}", {})).to.equal(400);
      expect(await shop.deliver("{}", { ...forged, "webhook-timestamp": "1" })).to.equal(400);
    }
    await sandbox.restart(async () => {
      await askAll("PUT", "later", 503);
      await each((shop) => shop.kill());
      await sandbox.command(["restore", backup, "--yes", "--no-verify"]);
    });
    for (const shop of shops) shop.start({ STORE: join(folder, shop.named("other")) });
    await expectAll("unread", { why: ["refused"], says: /write to us/ });
    await each((shop) => shop.kill());
    // The worker tries each minute, and at its start. The sandbox's chain was restored too: these were never paid.
    for (const shop of shops) shop.start();
    await expectAll("later", { statuses: ["open"], says: /pay 25\.00/ });
    await expectAll("lost", { why: ["refused"], says: /write to us/ });
    await askAll("PUT", "lost");
    await expectAll("lost", { statuses: ["open"], refused: null });
  });

  /** Creates an invoice with a number that the shop has not used yet, as another program would. */
  async function takeNumber(shop: Shop, order: string): Promise<void> {
    const token = { tokenSymbol: "USDT", network: "sandbox", settlementCurrency: "USD" };
    const taken = { ...token, amount: "1", externalId: shop.named(order) };
    await sandbox.till.invoices.create(sandbox.organizationId, taken);
  }

  /** Asks as the payer for what an order's invoice does not need. Returns the refund's id. */
  async function askForRefund(shop: Shop, order: string): Promise<string> {
    const { id: invoiceId, checkoutId } = await invoiceAt(shop, order);
    const { data } = await sandbox.till.payments.list(sandbox.organizationId, { invoiceId });
    const [{ transactionHash, id: paymentId } = { transactionHash: "", id: "" }] = data;
    const address = `0x${"ab".repeat(20)}`;
    const page = await (await fetch(`${sandbox.url}/pay/${checkoutId ?? ""}`)).text();
    const [, pageToken = ""] = /name="pageToken" value="([^"]+)"/.exec(page) ?? [];
    const request = { transactionHash, address, pageToken };
    await sandbox.till.checkout.requestRefund(checkoutId ?? "", request);
    const { data: refunds } = await sandbox.till.payments.listRefunds(sandbox.organizationId, {
      paymentId,
    });
    return refunds[0]?.id ?? "";
  }

  /** Delivers the newest event of an order to its shop. */
  async function tell(shop: Shop, order: string, secret: string): Promise<void> {
    const data = await invoiceAt(shop, order);
    const body = Buffer.from(JSON.stringify({ type: "invoice.updated", data }));
    const headers = { ...sign({ id: "evt_1", timestampSeconds: now(), body, secrets: [secret] }) };
    expect(await shop.deliver(body.toString("utf8"), headers)).to.equal(204);
  }

  it("change nothing when all events come again in the opposite order", async () => {
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
    await payers("none", "pay");
    await mine(3);
    await releaseAll("later");
    await expectAll("none", {
      paid: true,
      released: false,
      why: ["paid after closing"],
      says: /^Your order was closed before your payment arrived: we write to you\.$/,
    });
    expect(await each(seen)).to.deep.equal(before);
    const released =
      "back crash down gone late later ours over paid part race rest slow unread".split(" ");
    for (const shop of shops) {
      expect(shop.released(), shop.log()).to.deep.equal(released);
      // Connections that broke off are ordinary, and nothing for the log.
      expect(shop.log()).not.to.match(/Traceback|BrokenPipe|Fatal error|PHP Warning/);
    }
  });

  /** Returns what a shop says of the orders that no later payment changes. */
  async function seen(shop: Shop) {
    const others = orders.filter((order) => order !== "none");
    return Promise.all(others.map(async (order) => (await shop.ask("GET", order)).order));
  }
});

/** Returns the program of a language's page. */
async function programOf(language: string): Promise<string> {
  const page = await readFile(join(root, `docs/guides/whole-shop-${language}.md`), "utf8");
  return /^```(?:ts|python|php)\n([^]+?)^```/m.exec(page)?.[1] ?? "";
}

const now = () => Math.floor(Date.now() / 1_000);
