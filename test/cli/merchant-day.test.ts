// A merchant's day at the terminal: from a wallet to an invoice, its webhooks and who is logged in.
import { createHmac } from "node:crypto";
import { readdir, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { expect } from "chai";
import { authenticateUser } from "../../src/features/auth/authentication.ts";
import { logIn } from "../../src/features/auth/login.ts";
import { listenForWebhooks } from "../../src/cli/commands/webhooks/listen.ts";
import { makeTerminal } from "../../src/cli/terminal/terminal.ts";
import { createWallet } from "../../src/features/wallets/wallets.ts";
import { testWebhookEndpoint } from "../../src/features/webhooks/deliveries.ts";
import {
  createWebhookEndpoint,
  removeWebhookEndpoint,
} from "../../src/features/webhooks/endpoints.ts";
import type { Id } from "../../src/kernel/id.ts";
import { createInvoice } from "../../src/features/invoices/issuing/create.ts";
import { webhookDeliveries } from "../../src/features/webhooks/table.ts";
import { programVersion } from "../../src/platform/files.ts";
import { password, useProcesses } from "../support/programs/till.ts";
import { until } from "../support/until.ts";
import { context, makeDesk, type DeskStore } from "./billing-operator.ts";

const address = "0x52908400098527886E0F7030069857D2E4169EE7";
const env = { TERM: "xterm" };
const settings = {
  TILL_NETWORKS: "sandbox",
  TILL_RATES: "off",
  TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32",
};

interface Named {
  readonly id: string;
  readonly status: string;
}

/** Stores a delivery of another event in the state of a stored one. */
function copyDelivery(store: DeskStore, ofId: string): Promise<string> {
  return store.withApp(async ({ db, ids, clock }) => {
    const [row] = await db.find(webhookDeliveries, "WHERE id = $1", [ofId]);
    if (row === undefined) throw new Error(`there is no delivery ${ofId}`);
    const [id, eventId] = [
      ids.next("webhookDelivery", clock.now()),
      ids.next("event", clock.now()),
    ];
    const copy = { ...row, id, eventId };
    await db.write(context, (tx) => tx.insert(webhookDeliveries, copy));
    return copy.id;
  });
}

describe("a merchant's day at the terminal", () => {
  const desk = makeDesk(settings);
  const processes = useProcesses();

  it("adds a wallet after a question that shows its address, and a customer", async () => {
    const store = await desk.store();
    const wallet = ["wallet", "add", "--network", "sandbox", "--label", "Shop"];
    expect((await store.till([...wallet, "--address", address])).stderr).to.include("--yes");
    const declined = await store.till([...wallet, "--address", address, "--no-color"], {
      env,
      person: [["Let payers of Shop (org_", "n\r"]],
    });
    expect(declined.code, declined.stderr).to.equal(3);
    expect(declined.stderr).to.match(new RegExp(`^ {2}Address +- → ${address}$`, "m"));
    const made = await store.json([...wallet, "--address", address, "--yes"]);
    expect(made).to.deep.include({ kind: "address", address, status: "active" });
    const twice = await store.till([...wallet, "--address", address], { env, person: [] });
    expect(twice.code, twice.stderr).to.equal(6);

    const customer = ["customer", "add", "--name", "Bo", "--email", "Bo@example.com"];
    expect(await store.json([...customer, "--dry-run"])).to.include({ name: "Bo" });
    const { id } = (await store.json([...customer, "--external-id", "7"])) as Named;
    expect((await store.till([...customer, "--external-id", "7"])).code).to.equal(6);
    expect((await store.till(["customer", "list", "-q"])).stdout).to.equal(`${id}\n`);
  });

  it("creates an invoice, draws its code only on a terminal, and cancels it", async () => {
    const store = await desk.store();
    const organizationId = await store.platformId();
    await store.withApp(async (app) => {
      await createWallet(app, context, organizationId, {
        label: "T",
        network: "sandbox",
        address,
      });
      await app.start();
      await until(
        "the sandbox",
        () => createInvoice(app, context, organizationId, order).catch(() => null),
        (made) => made !== null,
      );
    });
    const words = ["invoice", "create", "--amount=25.00", "--settlement-currency=USD"];
    const create = [...words, "--token-symbol=USDT", "--network=sandbox", "--external-id=A-7"];
    const shown = await store.till([...create, "--no-color"], { env, person: [] });
    expect(shown.code, shown.stderr).to.equal(0);
    expect(shown.stdout).to.match(/^█{30,}\n█{30,}\n████ /m);
    const piped = await store.till(create);
    expect(piped.stdout).not.to.include("█");
    expect(piped.stdout).to.match(/^Checkout +http.*\/pay\/chk_\w+$/m);
    const { id, status } = (await store.json(create)) as Named;
    expect(status).to.equal("open");
    const draft = (await store.json([
      ...words,
      "--token-symbol=USDT",
      "--network=sandbox",
      "--draft",
      "--external-id=inv_1042",
    ])) as Named;
    expect(draft).to.include({ status: "draft" });

    // Your own number is as good as the id.
    expect(await store.json(["invoice", "show", "A-7"])).to.include({ id });
    // It may begin like an id.
    expect(await store.json(["invoice", "show", "inv_1042"])).to.include({ id: draft.id });
    const unknown = await store.till(["invoice", "show", "A-8"]);
    expect(unknown.code).to.equal(5);
    expect(unknown.stderr).to.include('No invoice has the id or the externalId "A-8"');
    const cancel = ["invoice", "cancel", "A-7"];
    const asked = await store.till([...cancel, "--no-color"], {
      env,
      person: [[`Cancel the invoice of 25.00 USD (${id}), open?`, "n\r"]],
    });
    expect(asked.code, asked.stderr).to.equal(3);
    expect(asked.stderr).to.match(/^ {2}Status +open → canceled$/m);
    expect(await store.json([...cancel, "--yes"])).to.include({ status: "canceled" });
    expect((await store.till(cancel, { env, person: [] })).code).to.equal(6);
  });

  it("adds an endpoint, sends it a test event, and replays the undelivered ones of a period once", async () => {
    const store = await desk.store();
    const added = ["webhook", "add", "http://127.0.0.1:9/hook", "--event-types", "invoice.paid"];
    const endpoint = (await store.json(added)) as Named & { secret: string };
    expect(endpoint.secret).to.match(/^whsec_/);
    const trigger = ["webhook", "trigger", endpoint.id];
    expect(await store.json([...trigger, "--dry-run"])).to.include({ status: "pending" });
    const ping = (await store.json(trigger)) as Named;
    const wrong = await store.till([
      "webhook",
      "add",
      "http://127.0.0.1:9/",
      "--event-types",
      "a.*",
    ]);
    expect(wrong.stderr).to.match(/--event-types.* must be an event type, which "a\.\*" is not/s);
    expect((await store.till(["webhook", "endpoints"])).stdout).not.to.include(endpoint.secret);
    await store.withApp((app) =>
      app.db.write(context, (tx) =>
        tx.run(
          "UPDATE webhook_deliveries SET status = 'dead_letter', due_at = NULL, completed_at = $1",
          [app.clock.now()],
        ),
      ),
    );

    const failed = await store.till(["queue", "failed"]);
    expect(failed.stdout).to.match(
      new RegExp(`^webhooks +webhook\\.ping .* till webhook replay ${ping.id}$`, "m"),
    );
    const replay = ["webhook", "replay"];
    expect((await store.till([...replay, "--yes"])).stderr).to.include("--from");
    expect((await store.till([...replay, "--from", "soon", "--yes"])).stderr).to.include("--from");
    const since = [...replay, "--from", "2020-01-01T00:00:00Z"];
    const trial = (await store.json([...since, "--dry-run"])) as { count: number; data: Named[] };
    expect(trial.count).to.equal(1);
    expect(trial.data).to.have.length(1);
    const counted = await store.till([...since, "--dry-run"]);
    expect(counted.stdout).to.include("1 delivery of 1 endpoint would be sent again.");
    const future = new Date(Date.now() + 3_600_000).toISOString();
    const refused = await store.till([...replay, "--from", future, "--yes"]);
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.match(/--from.* is in the future: it is \d{4}-/s);
    const late = { id: "" };
    const asked = await store.till([...since, "--no-color"], {
      env,
      person: [
        [
          "Send 1 delivery of Shop (org_",
          async () => {
            late.id = await copyDelivery(store, ping.id);
            return "y\r";
          },
        ],
      ],
    });
    expect(asked.code, asked.stderr).to.equal(0);
    expect(asked.stdout).to.match(/^1 delivery of 1 endpoint is sent again\.$/m);
    expect(asked.stdout).to.match(new RegExp(`^${endpoint.id} +1$`, "m"));
    const rest = (await store.json([...since, "--yes"])) as { data: { replayOf: string }[] };
    const restOf = rest.data.map(({ replayOf }) => replayOf);
    expect(restOf, "the delivery that failed after the question").to.deep.equal([late.id]);
    // A replayed delivery is not found again, and nobody is asked about nothing.
    expect(await store.json([...since, "--yes"])).to.include({ count: 0, nextCursor: null });
    const nothing = await store.till(since, { env, person: [] });
    expect(nothing.code, nothing.stderr).to.equal(0);
    expect(nothing.stdout).to.include("No delivery with the status dead_letter since 2020-01-01");
  });

  it("prints the webhooks whose signature is right, and refuses others", async () => {
    const store = await desk.store();
    const key = Buffer.alloc(32, 7);
    const secretFile = join(store.folder, "whsec");
    await writeFile(secretFile, `whsec_${key.toString("base64")}\n`);
    const listening = await listen({ secretFile });
    const body = JSON.stringify({ type: "invoice.paid", data: { id: "inv_1" } });
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signed = createHmac("sha256", key).update(`evt_1.${timestamp}.${body}`).digest("base64");
    const send = async (signature: string) => {
      const headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": timestamp,
        "webhook-signature": `v1,${signature}`,
      };
      return (await fetch(listening.url, { method: "POST", headers, body })).status;
    };
    expect(await send("bm8=")).to.equal(401);
    expect(await send(signed)).to.equal(204);
    await listening.end();
    expect(listening.stdout()).to.equal("invoice.paid  inv_1  evt_1  (signature verified)\n");
    expect(listening.stderr()).to.include("Refused a request: its signature is");
  });

  it("listens as an endpoint of its own, which it removes at the end with its deliveries", async () => {
    const store = await desk.store();
    const listening = await listen({ dataDir: store.folder });
    const [endpoint] = await endpointsOf(store);
    expect(endpoint).to.include({ status: "enabled", url: listening.url });
    await store.json(["webhook", "trigger", endpoint?.id ?? ""]);
    await store.withApp(async (app) => {
      await app.start();
      await until(
        "the ping",
        () => Promise.resolve(listening.stdout()),
        (text) => text !== "",
      );
    });
    expect(listening.stdout()).to.match(/^webhook\.ping {2}wep_\w+ {2}evt_\w+ {2}\(signature/);
    await listening.end();
    expect(listening.stderr()).to.include(`Removed the endpoint ${endpoint?.id ?? ""}.`);
    expect(await endpointsOf(store)).to.deep.equal([]);
    expect(await store.json(["webhook", "deliveries"])).to.include({ nextCursor: null });
    await store.withApp(async ({ db }) => {
      for (const table of ["webhook_deliveries", "webhook_attempts"]) {
        expect(await db.all(`SELECT * FROM ${table}`), table).to.deep.equal([]);
      }
    });
    const [entry] = await store.audited("webhook_endpoint.removed");
    expect(entry).to.include({ actor_type: "operator", target_id: endpoint?.id });
  });

  it("removes the endpoint of a killed run when it listens again, and no other", async () => {
    const store = await desk.store();
    const organizationId = await store.platformId();
    const running = await listen({ dataDir: store.folder });
    const [runs] = await endpointsOf(store);
    const folder = join(store.folder, "listening");
    expect(await readdir(folder)).to.deep.equal([`${organizationId}.${runs?.id ?? ""}`]);
    const [file = ""] = await readdir(folder);
    expect((await stat(folder)).mode & 0o777).to.equal(0o700);
    expect((await stat(join(folder, file))).mode & 0o777).to.equal(0o600);
    const ids = await store.withApp(async (app) => {
      // Nothing listens there, and the description is that of a run on this machine.
      const add = async () => {
        const { endpoint } = await createWebhookEndpoint(app, context, organizationId, {
          url: "http://127.0.0.1:9/webhooks",
          description: `till webhook listen (${hostname()}:9)`,
        });
        return endpoint.id;
      };
      const killed = await add();
      // More than one transaction deletes.
      const ping = await testWebhookEndpoint(app, context, organizationId, killed);
      const [row] = await app.db.find(webhookDeliveries, "WHERE id = $1", [ping.id]);
      if (row === undefined) throw new Error("the ping has no delivery");
      const rows = Array.from({ length: 1_000 }, (_none, place) => ({
        ...row,
        id: `${row.id}_${String(place)}` as typeof row.id,
        replayOf: row.id,
      }));
      await app.db.write(context, (tx) => tx.insertMany(webhookDeliveries, rows));
      return { killed, kept: [await add(), runs?.id] };
    });
    // The files of killed runs stay, without a lock; the endpoint of one is gone, another's is in another store.
    const others = "org_elsewhere.wep_1";
    for (const name of [`${organizationId}.${ids.killed}`, `${organizationId}.wep_gone`, others]) {
      await writeFile(join(folder, name), "");
    }
    const listening = await listen({ dataDir: store.folder });
    expect(listening.stderr().match(/which an earlier run left behind/g)).to.have.length(1);
    expect(listening.stderr()).to.include(
      `Removed the endpoint ${ids.killed}, which an earlier run left behind.`,
    );
    await listening.end();
    expect((await endpointsOf(store)).map(({ id }) => id)).to.have.members(ids.kept);
    const { data } = (await store.json(["webhook", "deliveries"])) as { data: Named[] };
    expect(data).to.deep.equal([]);
    await store.withApp((app) =>
      removeWebhookEndpoint(app, context, organizationId, runs?.id as Id<"webhookEndpoint">),
    );
    await running.end();
    expect(running.stderr()).to.include(`The endpoint ${runs?.id ?? ""} was already removed.`);
    expect(await readdir(folder)).to.deep.equal([others]);
  });

  it("notes its endpoint before it exists, so that a killed run leaves none that nobody removes", async () => {
    const store = await desk.store();
    const organizationId = await store.platformId();
    const folder = join(store.folder, "listening");
    const named = async () =>
      (await readdir(folder).catch(() => [])).filter((each) => each.includes("wep_"));
    const run = processes.start(["webhook", "listen"], {
      ...settings,
      TILL_DATA_DIR: store.folder,
    });
    await store.withApp(({ db }) =>
      // While this write lasts, the run cannot create its endpoint.
      db.write(context, async () => {
        await until("the file of the run", named, (names) => names.length > 0);
        expect(await endpointsOf(store)).to.deep.equal([]);
        run.child.kill("SIGKILL");
        await run.exit();
      }),
    );
    const [name = ""] = await named();
    expect(name).to.match(new RegExp(`^${organizationId}\\.wep_`));
    const listening = await listen({ dataDir: store.folder });
    expect(await named()).not.to.include(name);
    await listening.end();
    expect(await endpointsOf(store)).to.deep.equal([]);
  });

  it("lists who is logged in, and ends a login at once", async () => {
    const store = await desk.store();
    const { accessToken } = await store.withApp((app) =>
      logIn(app, context, { email: "ada@example.com", password }),
    );
    const principal = () => store.withApp((app) => authenticateUser(app, accessToken));
    expect(await principal()).not.to.equal(null);
    const list = ["session", "list", "--email", "Ada@example.com"];
    const { data } = (await store.json(list)) as { data: Named[] };
    expect(data).to.have.length(1);
    const id = data[0]?.id ?? "";
    const end = ["session", "end", id];
    const asked = await store.till([...end, "--no-color"], {
      env,
      person: [[`End the login of ada@example.com (${id}), active?`, "y\r"]],
    });
    expect(asked.code, asked.stderr).to.equal(0);
    expect(await principal()).to.equal(null);
    expect(await store.json(list)).to.deep.equal({ data: [], nextCursor: null });
    const [entry] = await store.audited("session.revoked");
    expect(entry).to.include({ actor_type: "operator" });
    expect((await store.till(["session", "end", "ses_nothing", "--yes"])).code).to.equal(5);
  });

  it("prints its version for people and for scripts", async () => {
    const store = await desk.store();
    const shown = (await store.json(["version"])) as object;
    expect(shown).to.include({ version: programVersion(), node: process.versions.node });
    expect((await store.till(["version", "-q"])).stdout).to.equal(`${programVersion()}\n`);
  });
});

async function endpointsOf(store: DeskStore): Promise<(Named & { readonly url: string })[]> {
  const { data } = (await store.json(["webhook", "endpoints"])) as {
    data: (Named & { readonly url: string })[];
  };
  return data;
}

/** Runs `till webhook listen` in this process until its output is closed. */
async function listen(flags: Readonly<Record<string, string>>) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const texts = { stdout: "", stderr: "" };
  stdout.on("data", (chunk: Buffer) => (texts.stdout += chunk.toString("utf8")));
  stderr.on("data", (chunk: Buffer) => (texts.stderr += chunk.toString("utf8")));
  const terminal = makeTerminal(
    {},
    { stdin: Readable.from([]), stdout, stderr, env: { ...settings } },
  );
  const running = listenForWebhooks(terminal, flags);
  const told = await Promise.race([
    running.then(() => ""),
    until(
      "its URL",
      () => Promise.resolve(texts.stderr),
      (text) => text.includes("Ctrl-C"),
    ),
  ]);
  const [url = ""] = /http:\S+\/webhooks/.exec(told) ?? [];
  return {
    url,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    async end() {
      stdout.emit("close");
      await running;
    },
  };
}

const order = {
  amount: "1.00",
  settlementCurrency: "USD",
  tokenSymbol: "USDT",
  network: "sandbox",
};
