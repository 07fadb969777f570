import { expect } from "chai";
import {
  NotRefundable,
  RefundAddressRefused,
  RefundTooEarly,
  TooManyRefundRequests,
} from "../../../src/features/refunds/errors.ts";
import { invalidFields } from "../../../src/kernel/errors.ts";
import { StoreUnavailable } from "../../../src/platform/database/errors.ts";
import { expectStatus } from "../../support/app.ts";
import { anyStore } from "../../support/store/stores.ts";
import { openDesk } from "../../support/counter.ts";
import { aHash, aPayment, checkoutId, inUsdt, openLab, type Lab } from "./lab.ts";
import { scenes } from "./scenes.ts";

const hash = aHash("a");
const address = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";

anyStore("the form for a refund", (store) => {
  const desk = openDesk(store, { TILL_BASE_URL: "https://pay.example/shop" });

  it("shows the offer first, and stores only what the payer has confirmed", async () => {
    const invoice = await desk.issue();
    const path = `/pay/${String(invoice["checkoutId"])}`;
    const pageToken = desk.pageToken(invoice);
    await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
    const paidHash = await desk.paid(invoice);
    const amount = String(invoice["payableAmount"]);
    const payer = `0x${desk.newAddress()}`;
    const send = (fields: Record<string, string>, query = "") =>
      fetch(`${desk.counter.app.url}${path}/refund${query}`, {
        method: "POST",
        body: new URLSearchParams({
          transactionHash: paidHash,
          address: payer,
          pageToken,
          ...fields,
        }),
        redirect: "manual",
      });
    const offer = await send({}, "?lang=de");
    expect(offer.status).to.equal(200);
    expect(await offer.text())
      .to.contain(`action="/shop${path}/refund?lang=de"`)
      .and.to.contain(`href="/shop${path}?lang=de"`)
      .and.to.contain(`name="pageToken" value="${pageToken}"`)
      .and.to.contain(`name="amount" value="${amount}"`);
    // Another amount than the payer has seen is shown again.
    expect(await (await send({ amount: "6.00" })).text()).to.contain(`value="${amount}"`);
    expect(await desk.refunds()).to.deep.equal([]);
    const done = await send({ amount });
    expect(done.headers.get("location")).to.equal(`/shop${path}?refund=received#top`);
    const stored = await desk.refundOf(invoice);
    expect(stored).to.include({ amount, status: "requested", requestedBy: "payer" });
    expect(String(stored["address"]).toLowerCase()).to.equal(payer);
    for (const fields of [{}, { amount }]) {
      const answer = await send(fields, "?lang=de");
      expect(answer.headers.get("location")).to.equal(`/shop${path}?refund=already&lang=de#top`);
    }
    expect(await desk.refunds()).to.have.length(1);
  });
});

describe("the form for a refund", () => {
  let lab: Lab;
  beforeEach(async () => {
    lab = await openLab("tron", { basePath: "/shop" });
    scenes.find(({ name }) => name === "overpaid")?.set(lab, "tron");
  });
  afterEach(() => lab.close());

  const send = (fields: Record<string, string>, query = "") =>
    fetch(`${lab.page}/refund${query}`, {
      method: "POST",
      body: new URLSearchParams({
        transactionHash: hash,
        address,
        pageToken: lab.pageToken,
        ...fields,
      }),
      redirect: "manual",
    });
  const unescape = (html: string) => html.replaceAll("&#39;", "'");

  it("has a token that only the page of its own payment has", async () => {
    const shown = (html: string) => /name="pageToken" value="([\w-]{22})"/.exec(html)?.[1];
    expect(shown(await (await fetch(lab.page)).text())).to.equal(lab.pageToken);
    const session = await lab.get(`/v1/checkout/${checkoutId}`);
    expect(await session.text()).not.to.include(lab.pageToken);
    for (const pageToken of ["", checkoutId, `${lab.pageToken}x`, lab.pageToken.slice(1)]) {
      for (const amount of [{}, { amount: "5.00" }]) {
        expect((await send({ ...amount, pageToken })).status, pageToken).to.equal(403);
      }
    }
  });

  const malformed = (...pointers: readonly string[]) =>
    invalidFields(
      pointers.map((pointer) => ({ pointer, code: "invalid_format", message: "is wrong" })),
    );
  for (const [what, refusal, field, words] of [
    ["nothing is left", new NotRefundable("None."), "refund-hash", "find anything to refund"],
    [
      "it is too early",
      new RefundTooEarly("Soon."),
      "refund-hash",
      "still confirming your payment",
    ],
    [
      "the address is the merchant's",
      new RefundAddressRefused("No."),
      "refund-address",
      "would not reach you",
    ],
    [
      "the address is none",
      malformed("/address"),
      "refund-address",
      "doesn't look like an address on TRON (TRC-20)",
    ],
    ["the hash is none", malformed("/transactionHash"), "refund-hash", "64 characters"],
    ["both are none", malformed("/address", "/transactionHash"), "refund-hash", "64 characters"],
  ] as const) {
    it(`says beside the field what is wrong, and keeps what was entered: ${what}`, async () => {
      lab.world.refundRefusal = refusal;
      const page = unescape(await (await send({})).text());
      expect(page).to.match(/<details class="\w+" id="refund-form" open>/);
      const [, said = "", beside] =
        /id="refund-error">([^<]*)<\/p>\s*<input id="([\w-]+)"/.exec(page) ?? [];
      expect(said).to.contain(words).and.not.to.contain("{");
      expect(beside).to.equal(field);
      for (const given of [hash, address]) expect(page).to.contain(` value="${given}"`);
      expect(page).not.to.contain('role="alert">');
    });
  }

  it("names the network of what it offers, which may be another one than the invoice's", async () => {
    const spare = { id: "pay_01jd7v0000000000000000000b", status: "rejected" } as const;
    lab.world.payments = [aPayment(), aPayment({ ...spare, network: "ethereum" })];
    lab.change({ received: inUsdt("25.0001") });
    lab.world.refundRefusal = malformed("/address");
    expect(unescape(await (await send({})).text())).to.contain(
      "That doesn't look like an address on Ethereum (ERC-20).",
    );
  });

  it("is refused above the page where it is not shown", async () => {
    scenes.find(({ name }) => name === "canceled")?.set(lab, "tron");
    lab.world.payments = [];
    lab.change({});
    lab.world.refundRefusal = new NotRefundable("None.");
    const page = unescape(await (await send({})).text());
    expect(page).to.match(/<p class="ribbon" role="alert">We can't find anything to refund/);
    expect(page).not.to.contain('id="refund-form"');
  });

  it("leads to the payment, which says the rest, after too many requests, and to a page of its own after a failure", async () => {
    lab.world.refundRefusal = new TooManyRefundRequests("Three.");
    const answer = await send({});
    expect(answer.headers.get("location")).to.equal(`/shop/pay/${checkoutId}#top`);
    for (const [failure, status] of [
      [new StoreUnavailable("the disk is full"), 503],
      [new Error("a defect"), 500],
    ] as const) {
      lab.world.refundRefusal = failure;
      expect((await send({})).status).to.equal(status);
    }
  });
});
