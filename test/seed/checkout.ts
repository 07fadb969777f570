// Sections 2, 3 and 4.3: the public checkout session, its receipt, and the invoices behind it.
import { expect } from "chai";
import { stateTable } from "../../src/platform/chain/state/network-state.ts";
import { expectProblem } from "../http/problem.ts";
import {
  approvedMerchant,
  expectStatus,
  startApp,
  order,
  type Answer,
  type TestApp,
} from "../support/app.ts";
import { xpubOf } from "../support/merchants.ts";
import { payInvoice } from "../support/sandbox.ts";
import { eachStore, testContext } from "../support/store/stores.ts";
import { testFields, type, type Json } from "./fields.ts";
import type { Caller, World } from "./world.ts";

let accounts = 100;

/** Issues an invoice on a new wallet. */
async function issue(shop: Caller, input: Json = {}): Promise<Json> {
  const wallet = { label: "Till", network: "sandbox", xpub: xpubOf((accounts += 1)) };
  await expectStatus(shop.home("POST", "/wallets", wallet), 201);
  return (await expectStatus(shop.home("POST", "/invoices", { ...order, ...input }), 201)).body;
}

export function checkoutTests(world: () => World): void {
  describe("a checkout session", () => {
    let shop: Caller;
    let invoice: Json;
    let open: Answer;
    let confirming: Answer;
    let paid: Answer;
    let transactionHashes: readonly unknown[];

    /** Reads the current session; a response is cached for up to a second. */
    const session = () => {
      world().estate.clock.advance(1_000);
      return world().estate.app.request("GET", `/v1/checkout/${String(invoice["checkoutId"])}`);
    };
    const invoiceIn = (answer: Answer) => type.object(answer.body["invoice"]);
    const receiptIn = (answer: Answer) => type.object(answer.body["receipt"]);

    before(async () => {
      const { app, mine } = world().estate;
      shop = await world().merchant();
      await expectStatus(shop.home("PATCH", "", { displayName: "Ada's Books" }), 200);
      // Payers see the new name once the platform has approved it.
      const admin = await world().admin();
      const review = `/admin/organizations/${shop.organizationId}/verification`;
      await expectStatus(admin.ask("POST", review, { decision: "approve" }), 200);
      invoice = await issue(shop);
      open = await expectStatus(session(), 200);
      await payInvoice(app, invoice["id"]);
      await mine(1);
      confirming = await expectStatus(session(), 200);
      await mine(3);
      paid = await expectStatus(session(), 200);
      const { body } = await shop.home("GET", `/payments?invoiceId=${String(invoice["id"])}`);
      const payments = type.array(body["data"]) as readonly Json[];
      transactionHashes = payments.map((payment) => payment["transactionHash"]);
    });

    testFields(
      "CheckoutSession",
      [
        [
          "id",
          "a string, the session's identifier",
          (value) => expect(value).to.equal(invoice["checkoutId"]),
        ],
        ["invoice", "an object", type.object],
        [
          "qrCode",
          "a string, what the payment QR code holds",
          (value) => {
            const address = type.string(invoice["walletAddress"]).toLowerCase();
            expect(type.string(value).toLowerCase()).to.include(address);
          },
        ],
        [
          "paymentInstructions",
          "a string, text for the payer",
          (value) => {
            expect(type.string(value))
              .to.include(`${type.amount(invoice["payableAmount"])} USDT`)
              .and.to.include(invoice["walletAddress"]);
          },
        ],
        [
          "merchantDisplayName",
          "a string, the merchant's name as the payer sees it",
          (value) => expect(value).to.equal("Ada's Books"),
        ],
        [
          "confirmationProgress",
          "an object of two integers, the confirmations seen and those needed",
          () => {
            const [before, during, after] = [open, confirming, paid].map(({ body }) => {
              const { current, required } = type.object(body["confirmationProgress"]);
              return { current: type.integer(current), required: type.integer(required) };
            });
            expect(before).to.deep.equal({ current: 0, required: 3 });
            expect(during).to.deep.equal({ current: 1, required: 3 });
            expect(after).to.deep.equal({ current: 3, required: 3 });
          },
        ],
        ["receipt", "an object once the invoice is paid", () => receiptIn(paid)],
      ],
      () => open.body,
    );

    testFields(
      "CheckoutSession.invoice",
      [
        [
          "id",
          "a string, the invoice's identifier",
          (value) => expect(value).to.equal(invoice["publicId"]),
        ],
        [
          "status",
          "a string, the invoice's status",
          () => {
            const statuses = [open, confirming, paid].map((answer) => invoiceIn(answer)["status"]);
            expect(statuses).to.deep.equal(["open", "confirming", "paid"]);
          },
        ],
        [
          "amount",
          "a string, an amount as text",
          (value) => expect(type.amount(value)).to.equal("25.00"),
        ],
        [
          "paidAmount",
          "a string, the amount paid so far as text",
          (value) => {
            expect(type.amount(value)).to.equal("0.00");
            expect(invoiceIn(paid)["paidAmount"]).to.equal("25.00");
          },
        ],
        ["settlementCurrency", "a string", (value) => expect(value).to.equal("USD")],
        [
          "tokenSymbol",
          "a string, the token in which payment is made",
          (value) => expect(value).to.equal("USDT"),
        ],
        [
          "network",
          "a string, the blockchain network",
          (value) => expect(value).to.equal("sandbox"),
        ],
        [
          "walletAddress",
          "a string, the receiving wallet's address",
          (value) => expect(value).to.equal(type.string(invoice["walletAddress"])),
        ],
        [
          "checkoutUrl",
          "a string, a URI",
          async (value) => {
            expect(value).to.equal(invoice["checkoutUrl"]);
            expect((await fetch(type.uri(value))).status).to.equal(200);
          },
        ],
        [
          "expiresAt",
          "a date-time",
          (value) => expect(type.dateTime(value)).to.equal(invoice["expiresAt"]),
        ],
      ],
      () => invoiceIn(open),
    );

    testFields(
      "CheckoutSession.receipt",
      [
        ["invoiceId", "a string", (value) => expect(value).to.equal(invoice["publicId"])],
        [
          "amount",
          "a string with an amount",
          (value) => expect(type.amount(value)).to.equal("25.00"),
        ],
        [
          "paidAmount",
          "a string with an amount",
          (value) => expect(type.amount(value)).to.equal("25.00"),
        ],
        ["settlementCurrency", "a string", (value) => expect(value).to.equal("USD")],
        ["tokenSymbol", "a string", (value) => expect(value).to.equal("USDT")],
        ["network", "a string", (value) => expect(value).to.equal("sandbox")],
        [
          "paidAt",
          "a date-time",
          async (value) => {
            const { body } = await shop.home("GET", `/invoices/${String(invoice["id"])}`);
            expect(type.dateTime(value)).to.equal(body["paidAt"]);
          },
        ],
        [
          "transactionHashes",
          "an array of strings",
          (value) => {
            type.array(value).forEach(type.string);
            expect(value).to.have.lengthOf(1).and.to.deep.equal(transactionHashes);
          },
        ],
      ],
      () => receiptIn(paid),
    );

    it("§2 CheckoutSession has no receipt before the invoice is paid", () => {
      expect([open.body["receipt"], confirming.body["receipt"]]).to.deep.equal([null, null]);
    });

    it("§2 CheckoutSession.invoice.status is an InvoiceStatus, of which draft is one value", async () => {
      const { body } = await world().estate.app.request("GET", "/v1/openapi.json");
      const { schemas } = body["components"] as { schemas: Readonly<Record<string, Json>> };
      const properties = type.object(schemas["CheckoutInvoice"]?.["properties"]);
      expect(properties["status"]).to.include({ $ref: "#/components/schemas/InvoiceStatus" });
      expect(schemas["InvoiceStatus"]?.["enum"]).to.include("draft");
    });

    it("§4.3 is GET /checkout/{checkoutId} without a body, and answers 200 application/json", () => {
      expect(open.status).to.equal(200);
      expect(open.headers.get("Content-Type")).to.match(/^application\/json\b/);
    });

    it("§4.3 answers the same whoever asks, and is not found by another identifier", async () => {
      expect((await shop.ask("GET", `/checkout/${String(invoice["checkoutId"])}`)).text).to.equal(
        paid.text,
      );
      for (const id of [invoice["id"], invoice["publicId"], "chk_0", "x".repeat(64)]) {
        expectProblem(await shop.ask("GET", `/checkout/${String(id)}`), 404, "not_found");
      }
    });
  });

  describe("an invoice", () => {
    it("§3 has the named status draft", async () => {
      const draft = await issue(await world().merchant(), { draft: true });
      expect(draft).to.include({ status: "draft", checkoutId: null, checkoutUrl: null });
    });

    it("§3 has its fields updated while it is a draft, and not once it is issued", async () => {
      const shop = await world().merchant();
      const { id } = await issue(shop, { draft: true });
      const path = `/invoices/${String(id)}`;
      const changes = { amount: "30.00", description: "Two books", externalId: "order 1" };
      const updated = await expectStatus(shop.home("PATCH", path, changes), 200);
      expect(updated.body).to.include({ id, status: "draft", ...changes });
      await expectStatus(shop.home("PATCH", path, { status: "open" }), 200);
      const refused = await shop.home("PATCH", path, { amount: "1.00" });
      expect(refused.status, refused.text).to.equal(409);
      expect((await shop.home("GET", path)).body).to.include({ status: "open", amount: "30.00" });
    });

    for (const draft of [true, false]) {
      it(`§3 is canceled ${draft ? "while it is a draft" : "after it was issued"}`, async () => {
        const shop = await world().merchant();
        const { id } = await issue(shop, { draft });
        const path = `/invoices/${String(id)}`;
        const { body } = await expectStatus(shop.home("POST", `${path}/cancel`), 200);
        expect(body).to.include({ id, status: "canceled" });
        type.dateTime(body["canceledAt"]);
        expect((await shop.home("GET", path)).body).to.deep.equal(body);
      });
    }
  });
}

/** TRON has no chain in these tests: its newest block is written to the store as by a watcher. */
export function tronTests(): void {
  eachStore("the seed's network tron", (store) => {
    it("§2 CheckoutSession.invoice.network has the value tron, issued with either credential", async () => {
      const app = await startApp({
        place: await store.place("migrated"),
        settings: { TILL_NETWORKS: "tron" },
        background: false,
      });
      try {
        await seeBlock(app, "tron");
        const merchant = await approvedMerchant(app);
        const wallet = { network: "tron", address: "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE" };
        await merchant.addWallet(wallet);
        for (const credential of [{ key: merchant.key }, { token: merchant.token }]) {
          const body = { ...order, network: "tron" };
          const issued = app.request("POST", `${merchant.path}/invoices`, { ...credential, body });
          const { checkoutId } = (await expectStatus(issued, 201)).body;
          const session = await app.request("GET", `/v1/checkout/${String(checkoutId)}`);
          expect(type.object(session.body["invoice"])).to.include({
            network: "tron",
            walletAddress: wallet.address,
            status: "open",
          });
        }
      } finally {
        await app.stop();
      }
    });
  });
}

async function seeBlock({ app, clock }: TestApp, network: string): Promise<void> {
  const chainId = app.config.networks.find(({ id }) => id === network)?.chainId ?? 0;
  const [height, hash, at] = [1_000, "00".repeat(32), clock.now()];
  await app.db.write(testContext, (tx) =>
    tx.insert(stateTable, {
      network,
      chainId,
      cursorHeight: height,
      cursorHash: hash,
      cursorTime: at,
      tipHeight: height,
      tipHash: hash,
      tipTime: at,
      tipSeenAt: at,
      headHeight: height,
      scannedAt: at,
      usualLagMs: 0,
      disabledTokens: [],
      version: 1,
    }),
  );
}
