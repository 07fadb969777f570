import { expect } from "chai";
import { findCheckouts } from "../../../src/features/checkout/store.ts";
import {
  cancelInvoice,
  getInvoice,
  listInvoices,
  updateInvoice,
} from "../../../src/features/invoices/invoices.ts";
import { createInvoice } from "../../../src/features/invoices/issuing/create.ts";
import { holds, invoices } from "../../../src/features/invoices/table.ts";
import { type InvoiceView, presentInvoice } from "../../../src/features/invoices/records.ts";
import { archiveWallet, releaseWallet } from "../../../src/features/wallets/wallets.ts";
import { day, second } from "../../../src/kernel/clock.ts";
import { defineProblem } from "../../../src/kernel/errors.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { auditLogs } from "../../../src/platform/audit/chain.ts";
import { stateTable } from "../../../src/platform/chain/state/network-state.ts";
import { deriveAddress } from "../../../src/platform/chain/evm/addresses.ts";
import { formatAddress } from "../../../src/platform/chain/tron/kind.ts";
import { events } from "../../../src/platform/events/outbox.ts";
import { xpubs } from "../../support/merchants.ts";
import { openLedger, refusal, type Ledger } from "../../support/ledger.ts";
import { expectDigits } from "../../support/amounts.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";

const address = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";
const secondAddress = "TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL";
const thirdAddress = "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE";
const anything = () => undefined;

eachStore("invoices", (store) => {
  const it = takeTurns(store);
  let shop: Ledger;
  beforeEach(async () => {
    shop = await openLedger(await store.open(), "tron", "ethereum", "bsc");
    await shop.scan("tron");
  });
  const told = async (id: string) => {
    const rows = await shop.db.find(events, "WHERE object_id = $1 ORDER BY id", [id]);
    return rows.map(({ type, objectVersion }) => `${type} ${String(objectVersion)}`);
  };

  describe("at its issue", () => {
    it("states the exact amount and how to pay it, and emits one event", async () => {
      const wallet = await shop.addWallet("tron", { address });
      const invoice = await shop.create({ metadata: { order: "7" }, description: "Tea" });
      const record = presentInvoice(invoice);
      expect(record).to.deep.include({
        status: "open",
        exception: "none",
        amount: "25.00",
        settlementCurrency: "USD",
        payableAmount: "25.00",
        remainingAmount: "25.00",
        paidAmount: "0.00",
        paidTokenAmount: "0.00",
        exchangeRate: "1",
        tokenSymbol: "USDT",
        network: "tron",
        walletId: wallet.id,
        walletAddress: address,
        expiresInSeconds: 3_600,
        underpaymentTolerance: "0",
        metadata: { order: "7" },
        description: "Tea",
        confirmationProgress: { current: 0, required: 19 },
      });
      expect(invoice.expiresAt).to.equal(shop.now() + 3_600 * second);
      expect(record.checkoutId).to.match(/^chk_[0-9a-z]{32}$/);
      expect(record.checkoutUrl).to.equal(`https://pay.example/pay/${record.checkoutId ?? ""}`);
      expect(record.publicId).to.match(/^ipub_[0-9a-z]{32}$/);
      expect(await told(invoice.id)).to.deep.equal(["invoice.created 1"]);
      const [event] = await shop.db.find(events, "WHERE object_id = $1 ORDER BY id", [invoice.id]);
      expect(event?.payload).to.deep.equal(record);
      const entries = await shop.db.find(auditLogs, "WHERE target_id = $1 ORDER BY id", [
        invoice.id,
      ]);
      expect(entries.map(({ action }) => action)).to.deep.equal(["invoice.created"]);
      const read = await getInvoice(shop.app, shop.organizationId, invoice.id);
      expect(presentInvoice(read)).to.deep.equal(record);
    });

    it("is visible to its payer by the session's id only", async () => {
      await shop.addWallet("tron", { address });
      const invoice = await shop.create();
      const payersView = async (checkoutId: string | null) =>
        [...(await findCheckouts(shop.db, shop.app, [checkoutId ?? ""])).values()][0]?.invoice;
      const seen = await payersView(invoice.checkoutId);
      expect(seen).to.deep.include({ id: invoice.id, status: "open", walletAddress: address });
      expect(seen?.remaining.units).to.equal(25_000_000n);
      expect(await payersView("chk_unknown")).to.equal(undefined);
    });

    it("is hidden from other organizations", async () => {
      await shop.addWallet("tron", { address });
      const invoice = await shop.create();
      const other = await shop.addOrganization();
      const unknown = shop.ids.next("invoice", shop.now());
      const foreign = await refusal(getInvoice(shop.app, other, invoice.id));
      const missing = await refusal(getInvoice(shop.app, other, unknown));
      expect(foreign).to.include({ status: 404 });
      expect(foreign.message).to.equal(missing.message);
      const cancel = await refusal(cancelInvoice(shop.app, testContext, other, invoice.id));
      expect(cancel).to.have.property("status", 404);
      const update = updateInvoice(shop.app, testContext, other, invoice.id, {}, anything);
      expect(await refusal(update)).to.have.property("status", 404);
    });

    it("rejects amounts that are invalid in the currency, and names the field", async () => {
      await shop.addWallet("tron", { address });
      for (const amount of [
        "0",
        "0.00",
        "1.001",
        "1e3",
        "-1",
        "+1",
        ".5",
        " 1",
        "١",
        "9".repeat(40),
      ]) {
        const problem = await refusal(shop.create({ amount }));
        expect(problem).to.include({ status: 400 }, amount);
        expect(problem.errors[0]?.pointer).to.equal("/amount");
      }
      expect(presentInvoice(await shop.create({ amount: "7" })).amount).to.equal("7.00");
      const yen = await refusal(shop.create({ amount: "7.5", settlementCurrency: "JPY" }));
      expect(yen).to.have.property("status", 400);
    });

    it("rejects unavailable networks, tokens and currencies, each with its own code", async () => {
      await shop.addWallet("tron", { address });
      const refused = [
        [{ settlementCurrency: "usd" }, 422, "unsupported_currency"],
        [{ settlementCurrency: "XAU" }, 422, "unsupported_currency"],
        [{ network: "solana" }, 422, "network_not_enabled"],
        [{ network: "polygon" }, 422, "network_not_enabled"],
        [{ tokenSymbol: "USDC" }, 422, "token_not_enabled"],
        [{ amount: "1000000000000.01" }, 422, "amount_too_large"],
        [{ settlementCurrency: "USDT", amount: "0.009" }, 422, "amount_too_small"],
        [{ settlementCurrency: "EUR" }, 422, "unsupported_currency"],
        [{ network: "ethereum" }, 422, "no_wallet"],
        [{ underpaymentTolerance: "5.1" }, 400, "invalid_request"],
      ] as const;
      for (const [input, status, code] of refused) {
        const problem = await refusal(shop.create(input));
        expect(problem).to.include({ status, code });
      }
      expect(await shop.db.find(invoices, "")).to.deep.equal([]);
      expect(await shop.db.find(holds, "")).to.deep.equal([]);
      await shop.create({ amount: "1000000000000" });
    });

    it("values a token by its peg and as itself, with the network's decimals", async () => {
      await shop.scan("bsc");
      await shop.addWallet("bsc", { address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" });
      const pegged = await shop.create({ network: "bsc", amount: "1.25" });
      expect(pegged.payableAmount).to.equal(1_250_000_000_000_000_000n);
      const itself = await shop.create({
        network: "bsc",
        settlementCurrency: "USDT",
        amount: "3.000000000000000001",
      });
      expect(presentInvoice(itself)).to.include({
        amount: "3.000000000000000001",
        // The most decimals that wallets take.
        payableAmount: "3.000001",
        exchangeRate: "1",
      });
      const sibling = await shop.create({
        network: "bsc",
        settlementCurrency: "USDC",
        amount: "4.5",
      });
      expect(presentInvoice(sibling)).to.include({ amount: "4.50", payableAmount: "4.50" });
    });

    it("is rejected before the network's first block, and for disabled tokens", async () => {
      await shop.addWallet("ethereum", { address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" });
      const early = await refusal(shop.create({ network: "ethereum" }));
      expect(early).to.include({ status: 503, code: "network_not_ready" });
      expect(early.retryAfterSeconds).to.be.greaterThan(0);
      await shop.scan("ethereum");
      await shop.db.write(testContext, (tx) =>
        tx.update(stateTable, { disabledTokens: ["USDT"] }, "WHERE network = 'ethereum'"),
      );
      const off = await refusal(shop.create({ network: "ethereum" }));
      expect(off).to.include({ status: 422, code: "token_not_enabled" });
      await shop.create({ network: "ethereum", tokenSymbol: "USDC" });
    });

    it("requires the organization's permission to issue; a draft does not", async () => {
      await shop.addWallet("tron", { address });
      const NotVerified = defineProblem({
        code: "organization_not_verified",
        status: 403,
        title: "Not verified",
      });
      shop.setGate(() => Promise.reject(new NotVerified("Submit the organization for review.")));
      const problem = await refusal(shop.create());
      expect(problem).to.have.property("code", "organization_not_verified");
      expect(await shop.db.find(invoices, "")).to.deep.equal([]);
      const draft = await shop.create({ draft: true });
      const issue = updateInvoice(
        shop.app,
        testContext,
        shop.organizationId,
        draft.id,
        { status: "open" },
        anything,
      );
      expect(await refusal(issue)).to.have.property("status", 403);
    });

    it("uses the requested wallet, or the network's default", async () => {
      const older = await shop.addWallet("tron", { address });
      shop.advance(1);
      const newer = await shop.addWallet("tron", { address: secondAddress });
      expect(await shop.create()).to.have.property("walletId", older.id);
      expect(await shop.create({ walletId: newer.id })).to.have.property("walletId", newer.id);
      await shop.setDefault("tron", newer.id);
      expect(await shop.create()).to.have.property("walletId", newer.id);
      await shop.setDefault("tron", older.id);
      const foreign = await shop.addWallet(
        "ethereum",
        { address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" },
        await shop.addOrganization(),
      );
      const elsewhere = await shop.addWallet("bsc", {
        address: "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
      });
      await archiveWallet(shop.app, testContext, shop.organizationId, newer.id);
      const refused = [
        [foreign.id, 404, "not_found"],
        [shop.ids.next("wallet", shop.now()), 404, "not_found"],
        [elsewhere.id, 422, "no_wallet"],
        [newer.id, 422, "no_wallet"],
      ] as const;
      for (const [walletId, status, code] of refused) {
        expect(await refusal(shop.create({ walletId }))).to.include({ status, code });
      }
      expect(await shop.create()).to.have.property("walletId", older.id);
    });

    it("lets a draft with one option name a wallet that cannot receive yet", async () => {
      const wallet = await shop.addWallet("tron", { address });
      await archiveWallet(shop.app, testContext, shop.organizationId, wallet.id);
      const draft = await shop.create({ draft: true, walletId: wallet.id });
      expect(draft).to.include({ status: "draft", walletId: wallet.id });
      const issued = updateInvoice(
        shop.app,
        testContext,
        shop.organizationId,
        draft.id,
        { status: "open" },
        anything,
      );
      expect(await refusal(issued)).to.include({ status: 422, code: "no_wallet" });
      const several = shop.create({
        draft: true,
        network: undefined,
        tokenSymbol: undefined,
        paymentOptions: [
          { network: "tron", tokenSymbol: "USDT", walletId: wallet.id },
          { network: "ethereum", tokenSymbol: "USDT" },
        ],
      });
      expect(await refusal(several)).to.include({ status: 422, code: "no_wallet" });
    });

    it("accepts customers of the organization only", async () => {
      await shop.addWallet("tron", { address });
      const unknown = shop.ids.next("customer", shop.now());
      expect(await refusal(shop.create({ customerId: unknown }))).to.have.property("status", 404);
      const { id: customerId } = await shop.addCustomer();
      expect(await shop.create({ customerId })).to.have.property("customerId", customerId);
    });

    it.onBoth("assigns each invoice its own address if the wallet is an extended key", async () => {
      await shop.addWallet("tron", { xpub: xpubs.first });
      const made = await Promise.all(Array.from({ length: 5 }, () => shop.create()));
      const shown = made.map(({ walletAddress }) => walletAddress).sort();
      const derived = [0, 1, 2, 3, 4].map((index) =>
        formatAddress(deriveAddress(xpubs.first, index)),
      );
      expect(shown).to.deep.equal(derived.sort());
      for (const one of made) expect(presentInvoice(one).payableAmount).to.equal("25.00");
    });
  });

  describe("with another of the same price", () => {
    it("has a different amount, with digits that nobody can foresee", async () => {
      await shop.addWallet("tron", { address });
      const amounts = [];
      for (let count = 0; count < 120; count += 1) {
        const { payableAmount, remainingAmount } = presentInvoice(await shop.create());
        expect(remainingAmount).to.equal(payableAmount);
        amounts.push(payableAmount);
      }
      const [first, ...others] = amounts;
      expect(first).to.equal("25.00");
      const digits = others.map((each) => Math.round((Number(each) - 25) * 1_000_000));
      expect(new Set(digits).size).to.equal(119);
      for (const each of digits) {
        expect(each).to.be.within(100, 250_000);
        expect([each % 100, each % 10_000 === 0]).to.deep.equal([0, false]);
      }
      // A few are above the lowest 1,000 steps, if many of those are held by chance.
      const low = digits.filter((each) => each <= 100_000);
      expect(low.length).to.be.at.least(115);
      // Each tenth of the lowest has about 12; the chance of none, or of more than 33, is 3 * 10^-5.
      for (let tenth = 0; tenth < 10; tenth += 1) {
        const count = low.filter((each) => Math.floor((each - 1) / 10_000) === tenth).length;
        expect(count, `tenth ${String(tenth)}`).to.be.within(1, 33);
      }
      // None is tried before others: the chance that one is among the ten smallest is 1 %, of four 2 * 10^-6.
      const smallest = digits.slice(0, 10).filter((each) => each <= 1_000);
      expect(smallest.length, "of the ten smallest, among the first ten").to.be.at.most(3);
    });

    it.onBoth("has a different amount even if many are created at once", async () => {
      await shop.addWallet("tron", { address });
      const made = await Promise.all(Array.from({ length: 120 }, () => shop.create()));
      const amounts = new Set(made.map(({ payableAmount }) => payableAmount));
      expect(amounts.size).to.equal(120);
      for (const amount of amounts) {
        expect((amount ?? 0n) >= 25_000_000n && (amount ?? 0n) <= 25_250_000n).to.equal(true);
      }
    });

    it.onBoth("gets one of the last free amounts even if many compete for them", async () => {
      await shop.addWallet("tron", { address });
      const made = await Promise.all(
        Array.from({ length: 101 }, () => shop.create({ amount: "0.01" })),
      );
      expect(new Set(made.map(({ payableAmount }) => payableAmount)).size).to.equal(101);
    });

    it("has another amount than another organization's invoice at the same address", async () => {
      const wallet = await shop.addWallet("tron", { address });
      expect((await shop.create()).payableAmount).to.equal(25_000_000n);
      await releaseWallet(shop.app, testContext, wallet.id);
      const other = await shop.addOrganization();
      await shop.addWallet("tron", { address }, other);
      const { invoice } = await createInvoice(shop.app, testContext, other, {
        amount: "25.00",
        settlementCurrency: "USD",
        tokenSymbol: "USDT",
        network: "tron",
      });
      expectDigits(invoice.payableAmount, 25_000_000n);
    });

    it("uses every amount of the default, then those of its reserve, no other wallet, and is then rejected before any payer sees it", async () => {
      const reserve = await shop.addWallet("tron", { address });
      shop.advance(1);
      const chosen = await shop.addWallet("tron", { address: secondAddress });
      await shop.addWallet("tron", { address: thirdAddress });
      await shop.setDefault("tron", chosen.id, reserve.id);
      // 1 % of 0.01 is 0.0001: 101 amounts of 6 decimals.
      const made = [];
      for (let count = 0; count < 202; count += 1) made.push(await shop.create({ amount: "0.01" }));
      for (const [wallet, part] of [
        [secondAddress, made.slice(0, 101)],
        [address, made.slice(101)],
      ] as const) {
        expect(new Set(part.map(({ walletAddress }) => walletAddress))).to.deep.equal(
          new Set([wallet]),
        );
        const amounts = part.map(({ payableAmount }) => payableAmount ?? 0n);
        expect(new Set(amounts).size).to.equal(101);
        expect(amounts.every((amount) => amount <= 10_100n)).to.equal(true);
      }
      const full = await refusal(shop.create({ amount: "0.01" }));
      expect(full).to.include({ status: 409, code: "wallet_capacity_exhausted" });
      expect((await shop.db.find(invoices, "")).length).to.equal(202);
      await shop.create({ amount: "0.02" });
    });
  });

  describe("with an externalId", () => {
    beforeEach(() => shop.addWallet("tron", { address }));
    const request = { externalId: "order-1", amount: "12", metadata: { a: "1", b: "2" } };
    const send = (changes: object = {}) =>
      createInvoice(shop.app, testContext, shop.organizationId, {
        settlementCurrency: "USD",
        tokenSymbol: "USDT",
        network: "tron",
        ...request,
        ...changes,
      });

    it("is created once, however often it is requested, and in whichever order of fields", async () => {
      const first = await send();
      const again = await send({ metadata: { b: "2", a: "1" } });
      expect(first.isReplayed).to.equal(false);
      expect(again).to.deep.equal({ invoice: first.invoice, isReplayed: true });
      shop.setGate(() => Promise.reject(new Error("a replay issues nothing")));
      expect(await send()).to.have.property("isReplayed", true);
      expect(await told(first.invoice.id)).to.deep.equal(["invoice.created 1"]);
    });

    it("is rejected for a different request", async () => {
      const { invoice } = await send();
      const cases = [
        [{ amount: "13", metadata: { a: "1" } }, ["/amount", "/metadata"]],
        [{ description: "a secret", expiresInSeconds: 900 }, ["/description", "/expiresInSeconds"]],
        [{ network: "ethereum" }, ["/network"]],
        // Written in another way, and a draft that could be this invoice before its issue.
        [{ amount: "12.00" }, []],
        [{ draft: true }, []],
      ] as const;
      for (const [changes, pointers] of cases) {
        const refused = await refusal(send(changes));
        expect(refused).to.include({ status: 409, code: "external_id_conflict" });
        expect(refused.message).to.include(invoice.id).and.not.to.include("secret");
        expect(refused.errors.map(({ pointer }) => pointer)).to.deep.equal(pointers);
      }
    });

    it("is rejected with the payment options if they differ, and without them if they do not", async () => {
      await shop.addWallet("ethereum", { address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" });
      const [tron, ethereum] = ["tron", "ethereum"].map((network) => ({
        network,
        tokenSymbol: "USDT",
      }));
      // A draft needs no block of a network.
      const one = {
        draft: true,
        network: undefined,
        tokenSymbol: undefined,
        paymentOptions: [tron],
      };
      const both = { ...one, paymentOptions: [tron, ethereum], externalId: "order-2" };
      const pointersOf = async (changes: object) => {
        const refused = await refusal(send(changes));
        expect(refused).to.have.property("code", "external_id_conflict");
        return refused.errors.map(({ pointer }) => pointer);
      };
      await send(one);
      const more = { ...both, externalId: request.externalId };
      expect(await pointersOf(more)).to.deep.equal(["/paymentOptions"]);
      await send(both);
      expect(await send(both)).to.have.property("isReplayed", true);
      expect(await pointersOf({ ...both, amount: "13" })).to.deep.equal(["/amount"]);
      const less = { ...one, externalId: "order-2" };
      expect(await pointersOf(less)).to.deep.equal(["/paymentOptions"]);
    });

    it.onBoth("is created once by many concurrent requests", async () => {
      const made = await Promise.all(Array.from({ length: 12 }, () => send()));
      expect(new Set(made.map(({ invoice }) => invoice.id)).size).to.equal(1);
      expect(made.filter(({ isReplayed }) => !isReplayed).length).to.equal(1);
      expect((await shop.db.find(holds, "")).length).to.equal(1);
    });

    it("can be used by another organization too", async () => {
      await send();
      const other = await shop.addOrganization();
      await createInvoice(shop.app, testContext, other, {
        ...request,
        settlementCurrency: "USD",
        tokenSymbol: "USDT",
        network: "tron",
        draft: true,
      });
    });
  });

  describe("as a draft", () => {
    const update = (id: Id<"invoice">, changes: object, expectation = anything as never) =>
      updateInvoice(shop.app, testContext, shop.organizationId, id, changes, expectation);

    it("needs no wallet and takes no hold", async () => {
      const draft = await shop.create({ draft: true });
      expect(presentInvoice(draft)).to.deep.include({
        status: "draft",
        checkoutId: null,
        checkoutUrl: null,
        payableAmount: null,
        remainingAmount: null,
        exchangeRate: null,
        walletAddress: null,
        expiresAt: null,
        issuedAt: null,
        paidAmount: "0.00",
      });
      expect(await shop.db.find(holds, "")).to.deep.equal([]);
      expect(await told(draft.id)).to.deep.equal(["invoice.created 1"]);
    });

    it("is changed field by field, with an event for each change and none without a change", async () => {
      const draft = await shop.create({ draft: true, description: "Tea", metadata: { a: "1" } });
      shop.advance(1_000);
      const changed = await update(draft.id, { amount: "30.5", description: null });
      expect(presentInvoice(changed)).to.deep.include({
        amount: "30.50",
        description: null,
        metadata: { a: "1" },
        publicId: draft.publicId,
      });
      expect(changed).to.include({ version: 2, createdAt: draft.createdAt, updatedAt: shop.now() });
      expect(await update(draft.id, { amount: "30.50" })).to.deep.equal(changed);
      expect(await told(draft.id)).to.deep.equal(["invoice.created 1", "invoice.updated 2"]);
      const [, entry] = await shop.db.find(auditLogs, "WHERE target_id = $1 ORDER BY id", [
        draft.id,
      ]);
      expect(entry?.changes).to.deep.equal({
        amount: { from: "25.00", to: "30.50" },
        description: { from: "Tea", to: null },
      });
    });

    it("is issued with the other changes of the request, under its new terms", async () => {
      await shop.addWallet("tron", { address });
      const draft = await shop.create({ draft: true });
      shop.advance(5_000);
      const issued = await update(draft.id, {
        status: "open",
        amount: "26",
        expiresInSeconds: 300,
      });
      expect(presentInvoice(issued)).to.include({ status: "open", payableAmount: "26.00" });
      expect(issued.expiresAt).to.equal(shop.now() + 300_000);
      expect(await told(draft.id)).to.deep.equal(["invoice.created 1", "invoice.issued 2"]);
      expect(await refusal(update(draft.id, { amount: "1" }))).to.include({
        status: 409,
        code: "invoice_not_editable",
      });
    });

    it("is validated like a new one, and stays unchanged if a change is rejected", async () => {
      const draft = await shop.create({ draft: true });
      for (const [changes, status] of [
        [{ amount: "0" }, 400],
        [{ settlementCurrency: "JPY" }, 400],
        [{ network: "solana" }, 422],
        [{ status: "open" }, 422],
      ] as const) {
        expect(await refusal(update(draft.id, changes))).to.have.property("status", status);
      }
      const [row] = await shop.db.find(invoices, "");
      expect(row?.version).to.equal(1);
    });

    it("is changed only in the version that the caller has seen", async () => {
      const draft = await shop.create({ draft: true });
      const refuse = (current: { amount: bigint }) => {
        expect(current.amount).to.equal(2_500n);
        throw new Error("stale");
      };
      const stale = update(draft.id, { amount: "1" }, refuse as never);
      expect(await stale.catch(String)).to.equal("Error: stale");
      expect(await getInvoice(shop.app, shop.organizationId, draft.id)).to.have.property(
        "version",
        1,
      );
    });

    it("cannot take another invoice's externalId", async () => {
      const first = await shop.create({ draft: true, externalId: "order-1" });
      const draft = await shop.create({ draft: true });
      const refused = await refusal(update(draft.id, { externalId: "order-1" }));
      expect(refused).to.have.property("code", "external_id_conflict");
      expect(refused).to.have.property("message").that.includes(first.id);
    });
  });

  describe("when it is canceled", () => {
    const cancel = (id: Id<"invoice">) =>
      cancelInvoice(shop.app, testContext, shop.organizationId, id);

    it("keeps its hold for the late window", async () => {
      await shop.addWallet("tron", { address });
      const invoice = await shop.create({ expiresInSeconds: 2_592_000 });
      shop.advance(60_000);
      const canceled = await cancel(invoice.id);
      expect(canceled).to.include({ status: "canceled", canceledAt: shop.now() });
      expect(presentInvoice(canceled)).to.include({ remainingAmount: "0.00" });
      const [hold] = await shop.db.find(holds, "WHERE invoice_id = $1", [invoice.id]);
      expect(hold).to.include({ endsAt: shop.now() + 7 * day, releasedAt: null });
      expect(await told(invoice.id)).to.deep.equal(["invoice.created 1", "invoice.canceled 2"]);
      expect(await refusal(cancel(invoice.id))).to.include({
        status: 409,
        code: "invoice_not_cancelable",
        message: `${invoice.id} is canceled already. There is nothing to do.`,
      });
      expectDigits((await shop.create()).payableAmount, 25_000_000n);
    });

    it("may be a draft", async () => {
      const draft = await shop.create({ draft: true });
      expect(await cancel(draft.id)).to.include({ status: "canceled", remainingAmount: null });
    });
  });

  describe("in a list", () => {
    it.onBoth("is listed newest first, page by page, and by each filter", async () => {
      await shop.addWallet("tron", { address });
      const { id: customerId } = await shop.addCustomer();
      const start = shop.now();
      const made: InvoiceView[] = [];
      for (let count = 0; count < 7; count += 1) {
        made.push(
          await shop.create({
            draft: count % 2 === 0,
            ...(count < 2 ? { customerId } : {}),
            ...(count === 3 ? { externalId: "order-3" } : {}),
          }),
        );
        shop.advance(1_000);
      }
      const newestFirst = made.map(({ id }) => id).reverse();
      const list = async (query: object) => {
        const page = await listInvoices(shop.app, shop.organizationId, query);
        return page.data.map(({ id }) => id);
      };
      const walked: string[] = [];
      let cursor: string | null | undefined;
      while (cursor !== null) {
        const page = await listInvoices(shop.app, shop.organizationId, {
          limit: "3",
          ...(cursor === undefined ? {} : { cursor }),
        });
        walked.push(...page.data.map(({ id }) => id));
        cursor = page.nextCursor;
      }
      expect(walked).to.deep.equal(newestFirst);
      const at = (...places: number[]) => places.map((place) => made[place]?.id);
      expect(await list({ status: ["open"] })).to.deep.equal(at(5, 3, 1));
      expect(await list({ customerId })).to.deep.equal(at(1, 0));
      expect(await list({ customerId, status: ["draft"] })).to.deep.equal(at(0));
      expect(await list({ externalId: "order-3" })).to.deep.equal(at(3));
      expect(await list({ createdFrom: start + 4_000 })).to.deep.equal(at(6, 5, 4));
      expect(await list({ createdTo: start + 2_000 })).to.deep.equal(at(1, 0));
      expect(await list({ createdFrom: start + 1_000, createdTo: start + 3_000 })).to.deep.equal(
        at(2, 1),
      );
      const other = await shop.addOrganization();
      expect((await listInvoices(shop.app, other, {})).data).to.deep.equal([]);
    });
  });
});
