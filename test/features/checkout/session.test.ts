import { expect } from "chai";
import { en } from "./shipped-languages.ts";
import { makePageModel } from "../../../src/features/checkout/page/page-model.ts";
import { renderCheckout } from "../../../src/features/checkout/page/render.ts";
import {
  checkoutStates,
  mayChooseOption,
  nextActionOf,
  noticesOf,
  stateOf,
} from "../../../src/features/checkout/rules.ts";
import { versionOf } from "../../../src/features/checkout/session.ts";
import { OptionLimitReached } from "../../../src/features/invoices/errors.ts";
import { hour, minute } from "../../../src/kernel/clock.ts";
import type { NetworkState } from "../../../src/platform/chain/state/network-state.ts";
import {
  aHash,
  aPayment,
  aRefund,
  aState,
  anInvoice,
  checkoutId,
  inUsdt,
  openLab,
  organizationId,
  startOfTime,
  type Lab,
  type LabNetwork,
} from "./lab.ts";
import { received, scenes } from "./scenes.ts";

const path = `/v1/checkout/${checkoutId}`;

interface Amount {
  readonly amount: string;
  readonly tokenSymbol: string;
}

interface Session {
  readonly state: string;
  readonly nextAction: string;
  readonly notices: readonly string[];
  readonly canRequestRefund: boolean;
  readonly refundable: Readonly<Record<string, string>> | null;
  readonly invoice: Readonly<Record<string, string>>;
  readonly qrCode: string;
  readonly paymentUri: string | null;
  readonly paymentInstructions: string;
  readonly arrivedAmounts: readonly Amount[];
  readonly transactions: readonly (Amount & { readonly transactionHash: string })[];
  readonly receipt: (Readonly<Record<string, unknown>> & { transactionHashes: string[] }) | null;
}

describe("getCheckoutSession", () => {
  let lab: Lab;
  afterEach(() => lab.close());

  async function open(network: LabNetwork = "tron"): Promise<Lab> {
    lab = await openLab(network);
    return lab;
  }

  async function session(): Promise<Session> {
    const answer = await lab.get(path);
    expect(answer.status).to.equal(200);
    return (await answer.json()) as Session;
  }

  async function inScene(name: string, network: LabNetwork = "tron"): Promise<Session> {
    await open(network);
    scenes.find((scene) => scene.name === name)?.set(lab, network);
    return session();
  }

  it("returns what the payer needs, and nothing else", async () => {
    await open();
    expect(await session()).to.deep.equal({
      id: checkoutId,
      state: "awaiting",
      nextAction: "pay",
      notices: [],
      options: [],
      invoice: {
        id: "P7K2-9QXD-4MTR",
        reference: "P7K2-9QXD",
        description: null,
        externalId: null,
        status: "open",
        amount: "25.00",
        paidAmount: "0.00",
        settlementCurrency: "USD",
        tokenSymbol: "USDT",
        network: "tron",
        walletAddress: "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
        checkoutUrl: `https://pay.example/shop/pay/${checkoutId}`,
        expiresAt: "2026-11-21T10:30:00.000Z",
        payableAmount: "25.0001",
        remainingAmount: "25.0001",
        receivedAmount: "0.00",
        excessAmount: "0.00",
      },
      qrCode: "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
      paymentUri: null,
      walletTransfer: {
        walletStandard: "tip-6963",
        chainId: "0x2b6653dc",
        tokenContract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
        tokenDecimals: 6,
        recipient: "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
        units: "25000100",
        data:
          "0xa9059cbb000000000000000000000000a2726afbecbd8e936000ed684cef5e2f5cf43008" +
          "00000000000000000000000000000000000000000000000000000000017d78a4",
      },
      paymentInstructions:
        "Send 25.0001 USDT on TRON (TRC-20) to TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE. Exactly 25.0001 USDT must arrive: if you pay from an exchange, that is the amount which it shows as received after its fee.",
      merchantDisplayName: "Café Zürich",
      merchantWebsite: null,
      merchantContactEmail: null,
      merchantAccentColor: null,
      merchantLogoPath: null,
      networkTitle: "TRON",
      networkCoin: "TRX",
      isAddressShared: true,
      tokenStandard: "TRC-20",
      isTest: false,
      confirmationProgress: { current: 0, required: 19 },
      confirmationSeconds: null,
      lastCheckedAt: null,
      arrivedAmounts: [],
      transactions: [],
      submittedTransactions: [],
      canRequestRefund: false,
      refundable: null,
      refunds: [],
      redirectUrl: null,
      receipt: null,
    });
  });

  for (const { name, state, nextAction } of scenes) {
    it(`names the state and the payer's next step: ${name}`, async () => {
      const found = await inScene(name);
      expect(found).to.include({ state, nextAction });
      expect(found.paymentInstructions.startsWith("Send ")).to.equal(nextAction === "pay");
    });

    it(`holds everything that the page shows: ${name}`, async () => {
      const record = (await inScene(name)) as never;
      const { at } = lab.world;
      const context = {
        basePath: "",
        text: en,
        languageQuery: "",
        at,
        hasSandbox: false,
        notice: null,
        pageToken: lab.pageToken,
        allowedOrigins: [],
        version: versionOf(record),
      };
      const { html } = renderCheckout(makePageModel(record, context));
      expect(await (await fetch(lab.page)).text()).to.equal(html);
    });
  }

  for (const name of ["in review", "late and not accepted yet", "cannot check now"]) {
    it(`changes its tag at once, so that pages which poll show it: ${name}`, async () => {
      await open();
      const tag = (await lab.get(path)).headers.get("ETag") ?? "";
      scenes.find((scene) => scene.name === name)?.set(lab, "tron");
      lab.world.at += 1_000;
      const answer = await lab.get(path, { "If-None-Match": tag });
      expect(answer.status).to.equal(200);
    });
  }

  it("keeps its tag while blocks pass in which nothing happens", async () => {
    await open();
    const tag = (await lab.get(path)).headers.get("ETag") ?? "";
    lab.world.at += 30_000;
    lab.world.networkState = aState("tron", lab.world.at);
    expect((await lab.get(path, { "If-None-Match": tag })).status).to.equal(304);
  });

  it("says when the last block was read, and that confirmations may be behind", async () => {
    expect(await inScene("cannot check now")).to.include({
      lastCheckedAt: "2026-11-21T09:30:00.000Z",
    });
    await lab.close();
    await open();
    lab.world.payments = [aPayment({ status: "confirming" })];
    lab.change({ status: "confirming" });
    lab.world.at += 20 * minute;
    expect(await session()).to.deep.include({
      notices: ["network_delayed"],
      confirmationSeconds: 57,
    });
  });

  it("lets the payer look in the wallet before paying again after a payment was lost, then says what to pay", async () => {
    await open();
    lab.world.payments = [aPayment({ status: "reverted" })];
    lab.change({ exception: "reverted" });
    const lost = await session();
    expect(lost).to.deep.include({ nextAction: "pay", notices: ["payment_reverted"] });
    expect(lost.paymentInstructions).to.match(
      /^The network has taken a payment back\. Look in your wallet before you pay again: .* Send 25\.0001 USDT on /,
    );
    lab.change({ exception: "none" });
    expect((await session()).paymentInstructions).to.match(/^Send 25\.0001 USDT on /);
  });

  it("changes its state exactly at the deadline, without being loaded again", async () => {
    await open();
    lab.world.at = startOfTime + hour - 1;
    lab.world.networkState = aState("tron", lab.world.at);
    expect(await session()).to.include({ state: "awaiting", nextAction: "pay" });
    lab.world.at += 1;
    expect(await session()).to.include({ state: "cannot_check", nextAction: "check_again" });
    expect(lab.world.loads).to.equal(1);
  });

  it("puts chain, token, address and remaining amount into a payment URI on EVM networks, and the bare address into the code", async () => {
    const { qrCode, paymentUri } = await inScene("partly paid", "ethereum");
    expect(qrCode).to.equal("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");
    expect(paymentUri).to.equal(
      "ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed&uint256=15000100",
    );
  });

  it("asks for the remaining amount", async () => {
    const { invoice, paymentInstructions } = await inScene("partly paid");
    expect(invoice).to.include({
      status: "partially_paid",
      paidAmount: "10.00",
      payableAmount: "25.0001",
      remainingAmount: "15.0001",
    });
    expect(paymentInstructions).to.contain("Send 15.0001 USDT");
  });

  it("returns a receipt with the transactions that count, once it is paid", async () => {
    const { receipt, invoice } = await inScene("paid", "ethereum");
    expect(receipt).to.deep.equal({
      invoiceId: invoice["id"],
      amount: "25.00",
      paidAmount: "25.00",
      settlementCurrency: "USD",
      tokenSymbol: "USDT",
      network: "ethereum",
      paidAt: "2026-11-21T09:31:00.000Z",
      transactionHashes: [`0x${aHash("a")}`, `0x${aHash("b")}`],
    });
  });

  for (const name of ["in review", "late and not accepted yet", "canceled, and money came"]) {
    it(`says how much has arrived while the merchant has not decided: ${name}`, async () => {
      const { arrivedAmounts, invoice } = await inScene(name);
      expect(arrivedAmounts).to.deep.equal([{ amount: "25.0001", tokenSymbol: "USDT" }]);
      expect(invoice["receivedAmount"]).to.equal("0.00");
      expect(await (await fetch(lab.page)).text()).to.match(
        /<dt>Received<\/dt>\n<dd><bdi>25\.0001 USDT</,
      );
    });
  }

  it("adds what waits to what counts, and keeps tokens apart", async () => {
    await inScene("partly paid");
    lab.world.payments = [
      ...lab.world.payments,
      aPayment({ status: "review", amount: 5_000_000n }),
      aPayment({ status: "review", token: "DAI", tokenDecimals: 18, amount: 2n * 10n ** 18n }),
      // The token has other decimals on another network.
      aPayment({ status: "review", tokenDecimals: 18, amount: 3n * 10n ** 18n }),
      aPayment({ status: "rejected", amount: 1_000_000n }),
      aPayment({ status: "reverted", amount: 1_000_000n }),
    ];
    lab.world.at += 1_000;
    expect((await session()).arrivedAmounts).to.deep.equal([
      { amount: "18.00", tokenSymbol: "USDT" },
      { amount: "2.00", tokenSymbol: "DAI" },
    ]);
  });

  it("names each transaction once, with the sum of its payments", async () => {
    await inScene("paid");
    lab.world.payments = [
      aPayment({ amount: 10_000_000n }),
      aPayment({ amount: 2_500_000n }),
      aPayment({ transactionHash: aHash("b"), amount: 12_500_100n }),
    ];
    lab.world.at += 1_000;
    const { transactions, receipt } = await session();
    expect(
      transactions.map(({ transactionHash, amount }) => [transactionHash, amount]),
    ).to.deep.equal([
      [aHash("a"), "12.50"],
      [aHash("b"), "12.5001"],
    ]);
    expect(receipt?.transactionHashes).to.deep.equal([aHash("a"), aHash("b")]);
    const page = await (await fetch(lab.page)).text();
    for (const { amount } of transactions) {
      expect(page).to.contain(`<dd translate="no"><bdi dir="ltr">${amount} USDT</bdi>`);
    }
  });

  it("formats hashes without a prefix on TRON", async () => {
    const { receipt } = await inScene("paid");
    expect(receipt?.transactionHashes).to.deep.equal([aHash("a"), aHash("b")]);
  });

  for (const name of ["confirming", "paid", "overpaid", "expired unpaid", "canceled"]) {
    it(`asks for nothing when it is ${name}`, async () => {
      const { qrCode, paymentUri, paymentInstructions } = await inScene(name, "ethereum");
      expect(paymentUri).to.equal(null);
      expect(qrCode).to.equal("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");
      expect(paymentInstructions).to.match(/Do not send anything/);
      expect(paymentInstructions).not.to.match(/Send \d/);
    });
  }

  it("tells the payer of a canceled invoice that a payment has arrived, and who decides", async () => {
    const { paymentInstructions } = await inScene("canceled, and money came", "ethereum");
    expect(paymentInstructions).to.match(/a payment has arrived, which .+ will review/);
    expect(paymentInstructions).to.match(/Do not send anything else/);
  });

  it("names the money that has arrived once nothing can be paid, and its refund as the next step", async () => {
    await open();
    const rejected = aPayment({ status: "rejected", amount: inUsdt("12.50").units });
    const shown = async (changes: Parameters<Lab["change"]>[0]) => {
      lab.world.at = startOfTime + hour;
      lab.change(changes);
      const { state, nextAction, notices, paymentInstructions: words } = await session();
      return { state, nextAction, notices, words };
    };
    lab.world.payments = [rejected];
    const expired = await shown({ status: "expired" });
    expect(expired).to.include({ state: "expired_unpaid", nextAction: "request_refund" });
    expect(expired.words).to.match(/12\.50 USDT has arrived .* Ask for the refund/);
    // On a network that was removed, no address for the refund can be checked.
    lab.world.payments = [{ ...rejected, network: "removed" }];
    lab.change({});
    expect(await session()).to.include({ nextAction: "request_new_link", canRequestRefund: false });
    // Beside the payments that paid the invoice: there is money left over although it is paid.
    const enough = { id: "pay_01jd7v0000000000000000000b", transactionHash: aHash("b") } as const;
    lab.world.payments = [rejected, aPayment(enough)];
    const paid = await shown({ status: "paid", ...received("25.0001"), paidAt: startOfTime });
    expect(paid).to.include({ state: "paid", nextAction: "request_refund" });
    expect(paid.words).to.match(/^The invoice is paid, and 12\.50 USDT more .* Ask for the refund/);
    expect(await (await fetch(lab.page)).text()).to.include("Ask for 12.50 USDT back");
    // One payment of too much: the session and the page name the same amount.
    const more = aPayment({ amount: inUsdt("26.0001").units });
    lab.world.payments = [more];
    const over = await shown({ ...received("26.0001") });
    expect(over.words).to.match(/^The invoice is paid, and 1\.00 USDT more has arrived/);
    expect(await (await fetch(lab.page)).text()).to.include("Ask for 1.00 USDT back");
    // Two refunds are one sum, and the rest can be asked for.
    const units = (amount: string) => inUsdt(amount).units;
    lab.world.payments = [{ ...more, refunded: units("0.40") }];
    lab.world.refunds = ["0.30", "0.10"].map((amount) =>
      aRefund({ paymentId: more.id, status: "confirmed", amount: units(amount) }),
    );
    const left = await shown({});
    expect(left.words).to.match(
      /^0\.40 USDT was sent back\. The invoice is paid, and 0\.60 USDT more/,
    );
    expect((await session()).refundable).to.include({ amount: "0.60", tokenSymbol: "USDT" });
    const page = await (await fetch(lab.page)).text();
    expect(page).to.include("Ask for 0.60 USDT back");
    lab.world.payments = [more];
    lab.world.refunds = [];
    // An addition by rounding between options is not returned, as the ledger decides too.
    lab.change({ excessSlack: units("1.00") });
    expect((await session()).refundable).to.equal(null);
    lab.change({ excessSlack: 0n });
    // Rejected by the merchant, who says why.
    const reason = "Not your address";
    lab.world.refunds = [aRefund({ paymentId: more.id, status: "rejected", reason })];
    const again = await shown({});
    expect(again.nextAction).to.equal("request_refund");
    expect(again.words).to.match(/^.+ rejected .+ “Not your address”\. .+ 1\.00 USDT more .+ Ask/);
    // One before was sent back.
    lab.world.payments = [{ ...more, refunded: units("0.40") }];
    lab.world.refunds.push(
      aRefund({ paymentId: more.id, status: "confirmed", amount: units("0.40") }),
    );
    expect((await shown({})).words).to.match(
      /^0\.40 USDT was sent back\. .+ rejected .+ 0\.60 USDT more .+ Ask/,
    );
    // Requested, then sent.
    lab.world.payments = [{ ...more, refundRequested: inUsdt("1.00").units }];
    const refund = { paymentId: more.id, amount: inUsdt("1.00").units };
    lab.world.refunds = [aRefund(refund)];
    expect((await shown({})).words).to.match(/^The invoice is paid\. A refund was requested/);
    lab.world.refunds = [aRefund({ ...refund, status: "sent" })];
    const sent = await shown({});
    expect(sent.nextAction).to.equal("wait");
    expect(sent.words).to.equal(
      "The invoice is paid. Your refund of 1.00 USDT is on its way. Do not send anything.",
    );
    const before = aRefund({ ...refund, status: "confirmed", amount: units("0.40") });
    lab.world.refunds = [aRefund({ ...refund, status: "sent" }), before];
    expect((await shown({})).words).to.equal(
      "0.40 USDT was sent back. The invoice is paid. Your refund of 1.00 USDT is on its way. Do not send anything.",
    );
    // The payer waits for the refund that the merchant has not sent.
    lab.world.refunds = [aRefund({ ...refund, status: "sent" }), aRefund(refund)];
    expect((await shown({})).words).to.match(/^The invoice is paid\. A refund was requested/);
    lab.world.refunds = [aRefund({ ...refund, status: "confirmed" })];
    lab.world.payments = [{ ...more, refunded: inUsdt("1.00").units }];
    expect((await shown({})).words).to.equal(
      "1.00 USDT was sent back. The invoice is paid. Do not send anything else.",
    );
    // The refund of an expired invoice's part takes the part from the invoice.
    lab.world.payments = [{ ...rejected, refunded: rejected.amount }];
    lab.world.refunds = [aRefund({ status: "confirmed", amount: rejected.amount })];
    const returned = await shown({
      status: "expired",
      paidAt: null,
      ...received("0.00", "25.0001"),
    });
    expect(returned).to.include({ state: "expired_unpaid", nextAction: "request_new_link" });
    expect(returned.words).to.match(
      /^12\.50 USDT was sent back\. The invoice has expired\. Do not send anything; ask Café Zürich /,
    );
    const declined = aRefund({ status: "rejected", reason: "Not yours", amount: rejected.amount });
    lab.world.refunds = [declined, ...lab.world.refunds];
    expect((await shown({})).words).to.equal(returned.words);
    lab.world.refunds = [];
    lab.world.payments = [{ ...rejected, isSpare: false, isMoved: true }];
    const moved = await shown({});
    expect(moved.notices).to.deep.equal(["payment_moved"]);
    expect(moved.words).to.match(
      /has expired, and Café Zürich has moved the payment .* to another invoice\. Do not send/,
    );
    expect((await shown({ status: "canceled" })).words).to.match(/is canceled, and .* has moved/);
    const rest = await shown({ status: "canceled", owed: inUsdt("4.00") });
    expect(rest.words).not.to.include("moved");
    expect(rest.notices).to.deep.equal([]);
    await shown({ owed: inUsdt("0.00") });
    // A part that is not confirmed, whose refund nobody can ask for yet.
    lab.world.payments = [aPayment({ status: "confirming", amount: inUsdt("10.00").units })];
    const part = await shown({ status: "expired", paidAt: null, ...received("10.00", "15.0001") });
    expect(part).to.include({ state: "expired_partly_paid", nextAction: "wait" });
    expect(part.words).to.match(
      /10\.00 USDT has arrived .* refund on this payment's page in some minutes/,
    );
    // The chain is final without the payment.
    lab.world.payments = [aPayment({ status: "reverted" })];
    const gone = await shown({ exception: "reverted", ...received("0.00", "25.0001") });
    expect(gone).to.include({ state: "expired_unpaid", nextAction: "request_new_link" });
    expect(gone.words).to.match(/taken its payment back.* ask Café Zürich for a new invoice/);
  });

  it("lets the payer ask for the rest of a payment once its open refund has ended", async () => {
    await open();
    const [all, part] = [inUsdt("16.665").units, inUsdt("10.00").units];
    const payment = aPayment({ status: "rejected", amount: all });
    lab.world.at = startOfTime + hour;
    for (const status of ["requested", "sent", "confirmed"] as const) {
      const counts = status === "requested" ? { refundRequested: part } : { refunded: part };
      lab.world.payments = [{ ...payment, ...counts }];
      lab.world.refunds = [aRefund({ paymentId: payment.id, status, amount: part })];
      lab.change({ status: "expired", owed: inUsdt("6.665") });
      const isOver = status === "confirmed";
      expect(await session(), status).to.include({
        nextAction: isOver ? "request_refund" : "wait",
        canRequestRefund: isOver,
      });
    }
  });

  it("lets the payer wait while an excess is not confirmed, unless nobody can ask for it here", async () => {
    await open();
    const second = aPayment({
      id: "pay_01jd7v0000000000000000000b",
      transactionHash: aHash("b"),
      status: "confirming",
    });
    lab.world.payments = [aPayment(), second];
    for (const exception of ["overpaid", "late"] as const) {
      const twice = { ...received("50.0002"), paidAt: startOfTime, managedBy: null };
      lab.change({ status: "paid", exception, ...twice });
      const waiting = await session();
      expect(waiting.nextAction, exception).to.equal("wait");
      expect(waiting.paymentInstructions).to.match(
        /^The invoice is paid, and more has arrived .* rest on this payment's page in some minutes/,
      );
      expect(await (await fetch(lab.page)).text()).to.include(
        "You can ask for a refund here in some minutes",
      );
      lab.change({ managedBy: "billing" });
      expect(await session()).to.include({ nextAction: "contact_merchant" });
    }
    lab.world.payments = [aPayment(), { ...second, status: "confirmed" }];
    lab.change({ managedBy: null });
    expect(await session()).to.include({ nextAction: "request_refund" });
    // Beside a paid invoice, a payment that was not accepted, in a block that is not final.
    const other = { ...second, isSpare: false, blockHeight: 900_000_000 };
    lab.world.payments = [aPayment(), { ...other, status: "rejected" }];
    lab.change({ ...received("25.0001"), exception: "none", owed: inUsdt("25.0001") });
    expect(await session()).to.include({ state: "paid", nextAction: "wait" });
    lab.world.payments = [aPayment(), { ...other, status: "rejected", refunded: second.amount }];
    lab.change({ owed: inUsdt("0.00") });
    expect(await session()).to.include({ state: "paid", nextAction: "none" });
  });

  it("lets the payer wait while the refund of a payment that was not accepted cannot be requested yet", async () => {
    await open();
    lab.world.at = startOfTime + hour;
    lab.world.payments = [aPayment({ status: "rejected", isSpare: false })];
    lab.change({ status: "expired", owed: inUsdt("25.0001") });
    const waiting = await session();
    expect(waiting).to.include({ state: "expired_unpaid", nextAction: "wait" });
    expect(waiting.paymentInstructions).to.match(
      /^25\.0001 USDT can be returned to you: it does not count.* ask for the refund/,
    );
    lab.change({ status: "canceled" });
    const canceled = await session();
    expect(canceled).to.include({ state: "canceled", nextAction: "wait" });
    expect(canceled.paymentInstructions).to.equal(waiting.paymentInstructions);
    lab.change({ status: "expired", owed: inUsdt("0.00") });
    const over = await session();
    expect(over.nextAction).to.equal("request_new_link");
    expect(over.paymentInstructions).to.match(
      /^The invoice has expired\. Do not send anything\. If you have paid, .* can still appear; contact Café Zürich .* If you have not, ask/,
    );
    // Final, and yet nothing that the payer can ask for.
    lab.world.payments = [aPayment({ status: "rejected", isSpare: false, blockHeight: 900 })];
    lab.change({ owed: inUsdt("25.0001") });
    const left = await session();
    expect(left.nextAction).to.equal("contact_merchant");
    expect(left.paymentInstructions).to.match(/only Café Zürich can return/);
  });

  it("leaves a payment to the merchant who has rejected too many requests, in each state", async () => {
    await open();
    lab.world.at = startOfTime + hour;
    lab.world.contactEmail = "help@cafe.example";
    const spare = aPayment({
      status: "rejected",
      amount: inUsdt("12.50").units,
      blockHeight: 900,
    });
    const shown = async (
      payment: ReturnType<typeof aPayment>,
      changes: Parameters<Lab["change"]>[0],
    ) => {
      lab.world.payments = [payment];
      lab.world.leftToMerchant = [payment.id];
      lab.world.refunds = [
        aRefund({ paymentId: payment.id, status: "rejected", reason: "Not this <address>" }),
      ];
      lab.change(changes);
      const { canRequestRefund, nextAction, state, paymentInstructions } = await session();
      // A payer who cannot ask again has no use for the reason.
      expect(paymentInstructions, state).not.to.contain("rejected");
      expect({ canRequestRefund, nextAction }, state).to.deep.equal({
        canRequestRefund: false,
        nextAction: "contact_merchant",
      });
      const page = await (await fetch(lab.page)).text();
      expect(page).to.include("Reason: Not this &lt;address&gt;").and.include("help@cafe.example");
      return page.replace(/<[^>]*>/g, "");
    };
    const owed = inUsdt("12.50");
    for (const status of ["expired", "canceled"] as const) {
      expect(await shown(spare, { status, owed }))
        .to.include("received 12.50 USDT")
        .and.include("To get 12.50 USDT back, contact");
    }
    const counted = aPayment({ amount: inUsdt("10.00").units });
    const part = {
      status: "expired",
      owed: inUsdt("10.00"),
      ...received("10.00", "15.0001"),
    } as const;
    expect(await shown(counted, part)).to.include("about the 10.00 USDT");
    const more = aPayment({ amount: inUsdt("26.0001").units });
    const paid = { status: "paid", paidAt: startOfTime, ...received("26.0001") } as const;
    expect(await shown(more, { ...paid, owed: inUsdt("1.00") })).to.include(
      "To get 1.00 USDT back",
    );
  });

  it("offers the refund of a payment that a rule has matched before one whose hash was submitted", async () => {
    await open();
    lab.world.at = startOfTime + hour;
    const matched = aPayment({ status: "rejected", amount: inUsdt("5.00").units });
    const submitted = aPayment({
      id: "pay_01jd7v0000000000000000000b",
      transactionHash: aHash("b"),
      status: "review",
      rule: "submitted_hash",
      amount: inUsdt("7.00").units,
    });
    const offered = async (...payments: readonly ReturnType<typeof aPayment>[]) => {
      lab.world.payments = [...payments];
      lab.change({ status: "canceled" });
      return (await session()).refundable?.["amount"];
    };
    expect(await offered(submitted, matched)).to.equal("5.00");
    expect(await offered(submitted)).to.equal("7.00");
    // The merchant, who has declined it once, knows that it is not the payer's.
    lab.world.leftToMerchant = [submitted.id];
    expect(await offered(submitted)).to.equal(undefined);
    expect(await offered(submitted, matched)).to.equal("5.00");
    lab.world.leftToMerchant = [matched.id];
    expect(await offered(submitted, matched)).to.equal("7.00");
    expect(await session()).to.include({ canRequestRefund: true });
    lab.world.leftToMerchant = [];
    lab.change({ status: "paid", ...received("25.0001"), paidAt: startOfTime });
    expect((await session()).paymentInstructions).to.contain("and 5.00 USDT more has arrived");
  });

  it("asks a wallet for nothing while one of the submitted transactions is looked for", async () => {
    await open();
    lab.world.claims = [
      { transactionHash: aHash("b"), result: "failed" },
      { transactionHash: aHash("c"), result: "unknown" },
    ];
    lab.change({});
    expect(await session()).to.deep.include({ nextAction: "pay", walletTransfer: null });
    lab.world.claims = lab.world.claims.slice(0, 1);
    lab.change({});
    expect(await session()).not.to.deep.include({ walletTransfer: null });
  });

  it("is done after the refund of an excess, and not before", async () => {
    await open();
    const [amount, refunded] = [inUsdt("26.0001").units, inUsdt("1.00").units];
    lab.world.payments = [aPayment({ amount, refunded })];
    lab.change({
      status: "paid",
      ...received("26.0001"),
      paidAt: startOfTime,
      owed: inUsdt("1.00"),
    });
    expect((await session()).nextAction).to.equal("contact_merchant");
    lab.change({ owed: inUsdt("0.00") });
    expect((await session()).nextAction, "not confirmed yet").to.equal("contact_merchant");
    lab.world.refunds = [aRefund({ status: "confirmed", amount: refunded, network: "ethereum" })];
    expect((await session()).nextAction).to.equal("none");
  });

  it("asks for nothing after the deadline, even if the network was not read since", async () => {
    await open();
    lab.world.at = startOfTime + hour;
    expect((await session()).paymentInstructions).to.contain("Do not send anything now");
  });

  it("is current in every response, and is loaded only when it has changed", async () => {
    await open();
    await Promise.all(Array.from({ length: 100 }, () => session()));
    const loads = lab.world.loads;
    lab.world.invoice = anInvoice("tron", { status: "canceled" });
    expect((await session()).invoice["status"]).to.equal("canceled");
    await session();
    expect(lab.world.loads).to.equal(loads + 1);
  });

  it("counts confirmations with the network's blocks, without being loaded again", async () => {
    await open();
    lab.world.invoice = anInvoice("tron", {
      status: "confirming",
      confirmations: { current: 1, required: 19 },
    });
    expect(await session()).to.deep.include({ confirmationSeconds: 54 });
    const before = lab.world.loads;
    lab.world.networkState = { ...aState("tron", startOfTime), tipHeight: 1_004 };
    lab.world.invoice = { ...lab.world.invoice, confirmations: { current: 5, required: 19 } };
    expect(await session()).to.deep.include({ confirmationSeconds: 42 });
    expect(lab.world.loads).to.equal(before);
  });

  it("answers 304 while nothing has changed", async () => {
    await open();
    const tag = (await lab.get(path)).headers.get("ETag") ?? "";
    lab.world.at += 5_000;
    expect((await lab.get(path, { "If-None-Match": tag })).status).to.equal(304);
    lab.change({ status: "canceled" });
    expect((await lab.get(path, { "If-None-Match": tag })).status).to.equal(200);
  });

  it("answers 404 for an unknown checkout, without a query if the id is malformed", async () => {
    await open();
    for (const id of ["chk_short", "inv_01jd7v0000000000000000000a", "chk_%27%20OR%201", "x"]) {
      expect((await lab.get(`/v1/checkout/${id}`)).status, id).to.equal(404);
    }
    expect(lab.world.looks).to.equal(0);
    const unknown = `/v1/checkout/${checkoutId.replace("0", "1")}`;
    const answer = await lab.get(unknown);
    expect(answer.status).to.equal(404);
    expect(answer.headers.get("content-type")).to.contain("application/problem+json");
    await lab.get(unknown);
    expect(lab.world.looks, "missing checkouts are not cached").to.equal(2);
  });

  it("takes an option by its network and token, each of 1 to 40 characters", async () => {
    await open();
    lab.world.choiceRefusal = new OptionLimitReached("Full.");
    const [long, tooLong] = ["x".repeat(40), "x".repeat(41)];
    for (const [network, tokenSymbol, status] of [
      ["tron", "USDT", 409],
      [long, long, 409],
      ["", "USDT", 400],
      ["tron", "", 400],
      [tooLong, "USDT", 400],
      ["tron", tooLong, 400],
    ] as const) {
      const answer = await fetch(`${lab.url}${path}/option`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ network, tokenSymbol }),
      });
      expect(answer.status, `${network} ${tokenSymbol}`).to.equal(status);
    }
  });

  it("refuses unknown query parameters", async () => {
    await open();
    expect((await lab.get(`${path}?nonsense=1`)).status).to.equal(400);
  });

  it("shows a merchant's name literally and hides private data", async () => {
    await open();
    lab.world.merchantName = `<b>"Ünï" & Söhne</b>`;
    const text = await (await lab.get(path)).text();
    expect(JSON.parse(text)).to.include({ merchantDisplayName: `<b>"Ünï" & Söhne</b>` });
    expect(text).not.to.contain(organizationId);
    expect(text).not.to.contain("inv_");
  });
});

describe("the state of a checkout", () => {
  const now = startOfTime + hour;
  const network = { id: "ethereum", isTest: false, blockTimeMs: 12_000, pollMs: 1_000 };
  const of = (
    invoice: Partial<Parameters<typeof stateOf>[0]["invoice"]>,
    payments: Parameters<typeof stateOf>[0]["payments"],
    at = now,
  ) =>
    stateOf(
      {
        invoice: { ...anInvoice("ethereum"), expiresAt: now, exception: "none", ...invoice },
        payments,
        submitted: [],
        network,
        networkState: null,
        isAccepted: true,
      },
      at,
    );
  const inReview = { ...aPayment({ status: "review", blockTime: now }), network: network.id };
  const late = { ...inReview, blockTime: now + 1 };

  it("says that a payment in review is late only if it came after the deadline", () => {
    for (const status of ["open", "expired"] as const) {
      expect(of({ status }, [inReview]), status).to.equal("in_review");
      expect(of({ status }, [late]), status).to.equal("late_review");
      expect(of({ status, exception: "late" }, [inReview]), status).to.equal("late_review");
      expect(of({ status }, [late, inReview]), status).to.equal("late_review");
    }
  });

  it("is unknown once blocks or polls are late by more than ten of both, of a fast network by more than a minute", () => {
    const slow = { ...network, blockTimeMs: 12_000, pollMs: 1_000 };
    const fast = { ...network, blockTimeMs: 3_000, pollMs: 1_000 };
    const stateAfter = (pace: typeof network, progress: Partial<NetworkState>) =>
      stateOf(
        {
          invoice: { ...anInvoice("ethereum"), expiresAt: now + 1, exception: "none" },
          payments: [],
          submitted: [],
          network: pace,
          networkState: { ...aState("ethereum", now), ...progress },
          isAccepted: true,
        },
        now,
      );
    for (const [pace, lagMs] of [
      [slow, 130_000],
      [fast, minute],
    ] as const) {
      for (const read of ["scannedAt", "tipSeenAt"] as const) {
        expect(stateAfter(pace, { [read]: now - lagMs }), read).to.equal("awaiting");
        expect(stateAfter(pace, { [read]: now - lagMs - 1 }), read).to.equal("cannot_check");
      }
      // Blocks of the test network come on command.
      const test = { ...pace, isTest: true };
      expect(stateAfter(test, { tipSeenAt: 0 })).to.equal("awaiting");
      expect(stateAfter(test, { scannedAt: now - lagMs - 1 })).to.equal("cannot_check");
    }
  });

  it("names a refund as the next step only where nothing can be paid and the merchant decides nothing", () => {
    const inputs = {
      invoice: { ...anInvoice("ethereum"), expiresAt: now },
      payments: [],
      network,
      networkState: null,
      isAccepted: true,
    };
    const [requestable, rejected] = [{ canRequestRefund: true }, { isLeftToMerchant: true }];
    const none = { canRequestRefund: false, isLeftToMerchant: false, refunds: [] };
    const nextOf = (refunds: Partial<Parameters<typeof nextActionOf>[2]>, changes = {}) =>
      Object.fromEntries(
        checkoutStates.map((state) => [
          state,
          nextActionOf(state, { ...inputs, ...changes }, { ...none, ...refunds }, now - 1),
        ]),
      );
    const busy = {
      awaiting: "pay",
      partly_paid: "pay",
      cannot_check: "pay",
      confirming: "wait",
      in_review: "wait",
      late_review: "wait",
      canceled_review: "wait",
      reverted: "wait",
    };
    const over = [
      "paid",
      "overpaid",
      "paid_late",
      "expired_unpaid",
      "expired_partly_paid",
      "canceled",
    ];
    const all = (action: string) => ({
      ...busy,
      ...Object.fromEntries(over.map((state) => [state, action])),
    });
    expect(nextOf(requestable)).to.deep.equal(all("request_refund"));
    expect(nextOf(rejected)).to.deep.equal(all("contact_merchant"));
    for (const status of ["requested", "sent"] as const) {
      expect(nextOf({ refunds: [{ status: "rejected" }, { status }] }), status).to.deep.equal(
        all("wait"),
      );
    }
    const usual = {
      ...all("contact_merchant"),
      paid: "none",
      paid_late: "none",
      expired_unpaid: "request_new_link",
    };
    expect(nextOf({ refunds: [{ status: "rejected" }] })).to.deep.equal(usual);
    expect(nextOf({}, { isAccepted: false })).to.deep.equal({
      ...usual,
      cannot_check: "contact_merchant",
    });
    expect(nextOf({ canRequestRefund: true }, { isAccepted: false })).to.include({
      cannot_check: "contact_merchant",
    });
    const owed = { invoice: { ...inputs.invoice, owed: inUsdt("5.00") } };
    expect(nextOf({}, owed)).to.deep.equal({ ...usual, expired_unpaid: "contact_merchant" });
    // One refund was confirmed, and another one rejected.
    const paid = { invoice: { ...inputs.invoice, status: "paid" } };
    const returned = { refunds: [{ status: "confirmed" }, { status: "rejected" }] } as const;
    expect(nextOf(returned, paid)).to.deep.equal(all("none"));
    expect(nextOf(returned)).to.deep.equal(usual);
  });

  it("expects a payment on another network back for an hour, as its blocks are not looked at", () => {
    const gone = {
      ...inReview,
      status: "reverted",
      isExpectedBack: true,
      network: "tron",
    } as const;
    expect(of({ status: "expired" }, [gone], now + hour - 1)).to.equal("reverted");
    expect(of({ status: "expired" }, [gone], now + hour)).to.match(/^expired/);
    expect(of({ status: "expired" }, [{ ...gone, isExpectedBack: false }])).to.match(/^expired/);
  });

  it("lets the payer wait for a refund only of a payment that was not accepted and is not final, on its network", () => {
    const rejected = { ...inReview, status: "rejected", blockHeight: 901 } as const;
    const next = (payment: typeof inReview, networkState: NetworkState | null) =>
      nextActionOf(
        "expired_unpaid",
        {
          invoice: { ...anInvoice("ethereum"), expiresAt: now, owed: inUsdt("5.00") },
          payments: [payment],
          network,
          networkState,
          isAccepted: true,
        },
        { canRequestRefund: false, isLeftToMerchant: false, refunds: [] },
        now,
      );
    const state = aState("ethereum", now);
    for (const [payment, isComing] of [
      [rejected, true],
      [{ ...rejected, blockHeight: 900 }, false],
      [{ ...rejected, status: "reverted" }, false],
      [{ ...rejected, network: "tron" }, false],
      // A part is left that was neither requested nor refunded.
      [{ ...rejected, refundRequested: 10n, refunded: rejected.amount - 11n }, true],
      [{ ...rejected, refundRequested: 10n, refunded: rejected.amount - 10n }, false],
    ] as const) {
      const expected = isComing ? "wait" : "contact_merchant";
      expect(next(payment, state), `${payment.status} on ${payment.network}`).to.equal(expected);
    }
    // Nothing is final on a network that was never read.
    expect(next({ ...rejected, blockHeight: 0 }, null)).to.equal("wait");
  });

  it("says that another amount arrived only if no amount of the invoice explains it", () => {
    const amounts = (...texts: readonly string[]) =>
      texts.map((text) => ({ ...inReview, amount: inUsdt(text).units }));
    const notices = (
      payments: Parameters<typeof stateOf>[0]["payments"],
      [received = "0.00", remaining = "25.0001"]: readonly string[] = [],
      isAddressShared = true,
    ) => {
      const sums = { received: inUsdt(received), remaining: inUsdt(remaining) };
      const invoice = { ...anInvoice("ethereum", { isAddressShared }), ...sums };
      const inputs = { invoice, payments, submitted: [], network, networkState: null };
      return noticesOf({ ...inputs, isAccepted: true }, "in_review", now);
    };
    const part = ["10.00", "15.0001"];
    for (const [payments, sums, isOther] of [
      [amounts("25.0001"), [], false],
      [amounts("24.50"), [], true],
      [amounts("15.0001"), part, false],
      [amounts("15.0001"), ["10.00", "14.00"], false],
      [amounts("14.00"), ["10.00", "14.00"], false],
      [amounts("35.0001"), part, true],
      [amounts("10.00", "15.0001"), [], false],
      [amounts("10.00", "5.00"), part, true],
      [[...amounts("5.00"), { ...inReview, status: "confirmed" as const }], part, true],
      [amounts("24.50").map((one) => ({ ...one, token: "USDC" })), [], false],
      [amounts("24.50").map((one) => ({ ...one, network: "tron" })), [], false],
      [[...amounts("24.50"), { ...inReview, token: "USDC" }], [], false],
    ] as const) {
      const expected = isOther ? ["other_amount"] : [];
      expect(notices(payments, sums), String(payments[0]?.amount)).to.deep.equal(expected);
      expect(notices(payments, sums, false)).to.deep.equal([]);
    }
  });

  it("lets the payer choose another option while something may be paid, or nobody reads the one in force", () => {
    const invoice = { ...anInvoice("ethereum"), expiresAt: now };
    const choosing = (isAccepted: boolean, at: number) =>
      checkoutStates.filter((state) => mayChooseOption(state, { invoice, isAccepted }, at));
    const paying = ["awaiting", "partly_paid"];
    expect(choosing(true, now - 1)).to.deep.equal([...paying, "cannot_check"]);
    expect(choosing(false, now - 1)).to.deep.equal([...paying, "cannot_check"]);
    // Nothing is asked for after the deadline, although the state may follow later.
    expect(choosing(true, now)).to.deep.equal(paying);
    expect(choosing(false, now)).to.deep.equal(paying);
  });

  it("is remarked on by nothing once the invoice is paid", () => {
    const invoice = { ...anInvoice("ethereum"), exception: "reverted" } as const;
    const submitted = [{ result: "failed" }] as const;
    const inputs = {
      invoice,
      payments: [],
      submitted,
      network,
      networkState: null,
      isAccepted: true,
    };
    for (const state of ["paid", "overpaid", "paid_late"] as const) {
      expect(noticesOf(inputs, state, now), state).to.deep.equal([]);
    }
    expect(noticesOf(inputs, "awaiting", now)).to.include("payment_reverted");
  });

  it("says that the payment was moved only once nothing can be paid any more", () => {
    const moved = { ...inReview, status: "rejected", isMoved: true } as const;
    const inputs = {
      invoice: anInvoice("ethereum"),
      payments: [moved, { ...moved, isMoved: false }],
      submitted: [],
      network,
      networkState: null,
      isAccepted: true,
    };
    const told = checkoutStates.filter((state) =>
      noticesOf(inputs, state, now).includes("payment_moved"),
    );
    expect(told).to.deep.equal(["expired_unpaid", "canceled"]);
  });
});
