import { expect } from "chai";
import { requireCheckout } from "../../../src/features/checkout/cache.ts";
import { reorganizeSandbox } from "../../../src/features/payments/sandbox/sandbox.ts";
import { verifySigned, type KeySet } from "../../../src/features/receipts/signed-text.ts";
import { systemActor } from "../../../src/kernel/actor.ts";
import {
  approvedMerchant,
  expectStatus,
  startApp,
  type Merchant,
  type TestApp,
} from "../../support/app.ts";
import { testContext } from "../../support/store/stores.ts";
import { xpubs } from "../../support/merchants.ts";
import { payInvoice, pressOnPage } from "../../support/sandbox.ts";
import { until } from "../../support/until.ts";

interface Session {
  readonly id: string;
  readonly invoice: Readonly<Record<string, string>>;
  readonly confirmationProgress: { readonly current: number; readonly required: number };
  readonly receipt: { readonly transactionHashes: readonly string[] } | null;
}

describe("a checkout of the whole program", () => {
  let app: TestApp;
  let merchant: Merchant;

  before(async () => {
    // Blocks come on command, so that every state can be looked at.
    app = await startApp({
      settings: { TILL_SANDBOX_BLOCK_MS: "0", TILL_BASE_URL: "https://pay.example/till" },
    });
    merchant = await approvedMerchant(app);
    await merchant.addWallet({ xpub: xpubs.first });
  });
  after(() => app.stop());

  const issue = async () => String((await merchant.issue())["checkoutId"]);

  async function look(checkoutId: string): Promise<Session> {
    const answer = await expectStatus(app.request("GET", `/v1/checkout/${checkoutId}`), 200);
    return answer.body as unknown as Session;
  }

  async function press(checkoutId: string, action: string, done = action): Promise<void> {
    const { headers } = await pressOnPage(app, checkoutId, action);
    expect(headers.get("location")).to.equal(`/till/pay/${checkoutId}?done=${done}`);
  }

  const reaches = (checkoutId: string, status: string): Promise<Session> =>
    until(
      `${status} of the invoice`,
      () => look(checkoutId),
      ({ invoice }) => invoice["status"] === status,
    );

  async function pageOf(checkoutId: string): Promise<string> {
    return (await fetch(`${app.url}/pay/${checkoutId}`)).text();
  }

  async function mine(checkoutId: string, blocks: number): Promise<void> {
    for (let block = 0; block < blocks; block += 1) await press(checkoutId, "mine");
  }

  it("is paid, confirmed block by block, and shows its receipt", async () => {
    const checkoutId = await issue();
    expect(await look(checkoutId)).to.deep.include({ id: checkoutId, receipt: null });
    expect(await pageOf(checkoutId)).to.contain('data-state="awaiting"');
    await press(checkoutId, "pay");
    await mine(checkoutId, 1);
    const seen = await reaches(checkoutId, "confirming");
    expect(seen.confirmationProgress).to.deep.equal({ current: 1, required: 3 });
    expect(await pageOf(checkoutId)).to.contain("Confirmations: 1 of 3");
    await mine(checkoutId, 2);
    const paid = await reaches(checkoutId, "paid");
    expect(paid.invoice).to.include({ paidAmount: "25.00", remainingAmount: "0.00" });
    const [hash = ""] = paid.receipt?.transactionHashes ?? [];
    expect(hash).to.match(/^0x[0-9a-f]{64}$/);
    expect(await pageOf(checkoutId))
      .to.contain('data-state="paid"')
      .and.to.contain(hash);
  });

  it("signs what is to be paid, and then what was paid", async () => {
    const checkoutId = await issue();
    const read = (what: string) => app.request("GET", `/v1/checkout/${checkoutId}/${what}`);
    const keys = await app.request("GET", "/.well-known/jwks.json");
    expect(keys.headers.get("content-type")).to.equal("application/jwk-set+json");
    const published = keys.body as unknown as KeySet;

    expect((await expectStatus(read("receipt"), 409)).body["code"]).to.equal("not_paid");
    const request = (await expectStatus(read("payment-request"), 200)).body;
    const { invoice } = await look(checkoutId);
    const asked = await verifySigned(request["jws"] as string, published);
    expect(asked).to.deep.include({ kind: "payment_request", claims: request["claims"] });
    expect(asked.claims).to.include({
      iss: "https://pay.example/till",
      checkoutId,
      walletAddress: invoice["walletAddress"],
      remainingAmount: invoice["remainingAmount"],
    });

    await press(checkoutId, "underpay");
    await mine(checkoutId, 3);
    await reaches(checkoutId, "partially_paid");
    expect((await expectStatus(read("payment-request"), 200)).body["claims"]).to.include({
      remainingAmount: "12.50",
    });
    await press(checkoutId, "pay");
    await mine(checkoutId, 3);
    const paid = await reaches(checkoutId, "paid");
    expect((await expectStatus(read("payment-request"), 409)).body["code"]).to.equal(
      "nothing_to_pay",
    );
    const receipt = (await expectStatus(read("receipt"), 200)).body;
    const verified = await verifySigned(receipt["jws"] as string, published);
    expect(verified).to.deep.include({ kind: "receipt", claims: receipt["claims"] });
    expect(verified.claims).to.deep.include({
      checkoutId,
      paidAmount: "25.00",
      receivedAmount: "25.00",
      transactionHashes: paid.receipt?.transactionHashes,
    });
    const file = await fetch(`${app.url}/pay/${checkoutId}/receipt.txt`);
    expect(file.headers.get("content-disposition")).to.match(/^attachment; filename="receipt-/);
    expect(await verifySigned(await file.text(), published)).to.include({ kind: "receipt" });
    expect(await pageOf(checkoutId)).to.contain(`href="/till/pay/${checkoutId}/receipt.txt"`);

    // A further payment that a reorganization may still remove is not signed.
    const { view } = await requireCheckout(app.app, checkoutId);
    await payInvoice(app, view.invoice.id, 1_000_000n);
    await mine(checkoutId, 1);
    await until(
      "the payment",
      () => look(checkoutId),
      ({ invoice }) => invoice["receivedAmount"] === "26.00",
    );
    expect((await expectStatus(read("receipt"), 409)).body["code"]).to.equal("not_paid");
    await mine(checkoutId, 2);
    await until(
      "the receipt",
      () => read("receipt"),
      ({ status }) => status === 200,
    );
    const unknown = `chk_${"0".repeat(32)}`;
    await expectStatus(app.request("GET", `/v1/checkout/${unknown}/receipt`), 404);
    await expectStatus(app.request("GET", `/v1/checkout/${unknown}/payment-request`), 404);
  });

  it("accepts the rest after an underpayment", async () => {
    const checkoutId = await issue();
    await press(checkoutId, "underpay");
    await mine(checkoutId, 1);
    const short = await reaches(checkoutId, "partially_paid");
    expect(short.invoice).to.include({ paidAmount: "12.50", remainingAmount: "12.50" });
    expect(await pageOf(checkoutId)).to.contain('data-state="partly_paid"');
    await press(checkoutId, "pay");
    await mine(checkoutId, 3);
    const paid = await reaches(checkoutId, "paid");
    expect(paid.receipt?.transactionHashes).to.have.length(2);
  });

  it("states an overpayment", async () => {
    const checkoutId = await issue();
    await press(checkoutId, "overpay");
    await mine(checkoutId, 3);
    await reaches(checkoutId, "paid");
    expect(await pageOf(checkoutId))
      .to.contain('data-state="overpaid"')
      .and.to.contain("1.00 USDT too much");
  });

  it("waits for a payment that a reorganization removed, and asks again once it cannot return", async () => {
    const checkoutId = await issue();
    await press(checkoutId, "pay");
    await mine(checkoutId, 5);
    await reaches(checkoutId, "paid");
    // Another invoice's newer payment is not where the reorganization begins.
    const other = await issue();
    await press(other, "pay");
    await mine(other, 1);
    await press(checkoutId, "reorganize");
    const open = await reaches(checkoutId, "open");
    expect(open.receipt).to.equal(null);
    const waiting = await pageOf(checkoutId);
    expect(waiting)
      .to.contain('data-state="reverted"')
      .and.to.contain("Please don&#39;t pay again");
    expect(waiting).not.to.contain('id="amount"');
    await press(checkoutId, "reorganize", "no-payment");
    // The sandbox is final 32 blocks below its tip.
    await mine(checkoutId, 40);
    const asking = await until(
      "another state",
      () => pageOf(checkoutId),
      (page) => !page.includes('data-state="reverted"'),
    );
    expect(asking)
      .to.contain('data-state="awaiting"')
      .and.to.contain("Check your wallet before you pay again");
  });

  it("shows a payment again that returns after a reorganization", async () => {
    const checkoutId = await issue();
    await press(checkoutId, "pay");
    await mine(checkoutId, 3);
    await reaches(checkoutId, "paid");
    const context = { actor: systemActor("tests"), requestId: null, ip: null };
    await reorganizeSandbox(app.app, context, 3, { drop: false });
    await reaches(checkoutId, "open");
    expect(await pageOf(checkoutId)).to.contain('data-state="reverted"');
    await mine(checkoutId, 3);
    await reaches(checkoutId, "paid");
    expect(await pageOf(checkoutId)).to.contain('data-state="paid"');
  });

  it("expires, and shows a payment that arrived nevertheless", async () => {
    const checkoutId = await issue();
    await press(checkoutId, "expire");
    await mine(checkoutId, 1);
    await reaches(checkoutId, "expired");
    expect(await pageOf(checkoutId)).to.contain('data-state="expired_unpaid"');
    await press(checkoutId, "pay");
    await mine(checkoutId, 3);
    await reaches(checkoutId, "paid");
    expect(await pageOf(checkoutId)).to.contain('data-state="paid_late"');
  });

  it("says that nothing can be paid once its network was removed from the table", async () => {
    const checkoutId = await issue();
    const moveTo = (network: string) =>
      app.app.db.write(testContext, (tx) =>
        tx.run("UPDATE invoices SET network = $1, version = version + 1 WHERE checkout_id = $2", [
          network,
          checkoutId,
        ]),
      );
    await moveTo("retired");
    const session = await look(checkoutId);
    expect(session).to.deep.include({ state: "cannot_check", nextAction: "contact_merchant" });
    const page = await fetch(`${app.url}/pay/${checkoutId}`);
    expect(page.status).to.equal(200);
    expect(await page.text()).to.contain("send USDT on retired:");
    const request = app.request("GET", `/v1/checkout/${checkoutId}/payment-request`);
    expect((await expectStatus(request, 409)).body["code"]).to.equal("nothing_to_pay");
    const entered = await fetch(`${app.url}/pay/${checkoutId}/transactions`, {
      method: "POST",
      body: new URLSearchParams({ transactionHash: "ab".repeat(32) }),
      redirect: "manual",
    });
    expect(entered.status).to.equal(303);
    expect(await pageOf(checkoutId)).to.contain("looking for this transaction");
    await moveTo("sandbox");
  });

  it("is canceled by its merchant", async () => {
    const checkoutId = await issue();
    const [invoice] = await merchant.list("/invoices?limit=1");
    await expectStatus(merchant.post(`/invoices/${String(invoice?.["id"])}/cancel`), 200);
    await reaches(checkoutId, "canceled");
    expect(await pageOf(checkoutId)).to.contain('data-state="canceled"');
  });

  it("contains links to its public address", async () => {
    const checkoutId = await issue();
    const { invoice } = await look(checkoutId);
    expect(invoice["checkoutUrl"]).to.equal(`https://pay.example/till/pay/${checkoutId}`);
    expect(await pageOf(checkoutId)).to.contain('href="/till/pay/assets/checkout.');
  });
});
