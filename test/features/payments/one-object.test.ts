// Reads a payment, a delivery, an event and an invoice's transactions by id, over HTTP on both databases.
import { expect } from "chai";
import type { Id } from "../../../src/kernel/id.ts";
import { webhookAttempts } from "../../../src/features/webhooks/table.ts";
import { expectStatus, type Json, type Merchant } from "../../support/app.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { openEstate, type Estate } from "../../http/estate.ts";

eachStore("An object read by its id", (store) => {
  let estate: Estate;
  let stranger: Merchant;

  before(async () => {
    estate = await openEstate(store);
    stranger = await estate.counter.merchant();
  });
  after(() => estate.stop());

  /** Reads an object as its owner and checks its ETag; expects a stranger's response to equal that for an unknown id. */
  async function read(path: string): Promise<Json> {
    const { app, owner, admin } = estate;
    const url = `/v1/organizations/${owner.organizationId}${path}`;
    const answer = await expectStatus(app.request("GET", url, { key: owner.key }), 200);
    const headers = { "If-None-Match": answer.headers.get("ETag") ?? "" };
    await expectStatus(app.request("GET", url, { token: owner.token, headers }), 304);
    const elsewhere = `/v1/organizations/${stranger.organizationId}${path}`;
    await expectStatus(app.request("GET", elsewhere, { key: stranger.key }), 404);
    await expectStatus(app.request("GET", url, { key: stranger.key }), 404);
    await expectStatus(app.request("GET", url, { token: admin.token }), 404);
    return answer.body;
  }

  it("can be a payment, identical to the one in the list", async () => {
    const id = await estate.countedPayment();
    const [listed] = await estate.counter.list(estate.owner, "/payments?limit=1");
    expect(await read(`/payments/${id}`)).to.deep.equal(listed);
  });

  it("can be a delivery with its payload and attempts, but without the receiver's responses", async () => {
    const id = await estate.delivery();
    const attempt = {
      deliveryId: id as Id<"webhookDelivery">,
      startedAt: 1,
      durationMs: 12,
      oddity: null,
    };
    const late = { responseStatus: null, errorKind: "timeout" as const, bodyExcerpt: null };
    const bad = { responseStatus: 500, errorKind: null, bodyExcerpt: "an inner page" };
    await estate.app.app.db.write(testContext, async (tx) => {
      await tx.insertMany(webhookAttempts, [
        { ...attempt, number: 2, ...late },
        { ...attempt, number: 1, ...bad },
      ]);
      const body = JSON.stringify({ type: "invoice.paid", data: { id: "inv_1" } });
      await tx.run("UPDATE webhook_deliveries SET body = $1 WHERE id = $2", [body, id]);
    });
    const delivery = await read(`/webhook-deliveries/${id}`);
    const [listed] = await estate.counter.list(estate.owner, "/webhook-deliveries?limit=1");
    const startedAt = "1970-01-01T00:00:00.001Z";
    expect(delivery).to.deep.equal({
      ...listed,
      payload: { type: "invoice.paid", data: { id: "inv_1" } },
      attemptHistory: [
        {
          number: 1,
          startedAt,
          durationMs: 12,
          responseStatus: 500,
          errorKind: null,
          oddity: null,
        },
        {
          number: 2,
          startedAt,
          durationMs: 12,
          responseStatus: null,
          errorKind: "timeout",
          oddity: null,
        },
      ],
    });
  });

  it("can be an event, whose data is the object at that time", async () => {
    const { db } = estate.app.app;
    const invoice = await estate.counter.issue(estate.owner, { amount: "88.00" });
    const [row] = await db.all<{ id: string }>("SELECT id FROM events WHERE object_id = $1", [
      String(invoice["id"]),
    ]);
    const event = await read(`/events/${String(row?.id)}`);
    expect(event).to.include({ id: row?.id, type: "invoice.created" });
    expect(event["data"]).to.deep.equal({ ...invoice, objectVersion: 1 });
  });

  describe("can be an invoice, whose transactions", () => {
    const show = async (id: unknown) =>
      (await estate.counter.get(estate.owner, `/invoices/${String(id)}`))["transactionHashes"];
    const reported = async (id: unknown, type: string) => {
      const rows = await estate.app.app.db.all<{ payload: string }>(
        "SELECT payload FROM events WHERE object_id = $1 AND type = $2 ORDER BY id",
        [String(id), type],
      );
      return rows.map(({ payload }) => (JSON.parse(payload) as Json)["transactionHashes"]);
    };
    let invoice: Json;
    let first = "";
    let second = "";

    before(async () => {
      const { counter, owner, things } = estate;
      invoice = await counter.issue(owner, { amount: "30.00", walletId: things["walletId"] });
      const address = String(invoice["walletAddress"]).slice(2).toLowerCase();
      expect(await show(invoice["id"])).to.deep.equal([]);
      first = `0x${await counter.pay(address, 10_000_000n)}`;
      await counter.mine();
      second = `0x${await counter.pay(address, 20_000_000n)}`;
      await counter.mine();
    });

    it("match its payments in the invoice, the list and the events", async () => {
      const { counter, owner } = estate;
      const { id } = invoice;
      expect(await show(id)).to.deep.equal([first, second]);
      const payments = await counter.list(owner, `/payments?invoiceId=${String(id)}`);
      expect(payments.map((one) => one["transactionHash"])).to.deep.equal([second, first]);
      const listed = (await counter.list(owner, "/invoices?limit=100")).find(
        (one) => one["id"] === id,
      );
      expect(listed?.["transactionHashes"]).to.deep.equal([first, second]);
      expect(await reported(id, "invoice.created")).to.deep.equal([[]]);
      expect(await reported(id, "invoice.partially_paid")).to.deep.equal([[first]]);
      expect(await reported(id, "invoice.confirming")).to.deep.equal([[first, second]]);
    });

    it("no longer include one that a reorganization drops", async () => {
      await estate.counter.reorganize(1, { drop: true });
      expect(await show(invoice["id"])).to.deep.equal([first]);
    });
  });
});
