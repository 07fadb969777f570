// Webhook bodies by type, compared with earlier versions and with the records.
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { expect } from "chai";
import { announceAuditHead } from "../../../src/features/audit-logs/audit-logs.ts";
import { setOrganizationStatus } from "../../../src/features/organizations/organizations.ts";
import { openApiDocument } from "../../../src/http/document/openapi.ts";
import { watchCapacity } from "../../../src/features/invoices/capacity/watch.ts";
import { allOperations } from "../../../src/features/index.ts";
import { day, hour } from "../../../src/kernel/clock.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { eventCatalogue, type EventType } from "../../../src/platform/events/catalogue.ts";
import {
  createRelay,
  eventBody,
  events,
  type Subscriber,
} from "../../../src/platform/events/outbox.ts";
import { linkLimits } from "../../../src/features/invoices/issuing/link-limits.ts";
import { delivererOf } from "../../../src/features/webhooks/delivery/deliverer.ts";
import { fanOutEvents } from "../../../src/features/webhooks/delivery/fan-out.ts";
import { usdt } from "../../support/amounts.ts";
import {
  expectStatus,
  legalFields,
  register,
  platformKey,
  type Json,
  type Merchant,
} from "../../support/app.ts";
import { formatted } from "../../support/formatted.ts";
import { xpubs } from "../../support/merchants.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { openCounter, type Counter } from "../../support/counter.ts";
import { bodyFaults, normalize, recordsByType, shapeOf, type Schemas } from "./golden-bodies.ts";

/** Groups whose types have their golden bodies elsewhere, or none, each with its reason. */
const elsewhere: Readonly<Partial<Record<keyof typeof eventCatalogue, string>>> = {
  billing: "raised by runs of the billing: test/features/billing/events.test.ts",
  inboxes:
    "raised by a day of an exchange's address: test/features/payments/watcher/readings/wallet-reading.test.ts",
};
const groups = Object.entries(eventCatalogue).filter(([group]) => !(group in elsewhere));

const fileOf = (group: string) => new URL(`golden/${group}.json`, import.meta.url);
const isWriting = process.env["TILL_GOLDEN"] === "write";
type Bodies = Readonly<Record<string, Json>>;
const golden = (group: string) => JSON.parse(readFileSync(fileOf(group), "utf8")) as Bodies;

eachStore("the golden event bodies", (store) => {
  let counter: Counter;
  let merchant: Merchant;
  let address = "";
  let sent: ReadonlyMap<EventType, Json>;

  before(async () => {
    counter = await openCounter(store, { TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" });
    const key = await platformKey(counter.app);
    await announceAuditHead(counter.app.app, testContext);
    merchant = await counter.merchant();
    address = await counter.wallet(merchant);
    await reviewed(key);
    await sold();
    await decided();
    await undone();
    await refunded();
    await crowded();
    await failing();
    const rows = await counter.app.app.db.find(events, "ORDER BY id");
    // The first of each type: what a run adds later changes nothing.
    const found = new Map<EventType, Json>();
    for (const row of rows) {
      const type = row.type as EventType;
      if (!found.has(type)) found.set(type, eventBody(row));
    }
    sent = found;
  });
  after(() => counter.stop());

  const made = async (path: string, body?: object) =>
    (await expectStatus(counter.post(merchant, path, body), 201)).body;
  const done = (path: string, body?: object) =>
    expectStatus(counter.post(merchant, path, body), 200);
  const patched = (path: string, body: object) =>
    expectStatus(
      counter.app.request("PATCH", `/v1/organizations/${merchant.organizationId}${path}`, {
        key: merchant.key,
        body,
      }),
      200,
    );

  /** An organization before its review, at each of its ends, and suspended. */
  async function reviewed(key: string): Promise<void> {
    const { app } = counter;
    const { token, organizationId } = await register(app);
    const path = `/v1/organizations/${organizationId}`;
    const patch = (body: object) => expectStatus(app.request("PATCH", path, { token, body }), 200);
    await patch(legalFields);
    for (const decision of ["request_changes", "reject", "approve"]) {
      await expectStatus(app.request("POST", `${path}/kyb/submit`, { token }), 200);
      const review = `/v1/admin/organizations/${organizationId}/verification`;
      const body = decision === "approve" ? { decision } : { decision, note: "A clearer copy" };
      await expectStatus(app.request("POST", review, { key, body }), 200);
    }
    await patch({ displayName: "Ada's books" });
    const id = organizationId as Id<"organization">;
    await app.app.db.write(testContext, async (tx) => {
      await setOrganizationStatus(tx, app.app, app.clock.now(), id, "suspended");
    });
    await app.app.db.write(testContext, async (tx) => {
      await setOrganizationStatus(tx, app.app, app.clock.now(), id, "active");
    });
  }

  /** A customer, a wallet that goes again, and invoices that are paid in every way. */
  async function sold(): Promise<void> {
    const customer = await made("/customers", { name: "Bob", email: "bob@example.com" });
    await patched(`/customers/${String(customer["id"])}`, { name: "Rob" });
    const spare = { label: "Spare", network: "sandbox", address: `0x${"3".repeat(40)}` };
    const wallet = await made("/wallets", spare);
    await done(`/wallets/${String(wallet["id"])}/archive`);
    const usual = { network: "sandbox", tokenSymbol: "USDT", settlementCurrency: "USD" };
    const link = await made("/payment-links", { ...usual, minAmount: "1.00" });
    const draft = await counter.issue(merchant, { draft: true, customerId: customer["id"] });
    await patched(`/invoices/${String(draft["id"])}`, { amount: "26.00" });
    await done(`/invoices/${String(draft["id"])}/cancel`);

    // One more than a range of client addresses may leave unpaid.
    for (let count = 0; count <= linkLimits.rangeAtLink; count += 1) {
      const body = new URLSearchParams({ amount: "40.00" });
      await fetch(`${counter.app.url}/link/${String(link["id"])}`, { method: "POST", body });
    }
    await done(`/payment-links/${String(link["id"])}/disable`);

    const opened = await counter.issue(merchant, { draft: true });
    await patched(`/invoices/${String(opened["id"])}`, { status: "open" });

    const choice = await counter.issue(merchant, {
      network: undefined,
      tokenSymbol: undefined,
      paymentOptions: ["USDT", "USDC"].map((tokenSymbol) => ({ network: "sandbox", tokenSymbol })),
    });
    const option = `/v1/checkout/${String(choice["checkoutId"])}/option`;
    const body = { network: "sandbox", tokenSymbol: "USDC" };
    await expectStatus(counter.app.request("POST", option, { body }), 200);

    // Each invoice with an address of its own, so that any amount is for it.
    const xpub = { label: "Addresses", network: "sandbox", xpub: xpubs.first };
    const { id: walletId } = await made("/wallets", xpub);
    await expectStatus(
      counter.app.request(
        "PUT",
        `/v1/organizations/${merchant.organizationId}/default-wallets/sandbox`,
        { token: merchant.token, body: { walletId } },
      ),
      200,
    );
    const over = await counter.issue(merchant, { amount: "31.00", walletId });
    await pay(over, 31);
    await counter.mine();
    await pay(over, 5);
    await counter.mine(3);
    const parts = await counter.issue(merchant, { amount: "32.00", walletId });
    await pay(parts, 10);
    await counter.mine();
    await pay(parts, 9);
    await counter.mine();
    const short = await counter.issue(merchant, {
      amount: "40.00",
      underpaymentTolerance: "5",
      walletId,
    });
    await pay(short, 39);
    await counter.mine(3);
  }

  /** Money that people decide about. */
  async function decided(): Promise<void> {
    const late = await counter.issue(merchant, { amount: "33.00", expiresInSeconds: 300 });
    counter.app.clock.advance(hour);
    await counter.mine();
    await pay(late, 33);
    await counter.mine(3);
    await patched("/payment-policy", { latePayments: "review" });
    for (const [amount, decision] of [
      [34, "accept"],
      [35, "reject"],
    ] as const) {
      const invoice = await counter.issue(merchant, {
        amount: `${String(amount)}.00`,
        expiresInSeconds: 300,
      });
      counter.app.clock.advance(hour);
      await counter.mine();
      await pay(invoice, amount);
      await counter.mine();
      const [payment] = await counter.list(
        merchant,
        `/payments?invoiceId=${String(invoice["id"])}`,
      );
      await done(`/payments/${String(payment?.["id"])}/${decision}`);
    }
    await counter.pay(address, usdt(13.37));
    await counter.mine();
  }

  /** A payment that a reorganization reverts. */
  async function undone(): Promise<void> {
    const invoice = await counter.issue(merchant, { amount: "36.00" });
    await pay(invoice, 36);
    await counter.mine();
    await counter.reorganize(1, { drop: true });
  }

  /** A payment of a canceled invoice that goes back, after a transaction that does not prove it and a rejection. */
  async function refunded(): Promise<void> {
    const invoice = await counter.issue(merchant, { amount: "37.00" });
    await done(`/invoices/${String(invoice["id"])}/cancel`);
    await pay(invoice, 37);
    await final();
    const [payment] = await counter.list(merchant, `/payments?invoiceId=${String(invoice["id"])}`);
    const to = "be".repeat(20);
    const input = { paymentId: payment?.["id"], amount: "37.00", address: `0x${to}` };
    const first = await made("/refunds", input);
    await done(`/refunds/${String(first["id"])}/reject`, { reason: "Agreed on another amount" });
    const second = await made("/refunds", { ...input, amount: "36.00" });
    const path = `/refunds/${String(second["id"])}/send`;
    const from = String(invoice["walletAddress"]).slice(2).toLowerCase();
    const short = await counter.pay(to, usdt(35), { from });
    const whole = await counter.pay(to, usdt(36), { from });
    await counter.mine();
    await done(path, { transactionHash: short });
    await final();
    await counter.examine();
    await done(path, { transactionHash: whole });
    await counter.examine();
  }

  /** Makes every block so far final. */
  async function final(): Promise<void> {
    counter.app.clock.advance(2_000);
    await counter.mine(34);
  }

  /** Half of the 101 amounts that may stand for a hundredth. */
  async function crowded(): Promise<void> {
    const wallets = await counter.list(merchant, "/wallets?status=active");
    const walletId = wallets.find(({ kind }) => kind === "address")?.["id"];
    const small = { amount: "0.01", walletId };
    for (let count = 0; count < 51; count += 1) await counter.issue(merchant, small);
  }

  /** An endpoint where nothing arrives for a day, and that is then disabled. */
  async function failing(): Promise<void> {
    const endpoint = await made("/webhook-endpoints", { url: "http://127.0.0.1:9/" });
    const { app } = counter.app;
    const { db, leases } = app;
    const deliverer = delivererOf(app);
    const subscribers: Subscriber[] = [
      (tx, relayed) => watchCapacity(tx, app, relayed),
      (tx, relayed) => fanOutEvents(tx, app, relayed),
    ];
    const relay = createRelay({ db, leases, subscribers, context: testContext });
    const send = async () => {
      const { signal } = new AbortController();
      while (await relay.run(signal));
      while (await deliverer.run(signal));
      await deliverer.idle();
    };
    await made("/customers", { name: "Carol" });
    await send();
    counter.app.clock.advance(1 * day + 1 * hour);
    await send();
    const path = `/webhook-endpoints/${String(endpoint["id"])}`;
    await done(`${path}/disable`);
    const another = await made("/webhook-endpoints", { url: "http://127.0.0.1:9/other" });
    await expectStatus(
      counter.post(merchant, `/webhook-endpoints/${String(another["id"])}/test`),
      202,
    );
  }

  const pay = (invoice: Json, amount: number) =>
    counter.pay(String(invoice["walletAddress"]).slice(2).toLowerCase(), usdt(amount));

  for (const [group, types] of groups) {
    it(`of ${group} are unchanged`, async () => {
      const bodies = Object.fromEntries(
        Object.keys(types).map((type) => [type, normalize(sent.get(type as EventType) ?? null)]),
      );
      const missing = Object.keys(types).filter((type) => !sent.has(type as EventType));
      expect(missing, "types that nothing raised").to.deep.equal([]);
      if (isWriting) {
        await writeFile(fileOf(group), await formatted("bodies.json", JSON.stringify(bodies)));
      }
      const before = golden(group);
      expect(Object.keys(before)).to.have.members(Object.keys(types));
      for (const [type, body] of Object.entries(bodies)) {
        expect(shapeOf(body), type).to.deep.equal(shapeOf(before[type]));
      }
    });
  }
});

describe("the records in golden event bodies", () => {
  const { components } = openApiDocument(allOperations, "1") as {
    components: { schemas: Schemas };
  };
  const records = recordsByType(
    readFileSync(new URL("../../../docs/events.md", import.meta.url), "utf8"),
  );

  for (const [group, types] of groups) {
    it(`of ${group} are those that docs/events.md names`, () => {
      const bodies = golden(group);
      for (const type of Object.keys(types)) {
        const record = records.get(type) ?? "";
        expect(
          bodyFaults(bodies[type] ?? {}, type, record, components.schemas),
          type,
        ).to.deep.equal([]);
      }
    });
  }

  it("are reported if a field is removed, added or changes its type", () => {
    const body = golden("customers")["customer.created"] ?? {};
    const data = body["data"] as Json;
    const { name: _name, ...less } = data;
    const faults = (changed: Json) =>
      bodyFaults({ ...body, data: changed }, "customer.created", "Customer", components.schemas);
    expect(faults(data)).to.deep.equal([]);
    expect(faults(less)).to.deep.equal(["data.name is missing"]);
    expect(faults({ ...data, extra: 1 })).to.deep.equal(["data.extra is not in Customer"]);
    expect(faults({ ...data, name: 1 })).to.deep.equal(["data.name is a number"]);
    for (const changed of [less, { ...data, extra: 1 }, { ...data, name: 1 }]) {
      expect(shapeOf(changed)).not.to.deep.equal(shapeOf(data));
    }
  });
});
