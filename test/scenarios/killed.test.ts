// Kills `till serve` with SIGKILL at the worst times: after a payment was made and before it is detected, and after its
// detection and before the webhook. After a restart the invoice is paid once, and the webhook arrives.
import { join } from "node:path";
import { expect } from "chai";
import { xpubs } from "../support/merchants.ts";
import type { Invoice, InvoiceBatch, Till } from "../../src/client/index.ts";
import { openClient } from "./client.ts";
import {
  makeInstallation,
  type Installation,
  type RunningServer,
} from "../support/programs/program.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import type { StoreOptions } from "../../src/platform/database/open.ts";
import { eachStore, testContext } from "../support/store/stores.ts";
import { waitingMax } from "../../src/features/invoices/batches/batch.ts";
import { until } from "../support/until.ts";
import { issueInvoice, webhooksOf } from "./way.ts";

const settings = {
  TILL_NETWORKS: "sandbox",
  TILL_SANDBOX_BLOCK_MS: "0",
  TILL_VERIFICATION: "off",
  TILL_RATE_LIMIT_SCALE: "0",
  TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32",
};

eachStore("a server that is killed", function (store) {
  let place: StoreOptions;
  let till: Installation;
  let server: RunningServer;
  let receiver: Receiver;
  let organizationId: string;
  let key: string;
  let secret: string;

  /** The client of the server that runs now. */
  const shop = (retries?: number): Till => openClient({ url: server.url, apiKey: key, retries });

  async function command(...args: string[]): Promise<Record<string, unknown>> {
    const { status, stdout, stderr } = await till.run([...args, "--json"]);
    expect(status, stderr).to.equal(0);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  before(async () => {
    receiver = await startReceiver();
    place = await store.place("empty");
    till = await makeInstallation(settings, place);
    const made = await till.run(
      [
        ...["init", "--admin-email", "admin@example.com", "--admin-name", "Admin"],
        ...["--organization", "Platform", "--password-stdin", "--json"],
      ],
      "a password of the tests 1\n",
    );
    expect(made.status, made.stderr).to.equal(0);
    const { organization } = JSON.parse(made.stdout) as { organization: { id: string } };
    const created = await command(
      ...["key", "create", "--organization", organization.id],
      ...["--name", "shop", "--scopes", "read,write"],
    );
    key = created["secret"] as string;
    organizationId = organization.id;
    server = await till.serve();
    const wallet = { label: "Till", network: "sandbox", xpub: xpubs.first };
    await shop().wallets.create(organizationId, wallet);
    ({ secret } = await shop().webhooks.createEndpoint(organizationId, { url: receiver.url }));
  });
  after(async () => {
    await till.remove();
    await receiver.close();
  });

  const issue = (): Promise<Invoice> => issueInvoice({ till: shop(), organizationId }, "sandbox");

  async function invoiceIs({ id }: Invoice, status: string): Promise<void> {
    await until(
      `an invoice that is ${status}`,
      () => shop().invoices.get(organizationId, id),
      (invoice) => invoice.status === status,
    );
  }

  /**
   * On PostgreSQL the leases of a dead process must expire, because another process may be alive. two-servers.test.ts
   * tests how long that takes; the next server on a SQLite store ends them itself.
   */
  async function endLeases(): Promise<void> {
    if (store.dialect === "sqlite") return;
    const db = await store.open(place);
    await db.write(testContext, async (tx) => {
      await tx.run("UPDATE leases SET until = 0");
      await tx.run("UPDATE webhook_deliveries SET due_at = 0 WHERE lease_token IS NOT NULL");
    });
  }

  /** Opens the store of the installation beside its server. */
  const openStore = () =>
    store.open(
      "url" in place ? place : { sqliteFile: join(till.env["TILL_DATA_DIR"] ?? "", "till.db") },
    );

  /** Returns the height of the sandbox's chain. */
  async function chainHeight(): Promise<number> {
    const db = await openStore();
    const [tip] = await db.all<{ height: number }>(
      `SELECT MAX(last_height) AS "height" FROM sandbox_segments`,
    );
    await db.close();
    return tip?.height ?? 0;
  }

  async function paymentsOf({ id }: Invoice): Promise<readonly unknown[]> {
    return (await shop().payments.list(organizationId, { invoiceId: id })).data;
  }

  it("between a payment and its detection leads to one payment after the restart", async () => {
    const invoice = await issue();
    await command("sandbox", "pay", invoice.id);
    await server.kill();
    await endLeases();
    const before = await chainHeight();
    // It makes the blocks at once, and then waits for a server that reads them.
    const mining = command("sandbox", "mine", "3");
    await until("blocks without a server", chainHeight, (height) => height > before);
    server = await till.serve();
    await mining;
    await invoiceIs(invoice, "paid");
    expect(await paymentsOf(invoice)).to.have.length(1);
    const events = await webhooksOf(receiver, secret, "invoice.paid");
    expect(events.map(({ data }) => data.id)).to.include(invoice.id);
  });

  it("between detection and webhook leads to the webhook after the restart", async () => {
    const invoice = await issue();
    receiver.answer(500);
    await command("sandbox", "pay", invoice.id);
    await command("sandbox", "mine", "3");
    await invoiceIs(invoice, "paid");
    await server.kill();
    await endLeases();
    const before = receiver.requests.length;
    receiver.answer(200);
    server = await till.serve();
    await until(
      "the webhook after the restart",
      () => receiver.requests.slice(before).map(({ body }) => body),
      (bodies) =>
        bodies.some((body) => {
          const event = JSON.parse(body) as { type: string; data: { id: string } };
          return event.type === "invoice.paid" && event.data.id === invoice.id;
        }),
    );
    expect(await paymentsOf(invoice)).to.have.length(1);
  });

  it("during batches creates each batch completely or not at all, and then answers as before", async () => {
    await issue();
    const batch = (name: string, till: Till): Promise<InvoiceBatch> =>
      till.invoices.createBatch(
        organizationId,
        {
          invoices: Array.from({ length: 30 }, (_, place) => ({
            amount: "25",
            settlementCurrency: "USD",
            tokenSymbol: "USDT",
            network: "sandbox",
            externalId: `${name} ${String(place)}`,
          })),
        },
        { idempotencyKey: name },
      );
    // No more than one that runs and those that may wait.
    const names = Array.from({ length: 1 + waitingMax }, (_, place) => `batch ${String(place)}`);
    const first = names.map((name) => batch(name, shop(0)).catch(() => null));
    await Promise.race(first);
    await server.kill();
    await endLeases();
    server = await till.serve();
    const before = await Promise.all(first);
    const again = await Promise.all(names.map((name) => batch(name, shop())));
    for (const [place, { results }] of again.entries()) {
      const earlier = before[place];
      if (earlier != null) expect(results).to.deep.equal(earlier.results);
      expect(new Set(results.map(({ outcome }) => outcome))).to.deep.equal(new Set(["created"]));
    }
    const db = await openStore();
    const [counted] = await db.all<{ count: number }>(
      `SELECT COUNT(*) AS "count" FROM invoices WHERE external_id LIKE 'batch %'`,
    );
    expect(counted?.count).to.equal(30 * names.length);
  });

  it("stops on SIGTERM with exit code 0", async () => {
    expect(await server.stop()).to.equal(0);
  });
});
