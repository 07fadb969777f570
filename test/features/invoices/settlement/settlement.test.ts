import { expect } from "chai";
import { lockTerms } from "../../../../src/features/invoices/settlement/settlement.ts";
import { cancelInvoice, getInvoice } from "../../../../src/features/invoices/invoices.ts";
import {
  matchHolds,
  type ChainEvidence,
} from "../../../../src/features/invoices/holds/matching.ts";
import { noPayments, type PaymentTotals } from "../../../../src/features/invoices/rules.ts";
import { type InvoiceView, presentInvoice } from "../../../../src/features/invoices/records.ts";
import {
  watchedAddresses,
  watchedAmong,
} from "../../../../src/features/invoices/holds/addresses.ts";
import { holds } from "../../../../src/features/invoices/table.ts";
import { findWallet } from "../../../../src/features/wallets/store.ts";
import { archiveWallet } from "../../../../src/features/wallets/wallets.ts";
import { day, hour, second } from "../../../../src/kernel/clock.ts";
import { parseAddress } from "../../../../src/platform/chain/tron/kind.ts";
import { auditLogs } from "../../../../src/platform/audit/chain.ts";
import { events } from "../../../../src/platform/events/outbox.ts";
import { xpubs } from "../../../support/merchants.ts";
import { networkOf, openLedger, refusal, type Ledger } from "../../../support/ledger.ts";
import { expectDigits, longChain, unseen, usdt } from "../../../support/amounts.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";

const address = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";
const secondAddress = "TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL";

function canonical(shown: string | null): string {
  const parsed = parseAddress(shown ?? "");
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.address;
}

/** Amounts in USDT, which has 6 decimals. */

eachStore("an invoice's payments", (store) => {
  const it = takeTurns(store);
  store.leavesUnsound({
    checks: ["payments.ledger"],
    because: "the tests credit payments without transfers",
  });

  let shop: Ledger;
  beforeEach(async () => {
    shop = await openLedger(await store.open(), "tron", "ethereum");
    await shop.scan("tron");
  });

  const settle = async (
    totals: ReadonlyMap<InvoiceView, Partial<PaymentTotals>>,
    tipHeight = 1_000,
  ) => {
    const state = await shop.scan("tron", tipHeight);
    const whole = new Map(
      [...totals].map(([{ id }, some]) => [id, { ...noPayments, ...some }] as const),
    );
    await shop.settle("tron", whole, state);
  };
  const read = (invoice: InvoiceView) => getInvoice(shop.app, shop.organizationId, invoice.id);
  const shown = async (invoice: InvoiceView) => presentInvoice(await read(invoice));
  const told = async (invoice: InvoiceView) => {
    const rows = await shop.db.find(events, "WHERE object_id = $1 ORDER BY id", [invoice.id]);
    return rows.map(({ type, payload }) =>
      [type, payload["previousStatus"], payload["status"]].filter(Boolean).join(" "),
    );
  };
  const match = async (
    amount: bigint,
    at = address,
    more: { token?: string; time?: number | null; chain?: ChainEvidence; height?: number } = {},
  ) => {
    const found = await shop.db.write(testContext, (tx) =>
      matchHolds(
        tx,
        networkOf(shop, "tron"),
        [
          {
            key: "it",
            token: more.token ?? "USDT",
            address: canonical(at),
            amount,
            blockTime: more.time === undefined ? shop.now() : more.time,
            ...unseen,
            blockHeight: more.height ?? unseen.blockHeight,
          },
        ],
        more.chain ?? longChain,
      ),
    );
    return found.get("it") ?? null;
  };

  it("move it from open to paid, with one event for each change", async () => {
    await shop.addWallet("tron", { address });
    const invoice = await shop.create();
    const seen = usdt(25);
    await settle(new Map([[invoice, { seen, latestBlock: 990, completedAt: 5_000 }]]));
    expect(await shown(invoice)).to.deep.include({
      status: "confirming",
      exception: "none",
      paidAmount: "25.00",
      paidTokenAmount: "25.00",
      remainingAmount: "0.00",
      paidAt: null,
      confirmationProgress: { current: 11, required: 19 },
    });
    await shop.scan("tron", 1_005);
    expect((await shown(invoice)).confirmationProgress).to.deep.equal({
      current: 16,
      required: 19,
    });
    // A new tip alone changes nothing in the store.
    const before = await read(invoice);
    await settle(new Map([[invoice, { seen, latestBlock: 990, completedAt: 5_000 }]]), 1_005);
    expect(await read(invoice)).to.deep.equal(before);
    await settle(
      new Map([[invoice, { seen, confirmed: seen, latestBlock: 990, completedAt: 5_000 }]]),
      1_008,
    );
    expect(await shown(invoice)).to.deep.include({
      status: "paid",
      paidAt: "1970-01-01T00:00:05.000Z",
      confirmationProgress: { current: 19, required: 19 },
    });
    expect(await told(invoice)).to.deep.equal([
      "invoice.created open",
      "invoice.confirming open confirming",
      "invoice.paid confirming paid",
    ]);
    const entries = await shop.db.find(auditLogs, "WHERE target_id = $1 ORDER BY id", [invoice.id]);
    expect(entries.at(-1)).to.deep.include({
      action: "invoice.paid",
      changes: { status: { from: "confirming", to: "paid" } },
    });
  });

  it("in parts leave a remaining amount that differs from those of other invoices", async () => {
    await shop.addWallet("tron", { address });
    const invoice = await shop.create();
    const small = await shop.create({ amount: "15" });
    await settle(new Map([[invoice, { seen: usdt(10), latestBlock: 990 }]]));
    const partly = await shown(invoice);
    expect(partly).to.include({
      status: "partially_paid",
      exception: "none",
      paidAmount: "10.00",
    });
    const rest = expectDigits(partly.remainingAmount, "15.00");
    expect(await match(usdt(15))).to.include({ invoiceId: small.id, rule: "exact_amount" });
    expect(await match(rest)).to.include({
      invoiceId: invoice.id,
      rule: "exact_amount",
    });
    expect(await match(usdt(25))).to.include({ invoiceId: invoice.id });
    const [hold] = await shop.db.find(holds, "WHERE invoice_id = $1 AND amount < $2", [
      invoice.id,
      "0".repeat(70) + "25000000",
    ]);
    expect(hold?.endsAt).to.equal((invoice.expiresAt ?? 0) + 7 * day);
    // The same total keeps the remaining amount; a larger one needs another.
    await settle(new Map([[invoice, { seen: usdt(10), latestBlock: 991 }]]));
    expect(await shown(invoice)).to.include({ remainingAmount: partly.remainingAmount });
    await settle(new Map([[invoice, { seen: usdt(20), latestBlock: 991 }]]));
    expect(await shown(invoice)).to.include({ remainingAmount: "5.00" });
    expect(await told(invoice)).to.deep.equal([
      "invoice.created open",
      "invoice.partially_paid open partially_paid",
      "invoice.payment_detected partially_paid partially_paid",
    ]);
  });

  it("at an exclusive address count whatever their amounts", async () => {
    const wallet = await shop.addWallet("tron", { xpub: xpubs.first });
    const [one, two] = [await shop.create(), await shop.create()];
    const found = await match(1n, two.walletAddress ?? "", { token: "USDC" });
    expect(found).to.include({ invoiceId: two.id, rule: "exclusive_address" });
    await settle(
      new Map([
        [one, { seen: usdt(30), confirmed: usdt(30), completedAt: 1 }],
        [two, { seen: usdt(10) }],
      ]),
    );
    expect(await shown(one)).to.include({
      status: "paid",
      exception: "overpaid",
      paidAmount: "30.00",
    });
    expect(await shown(two)).to.include({ status: "partially_paid", remainingAmount: "15.00" });
    expect(await findWallet(shop.db, shop.organizationId, wallet.id)).to.include({
      nextIndex: 2,
      highestPaidIndex: 1,
    });
    expect((await told(one)).at(-1)).to.equal("invoice.overpaid open paid");
  });

  it("that a reorganization removes leave it as it was before, with an event", async () => {
    await shop.addWallet("tron", { address });
    const invoice = await shop.create();
    const whole = { seen: usdt(25), confirmed: usdt(25), latestBlock: 900, completedAt: 7 };
    await settle(new Map([[invoice, whole]]));
    await settle(new Map([[invoice, { isReverted: true }]]));
    expect(await shown(invoice)).to.include({
      status: "open",
      exception: "reverted",
      paidAmount: "0.00",
      remainingAmount: "25.00",
      paidAt: null,
    });
    expect(await match(usdt(25))).to.include({ invoiceId: invoice.id });
    await settle(new Map([[invoice, whole]]));
    expect(await shown(invoice)).to.include({ status: "paid", exception: "none" });
    expect(await told(invoice)).to.deep.equal([
      "invoice.created open",
      "invoice.paid open paid",
      "invoice.reverted paid open",
      "invoice.paid open paid",
    ]);
  });

  it("of many invoices are settled together", async () => {
    await shop.addWallet("tron", { address });
    const made = await Promise.all(Array.from({ length: 60 }, () => shop.create()));
    await settle(
      new Map(
        made.map((invoice) => {
          const seen = invoice.payableAmount ?? 0n;
          return [invoice, { seen, confirmed: seen, completedAt: 1 }];
        }),
      ),
    );
    for (const invoice of made) {
      expect(await shown(invoice)).to.include({
        status: "paid",
        exception: "none",
        paidAmount: "25.00",
      });
    }
  });

  it("are within the tolerance of an invoice, and enough for it", async () => {
    await shop.addWallet("tron", { address });
    const invoice = await shop.create({ underpaymentTolerance: "2" });
    const seen = usdt(24.5);
    expect(await match(seen)).to.include({ invoiceId: invoice.id, rule: "within_tolerance" });
    expect(await match(seen - 1n)).to.equal(null);
    expect(await match(usdt(25.01))).to.equal(null);
    await settle(new Map([[invoice, { seen, confirmed: seen, completedAt: 1 }]]));
    expect(await shown(invoice)).to.include({
      status: "paid",
      exception: "underpaid",
      paidAmount: "24.50",
    });
  });

  it("within the tolerance of two invoices, or nearer to another one, are not matched", async () => {
    await shop.addWallet("tron", { address });
    const tolerant = await shop.create({ underpaymentTolerance: "5" });
    const exact = await shop.create({ amount: "24.5" });
    expect(await match(usdt(24.8))).to.include({ invoiceId: tolerant.id });
    expect(await match(usdt(24.6))).to.equal(null);
    expect(await match(exact.payableAmount ?? 0n)).to.include({
      invoiceId: exact.id,
      rule: "exact_amount",
    });
    await shop.create({ amount: "24.9", underpaymentTolerance: "5" });
    expect(await match(usdt(24.8))).to.equal(null);
  });

  it("are not matched at another amount, token, address or time", async () => {
    await shop.addWallet("tron", { address });
    const invoice = await shop.create();
    expect(await match(usdt(25))).to.include({ organizationId: shop.organizationId });
    expect(await match(usdt(25) + 1n)).to.equal(null);
    expect(await match(usdt(25), secondAddress)).to.equal(null);
    expect(await match(usdt(25), address, { token: "USDC" })).to.equal(null);
    const issuedAt = invoice.issuedAt ?? 0;
    const end = (invoice.expiresAt ?? 0) + 7 * day;
    const [held] = await shop.db.find(holds, "");
    const height = held?.markHeight ?? 0;
    const chain = { tipHeight: height + 1, hashes: [held?.markHash ?? ""] };
    const time = issuedAt - day;
    expect(await match(usdt(25), address, { time, chain, height })).to.equal(null);
    expect(await match(usdt(25), address, { time, chain, height: height + 1 })).to.include({
      invoiceId: invoice.id,
    });
    expect(await match(usdt(25), address, { time: end })).not.to.equal(null);
    expect(await match(usdt(25), address, { time: end + 1 })).to.equal(null);
    // While the time is uncertain, it is not a reason to reject a match.
    expect(await match(usdt(25), address, { time: null })).not.to.equal(null);
  });

  it("provide the payment ledger with the terms of an issued invoice", async () => {
    await shop.addWallet("tron", { address });
    const invoice = await shop.create({ underpaymentTolerance: "1" });
    const draft = await shop.create({ draft: true });
    const terms = await shop.db.write(testContext, (tx) => lockTerms(tx, [invoice.id, draft.id]));
    expect([...terms.keys()]).to.deep.equal([invoice.id]);
    expect(terms.get(invoice.id)).to.deep.include({
      organizationId: shop.organizationId,
      amount: 2_500n,
      settlementDecimals: 2,
      payableAmount: usdt(25),
      dueAmount: usdt(24.75),
      expiresAt: invoice.expiresAt,
      isCanceled: false,
    });
    expect(terms.get(invoice.id)?.quotes).to.have.length(1);
    expect(terms.get(invoice.id)?.quotes[0]).to.include({
      network: "tron",
      tokenSymbol: "USDT",
      tokenDecimals: 6,
      requiredConfirmations: 19,
      payableAmount: usdt(25),
      exchangeRate: "1",
    });
  });
});

eachStore("the deadline of an invoice", (store) => {
  const it = takeTurns(store);
  store.leavesUnsound({
    checks: ["payments.ledger"],
    because: "the tests credit payments without transfers",
  });

  let shop: Ledger;
  beforeEach(async () => {
    shop = await openLedger(await store.open(), "tron", "ethereum");
    await shop.scan("tron");
    await shop.addWallet("tron", { address });
  });

  const sweep = async (tipTime = shop.now()) => {
    const state = await shop.scan("tron", 2_000, tipTime);
    return shop.sweep(state);
  };
  const status = async (invoice: InvoiceView) =>
    (await getInvoice(shop.app, shop.organizationId, invoice.id)).status;

  it("passes by the time of the chain, not by the server's clock", async () => {
    const invoice = await shop.create();
    const deadline = invoice.expiresAt ?? 0;
    shop.advance(3 * hour);
    expect(await sweep(deadline)).to.equal(0);
    expect(await status(invoice)).to.equal("open");
    expect(await sweep(deadline + 1)).to.equal(1);
    expect(await status(invoice)).to.equal("expired");
    expect(await sweep()).to.equal(0);
    const rows = await shop.db.find(events, "WHERE object_id = $1 ORDER BY id", [invoice.id]);
    expect(rows.map(({ type }) => type)).to.deep.equal(["invoice.created", "invoice.expired"]);
  });

  it("makes partially paid invoices underpaid, and leaves sufficiently paid ones alone", async () => {
    const [part, enough] = [await shop.create(), await shop.create({ amount: "9" })];
    const state = await shop.scan("tron");
    const totals = new Map([
      [part.id, { ...noPayments, seen: usdt(10) }],
      [enough.id, { ...noPayments, seen: usdt(9) }],
    ]);
    await shop.settle("tron", totals, state);
    shop.advance(2 * hour);
    expect(await sweep()).to.equal(1);
    const read = await getInvoice(shop.app, shop.organizationId, part.id);
    expect(presentInvoice(read)).to.include({
      status: "expired",
      exception: "underpaid",
      paidAmount: "10.00",
      remainingAmount: "15.00",
    });
    expect(await status(enough)).to.equal("confirming");
    const cancel = cancelInvoice(shop.app, testContext, shop.organizationId, part.id);
    expect(await refusal(cancel)).to.have.property("code", "invoice_not_cancelable");
  });

  it("expires nothing by a block time that is ahead of the clock", async () => {
    const invoice = await shop.create();
    expect(await sweep((invoice.expiresAt ?? 0) + 10 * day)).to.equal(0);
    expect(await status(invoice)).to.equal("open");
  });

  it("reopens an invoice that a wrong clock and a wrong block time expired", async () => {
    const invoice = await shop.create();
    shop.advance(2 * hour);
    expect(await sweep()).to.equal(1);
    expect(await status(invoice)).to.equal("expired");
    // A reorganization moves the chain's time back by seconds, which reopens nothing.
    expect(await sweep((invoice.expiresAt ?? 0) - 30 * second)).to.equal(0);
    shop.advance(-2 * hour);
    const catchingUp = { ...(await shop.scan("tron", 2_000)), headHeight: 3_000 };
    expect(await shop.sweep(catchingUp)).to.equal(0);
    expect(await sweep()).to.equal(1);
    expect(await status(invoice)).to.equal("open");
    expect(await sweep()).to.equal(0);
    const rows = await shop.db.find(events, "WHERE object_id = $1 ORDER BY id", [invoice.id]);
    expect(rows.map(({ type }) => type).slice(1)).to.deep.equal([
      ...["invoice.expired", "invoice.updated"],
    ]);
  });

  it("releases no hold while the final block's time is uncertain, or by a time ahead of the clock", async () => {
    const invoice = await shop.create();
    const end = (invoice.expiresAt ?? 0) + 7 * day;
    const state = await shop.scan("tron", 2_000, end + day);
    expect(await shop.sweep(state)).to.equal(0);
    shop.advance(9 * day);
    expect(await shop.sweep(state, null)).to.equal(1);
    expect(await shop.sweep(state, null)).to.equal(0);
    expect(await shop.sweep(state, end)).to.equal(0);
    expect(await shop.sweep(state)).to.equal(1);
  });

  it("allows an expired invoice to be canceled, and to be paid late", async () => {
    const [late, gone] = [await shop.create(), await shop.create()];
    shop.advance(2 * hour);
    await sweep();
    await cancelInvoice(shop.app, testContext, shop.organizationId, gone.id);
    const state = await shop.scan("tron");
    const seen = late.payableAmount ?? 0n;
    const totals = { ...noPayments, seen, confirmed: seen, isLate: true, completedAt: shop.now() };
    await shop.settle("tron", new Map([[late.id, totals]]), state);
    const read = await getInvoice(shop.app, shop.organizationId, late.id);
    expect(presentInvoice(read)).to.include({ status: "paid", exception: "late" });
    expect(await status(gone)).to.equal("canceled");
  });

  it("is followed by the late window, after which the amount is free again", async () => {
    const invoice = await shop.create();
    const end = (invoice.expiresAt ?? 0) + 7 * day;
    expect(await watchedAddresses(shop.db, "tron")).to.deep.equal([canonical(address)]);
    shop.advance(8 * day);
    expect(await sweep(end)).to.equal(1);
    const second = await shop.create();
    expectDigits(second.payableAmount, usdt(25));
    expect(await sweep(end + 1)).to.equal(1);
    const [hold] = await shop.db.find(holds, "WHERE invoice_id = $1", [invoice.id]);
    expect(hold?.releasedAt).to.equal(shop.now());
    // The bare price is available again once nothing near it is held.
    shop.advance(8 * day);
    expect(await sweep((second.expiresAt ?? 0) + 7 * day + 1)).to.equal(2);
    expect((await shop.create()).payableAmount).to.equal(usdt(25));
    expect(await status(invoice)).to.equal("expired");
  });

  it("is processed in batches until nothing is due", async () => {
    await Promise.all(
      Array.from({ length: 520 }, (_, place) => shop.create({ amount: String(place + 1) })),
    );
    shop.advance(2 * hour);
    expect(await sweep()).to.equal(500);
    expect(await sweep()).to.equal(20);
    expect(await sweep()).to.equal(0);
  });

  it("keeps each address that was shown to a payer watched, once, until its last hold ends", async () => {
    const archived = await shop.addWallet("tron", { address: secondAddress });
    await shop.create();
    await shop.create();
    await shop.create({ walletId: archived.id });
    await archiveWallet(shop.app, testContext, shop.organizationId, archived.id);
    const both = [canonical(address), canonical(secondAddress)].sort();
    await shop.create();
    expect(await watchedAddresses(shop.db, "tron")).to.deep.equal(both);
    expect(await watchedAddresses(shop.db, "tron", 1)).to.deep.equal(both.slice(0, 1));
    expect(await watchedAddresses(shop.db, "ethereum")).to.deep.equal([]);
    const strangers = ["ab".repeat(20), ...both, "cd".repeat(20)];
    expect((await watchedAmong(shop.db, "tron", strangers)).sort()).to.deep.equal(both);
    shop.advance(30 * day);
    while ((await sweep()) > 0);
    expect(await watchedAddresses(shop.db, "tron")).to.deep.equal([]);
    expect(await watchedAmong(shop.db, "tron", strangers)).to.deep.equal([]);
  });
});
