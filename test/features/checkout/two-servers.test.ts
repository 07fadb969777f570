import { expect } from "chai";
import {
  approvedMerchant,
  expectStatus,
  startApp,
  type Merchant,
  type TestApp,
} from "../../support/app.ts";
import { eachStore } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { pressOnPage } from "../../support/sandbox.ts";

eachStore("A checkout that two servers show", (store) => {
  let one: TestApp;
  let other: TestApp;
  let merchant: Merchant;

  before(async () => {
    const place = await store.place("migrated");
    const settings = {
      TILL_SANDBOX_BLOCK_MS: "0",
      TILL_VERIFICATION: "off",
      TILL_BASE_URL: "https://pay.example",
    };
    one = await startApp({ place, settings });
    other = await startApp({ place, settings, background: false });
    merchant = await approvedMerchant(one);
    await merchant.addWallet({ address: `0x${"c0ffee".padStart(40, "5")}` });
  });
  after(async () => {
    await one.stop();
    await other.stop();
  });

  const issue = async (amount: string) =>
    (await merchant.issue({ amount })) as Record<"id" | "checkoutId", string>;

  const look = async (app: TestApp, checkoutId: string) =>
    (await expectStatus(app.request("GET", `/v1/checkout/${checkoutId}`), 200)).body;

  it("shows at once what the other server has changed, and the same bytes while nothing has", async () => {
    const { id, checkoutId } = await issue("10.00");
    const target = `/v1/checkout/${checkoutId}`;
    const first = await other.request("GET", target);
    const again = await other.request("GET", target);
    expect(again.text).to.equal(first.text);
    expect(again.headers.get("ETag")).to.equal(first.headers.get("ETag"));

    await expectStatus(merchant.post(`/invoices/${id}/cancel`), 200);
    const canceled = await other.request("GET", target);
    expect(canceled.body["state"]).to.equal("canceled");
    expect(canceled.headers.get("ETag")).not.to.equal(first.headers.get("ETag"));
    const page = await (await fetch(`${other.url}/pay/${checkoutId}`)).text();
    expect(page).to.contain('data-state="canceled"');
  });

  it("shows transactions that were submitted to the other server", async () => {
    const { checkoutId } = await issue("11.00");
    await look(one, checkoutId);
    const body = { transactionHash: "ab".repeat(32) };
    await expectStatus(
      other.request("POST", `/v1/checkout/${checkoutId}/transactions`, { body }),
      202,
    );
    const { submittedTransactions } = await look(one, checkoutId);
    expect(submittedTransactions).to.have.length(1);
  });

  it("shows payments and confirmations that the other server has read", async () => {
    const { checkoutId } = await issue("12.00");
    expect(await look(other, checkoutId)).to.include({ state: "awaiting" });
    await pressOnPage(one, checkoutId, "pay");
    await pressOnPage(one, checkoutId, "mine");
    const paid = await until(
      "the payment",
      () => look(one, checkoutId),
      ({ state }) => state === "confirming",
    );
    const seen = await look(other, checkoutId);
    expect(seen["transactions"]).to.deep.equal(paid["transactions"]);
    await pressOnPage(one, checkoutId, "mine");
    const more = await until(
      "another confirmation",
      () => look(one, checkoutId),
      (session) => (session["confirmationProgress"] as { current: number }).current === 2,
    );
    expect(await look(other, checkoutId)).to.deep.equal(more);
  });

  it("shows the merchant's new name", async () => {
    const { checkoutId } = await issue("13.00");
    await look(other, checkoutId);
    const body = { displayName: "The New Shop" };
    await expectStatus(one.request("PATCH", merchant.path, { token: merchant.token, body }), 200);
    expect(await look(other, checkoutId)).to.include({ merchantDisplayName: "The New Shop" });
  });
});
