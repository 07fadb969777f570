// Choices that a payer makes again and again: their events, deliveries and audit entries.
import { expect } from "chai";
import { fanOutEvents } from "../../../../src/features/webhooks/delivery/fan-out.ts";
import { webhookDeliveries } from "../../../../src/features/webhooks/table.ts";
import { forgetSuperseded } from "../../../../src/features/webhooks/delivery/retention.ts";
import { day } from "../../../../src/kernel/clock.ts";
import { auditLogs } from "../../../../src/platform/audit/chain.ts";
import { verifyAudit } from "../../../../src/platform/audit/verify.ts";
import { createRelay, events, type Subscriber } from "../../../../src/platform/events/outbox.ts";
import { expectStatus, type Json, type Merchant } from "../../../support/app.ts";
import { auditKey } from "../../../support/secret.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";
import { openCounter, type Counter } from "../../../support/counter.ts";

eachStore("Choices that a payer makes one after the other", (store) => {
  let counter: Counter;
  let merchant: Merchant;
  let address: string;
  before(async () => {
    counter = await openCounter(store, { TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32" });
    merchant = await counter.merchant();
    address = await counter.wallet(merchant);
    const body = { url: "http://127.0.0.1:9/hook" };
    await expectStatus(counter.post(merchant, "/webhook-endpoints", body), 201);
    await deliver();
  });
  after(() => counter.stop());

  const signal = new AbortController().signal;
  function relay() {
    const { app } = counter.app;
    const { db, leases } = app;
    const fanOut: Subscriber = (tx, relayed) => fanOutEvents(tx, app, relayed);
    return createRelay({ db, leases, subscribers: [fanOut], context: testContext });
  }
  /** Gives all events their positions, and fills the deliveries to the receiver. */
  async function deliver(): Promise<void> {
    while (await relay().run(signal));
  }
  const issue = () =>
    counter.issue(merchant, {
      network: undefined,
      tokenSymbol: undefined,
      paymentOptions: ["USDT", "USDC"].map((tokenSymbol) => ({ network: "sandbox", tokenSymbol })),
    });
  const choose = ({ checkoutId }: Json, tokenSymbol: string) =>
    expectStatus(
      counter.app.request("POST", `/v1/checkout/${String(checkoutId)}/option`, {
        body: { network: "sandbox", tokenSymbol },
      }),
      200,
    );
  /** The events of an invoice in the order of their deliveries: type, token, and status before and after. */
  async function deliveredOf(invoice: Json): Promise<unknown[][]> {
    const rows = await counter.app.app.db.find(webhookDeliveries, "ORDER BY sequence");
    const bodies = rows.map(({ body }) => JSON.parse(body) as { type: string; data: Json });
    return bodies
      .filter(({ type, data }) => type.startsWith("invoice.") && data["id"] === invoice["id"])
      .map(({ type, data }) => [
        type.replace("invoice.", ""),
        ...[data["tokenSymbol"], data["previousStatus"], data["status"]],
      ]);
  }
  const rowsOf = (invoice: Json) =>
    counter.app.app.db.find(events, "WHERE object_id = $1 ORDER BY id", [String(invoice["id"])]);
  const expectAuditIntact = async () => {
    const { db } = counter.app.app;
    expect((await verifyAudit(db, auditKey, testContext)).fault).to.equal(null);
  };

  it("are one event with the last of them while the relay has not reached the first, also for 64 at once", async () => {
    const invoice = await issue();
    await choose(invoice, "USDC");
    await choose(invoice, "USDT");
    await choose(invoice, "USDC");
    await Promise.all(
      Array.from({ length: 64 }, (_, caller) =>
        choose(invoice, caller % 2 === 0 ? "USDT" : "USDC"),
      ),
    ).catch(() => undefined);
    const waiting = (await rowsOf(invoice)).filter(({ type }) => type === "invoice.option_chosen");
    expect(waiting).to.have.length(1);
    const now = await counter.get(merchant, `/invoices/${String(invoice["id"])}`);
    await deliver();
    expect(await deliveredOf(invoice)).to.deep.equal([
      ["created", "USDT", undefined, "open"],
      ["option_chosen", now["tokenSymbol"], "open", "open"],
    ]);
    // The audit log has every single one.
    const entries = await counter.app.app.db.find(
      auditLogs,
      "WHERE action = 'invoice.option_chosen' AND target_id = $1",
      [String(invoice["id"])],
    );
    expect(entries.length).to.be.greaterThan(3);
    await expectAuditIntact();
  });

  it("stay apart around a change of the status, and every receiver gets all of it in order", async () => {
    const invoice = await issue();
    await choose(invoice, "USDC");
    await choose(invoice, "USDT");
    const { remainingAmount } = await counter.get(merchant, `/invoices/${String(invoice["id"])}`);
    const [whole = "", fraction = ""] = String(remainingAmount).split(".");
    await counter.pay(address, BigInt(whole + fraction.padEnd(6, "0")));
    await counter.mine();
    await counter.mine(3);
    const other = await issue();
    await choose(other, "USDC");
    await deliver();
    await choose(other, "USDT");
    await choose(other, "USDC");
    await deliver();
    expect(await deliveredOf(invoice)).to.deep.equal([
      ["created", "USDT", undefined, "open"],
      ["option_chosen", "USDT", "open", "open"],
      ["confirming", "USDT", "open", "confirming"],
      ["paid", "USDT", "confirming", "paid"],
    ]);
    expect(await deliveredOf(other)).to.deep.equal([
      ["created", "USDT", undefined, "open"],
      ["option_chosen", "USDC", "open", "open"],
      ["option_chosen", "USDC", "open", "open"],
    ]);
    await expectAuditIntact();
  });

  it("are forgotten a day after the next one, but for their positions, and the newest stays", async () => {
    const { db, clock } = { ...counter.app, db: counter.app.app.db };
    const invoice = await issue();
    await choose(invoice, "USDC");
    await deliver();
    await choose(invoice, "USDT");
    await deliver();
    const list = async (after: string) => {
      const page = await counter.get(merchant, `/events?limit=100&after=${after}`);
      return (page["data"] as Json[]).map(({ type }) => type);
    };
    const [created, first, last] = await rowsOf(invoice);
    const before = [created?.position, first?.position, last?.position];
    expect(await list(String(created?.id))).to.deep.equal([
      "invoice.option_chosen",
      "invoice.option_chosen",
    ]);
    await db.write(testContext, (tx) =>
      tx.update(
        webhookDeliveries,
        { status: "succeeded", dueAt: null },
        "WHERE event_id IN ($1, $2)",
        [...[String(first?.id), String(last?.id)]],
      ),
    );
    clock.advance(day - 1_000);
    while (await forgetSuperseded(db, clock.now(), testContext));
    expect((await rowsOf(invoice))[1]?.payload).to.include({ tokenSymbol: "USDC" });
    clock.advance(2_000);
    while (await forgetSuperseded(db, clock.now(), testContext));
    const [, forgotten, kept] = await rowsOf(invoice);
    expect(forgotten?.payload).to.deep.equal({});
    expect(kept?.payload).to.include({ tokenSymbol: "USDT" });
    expect((await rowsOf(invoice)).map(({ position }) => position)).to.deep.equal(before);
    // A reader that has read up to the forgotten event continues after it.
    expect(await list(String(created?.id))).to.deep.equal(["invoice.option_chosen"]);
    expect(await list(String(forgotten?.id))).to.deep.equal(["invoice.option_chosen"]);
    const gone = await counter.app.request(
      "GET",
      `/v1/organizations/${merchant.organizationId}/events/${String(forgotten?.id)}`,
      { key: merchant.key },
    );
    expect(gone.status).to.equal(404);
    const deliveries = await db.find(webhookDeliveries, "WHERE event_id IN ($1, $2)", [
      ...[String(forgotten?.id), String(kept?.id)],
    ]);
    expect(deliveries.map(({ eventId }) => eventId)).to.deep.equal([kept?.id]);
    await expectAuditIntact();
  });
});
