// Payments together with the invoices, wallets and holds that they are for; only the chain is scripted.
import { expect } from "chai";
import {
  matchHolds,
  presentInvoice,
  watchedAddresses,
  watchedAmong,
  type InvoiceView,
} from "../../../src/features/invoices/index.ts";
import {
  makePaymentService,
  makeWatcher,
  makeWatchWorkers,
  presentPayment,
} from "../../../src/features/payments/index.ts";
import { systemActor } from "../../../src/kernel/actor.ts";
import { minute, second } from "../../../src/kernel/clock.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { createAuditor } from "../../../src/platform/audit/index.ts";
import { parseAddress } from "../../../src/platform/chain/address.ts";
import { createOutbox } from "../../../src/platform/events/index.ts";
import { createLeases } from "../../../src/platform/jobs/leases.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { xpubs } from "../../support/merchants.ts";
import { openShop, type Shop } from "../../support/shop.ts";
import { eachStore, testContext } from "../../support/stores.ts";
import { scriptChain, type ScriptedChain } from "./scripted-chain.ts";

const blockMs = 12 * second;
const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const units = (amount: string) => BigInt(Math.round(Number(amount) * 1_000_000));

interface Market {
  readonly shop: Shop;
  readonly chain: ScriptedChain;
  /** Mines a block with a payment to an invoice's address. */
  pay(invoice: InvoiceView, amount: string, transaction?: string): void;
  /** Runs the network's worker until nothing is waiting. */
  look(): Promise<void>;
  read(invoice: InvoiceView): Promise<ReturnType<typeof presentInvoice>>;
  payments(
    query?: Record<string, string>,
    organizationId?: Id<"organization">,
  ): Promise<{ data: ReturnType<typeof presentPayment>[]; nextCursor: string | null }>;
  events(): Promise<string[]>;
}

function openMarket(shop: Shop): Market {
  const { db, ids, networks } = shop;
  const network = networks.get("ethereum");
  const usdt = network?.tokens.find(({ symbol }) => symbol === "USDT");
  if (network === undefined || usdt === undefined) throw new Error("no network");
  const clock = { now: () => shop.now() };
  const startAt = shop.now() - 200 * blockMs;
  const chain = scriptChain({ startAt, blockMs, finalityLag: 30, chainId: network.chainId });
  chain.mine([], 199);
  const invoices = { ...shop.settlement, matchHolds, watchedAddresses, watchedAmong };
  const watcher = makeWatcher({
    ...{ db, clock, ids, network, invoices },
    auditor: createAuditor(ids),
    outbox: createOutbox({ ids, nudge: () => undefined }),
    logger: silentLogger,
    client: chain.client,
    providers: [chain.client],
  });
  const leases = createLeases({ db, clock, ids, actor: systemActor("test") });
  const [worker] = makeWatchWorkers({ db, clock, leases, watchers: [watcher], invoices });
  const service = makePaymentService({ db, networks });

  return {
    shop,
    chain,
    pay(invoice, amount, transaction = "payment") {
      const to = parseAddress("evm", invoice.walletAddress ?? "");
      if (!to.ok) throw new Error(to.message);
      const { contract } = usdt;
      chain.mine([{ transaction, contract, to: to.address, amount: units(amount) }]);
      shop.advance(blockMs);
    },
    async look() {
      for (let runs = 0; runs < 50; runs += 1) {
        shop.advance(2 * second);
        if ((await worker?.run(new AbortController().signal)) !== true) return;
      }
      throw new Error("the worker never comes to an end");
    },
    read: async (invoice) =>
      presentInvoice(await shop.invoices.get(invoice.organizationId, invoice.id)),
    async payments(query = {}, organizationId = shop.organizationId) {
      const page = await service.list(organizationId, query);
      return { data: page.data.map(presentPayment), nextCursor: page.nextCursor };
    },
    async events() {
      const rows = await db.all<{ type: string }>("SELECT type FROM events ORDER BY id");
      return rows.map(({ type }) => type).filter((type) => /^(invoice|payment)/.test(type));
    },
  };
}

eachStore("Invoices that are paid", (store) => {
  let market: Market;
  beforeEach(async () => {
    market = openMarket(await openShop(await store.open(), "ethereum"));
    await market.look();
  });
  const issue = (input: Parameters<Shop["create"]>[0] = {}) =>
    market.shop.create({ network: "ethereum", ...input });
  const addWallet = () => market.shop.addWallet("ethereum", { address });
  const addKey = () => market.shop.addWallet("ethereum", { xpub: xpubs.first });

  it("go from open over confirming to paid, and tell of each step once", async () => {
    await addWallet();
    const invoice = await issue();
    market.pay(invoice, "25");
    await market.look();
    expect(await market.read(invoice)).to.deep.include({
      status: "confirming",
      paidAmount: "25.00",
      paidTokenAmount: "25.00",
      confirmationProgress: { current: 1, required: 12 },
    });
    market.chain.mine([], 11);
    await market.look();
    expect(await market.read(invoice)).to.include({ status: "paid", exception: "none" });
    expect(await market.events()).to.deep.equal([
      "invoice.created",
      "payment.detected",
      "invoice.confirming",
      "payment.confirmed",
      "invoice.paid",
    ]);
    const { data } = await market.payments();
    const [payment] = data;
    expect(payment).to.include({
      invoiceId: invoice.id,
      network: "ethereum",
      tokenSymbol: "USDT",
      toAddress: address,
      amount: "25.00",
      settlementAmount: "25.00",
      settlementCurrency: "USD",
      blockNumber: 200,
      confirmations: 12,
      requiredConfirmations: 12,
      status: "confirmed",
      source: "detected",
    });
    expect(payment?.transactionHash).to.match(/^0x[0-9a-f]{64}$/);
    expect(payment?.confirmedAt).to.match(/Z$/);
  });

  it("are told apart by their amounts on one address", async () => {
    await addWallet();
    const one = await issue();
    const other = await issue();
    expect(other.payableAmount).not.to.equal(one.payableAmount);
    market.pay(other, presentInvoice(other).payableAmount ?? "");
    market.pay(one, "24.5", "wrong amount");
    market.chain.mine([], 11);
    await market.look();
    expect(await market.read(one)).to.include({ status: "open" });
    expect(await market.read(other)).to.include({
      status: "paid",
      exception: "none",
      paidAmount: "25.00",
    });
  });

  it("take parts and what remains on an address of their own", async () => {
    await addKey();
    const invoice = await issue();
    market.pay(invoice, "10");
    await market.look();
    expect(await market.read(invoice)).to.include({
      status: "partially_paid",
      remainingAmount: "15.00",
    });
    market.pay(invoice, "20", "rest");
    market.chain.mine([], 11);
    await market.look();
    expect(await market.read(invoice)).to.include({
      status: "paid",
      exception: "overpaid",
      paidAmount: "30.00",
    });
  });

  it("lose what a reorganisation takes, though they were paid, and get it back", async () => {
    await addWallet();
    const invoice = await issue();
    market.pay(invoice, "25");
    market.chain.mine([], 11);
    await market.look();
    market.chain.rollback(12);
    market.chain.mine([], 13);
    await market.look();
    expect(await market.read(invoice)).to.include({ status: "open", exception: "reverted" });
    expect((await market.payments({ status: "reverted" })).data[0]).to.include({
      confirmations: 0,
      confirmedAt: null,
    });
    market.pay(invoice, "25");
    market.chain.mine([], 11);
    await market.look();
    expect(await market.read(invoice)).to.include({ status: "paid", exception: "none" });
    expect((await market.payments()).data).to.have.length(1);
    const told = await market.events();
    expect(told.slice(-8)).to.deep.equal([
      "payment.confirmed",
      "invoice.paid",
      "payment.reverted",
      "invoice.reverted",
      "payment.detected",
      "invoice.confirming",
      "payment.confirmed",
      "invoice.paid",
    ]);
  });

  it("expire by the chain's time, and count what comes late", async () => {
    await addWallet();
    const invoice = await issue({ expiresInSeconds: 300 });
    market.shop.advance(10 * minute);
    await market.look();
    // No block is as late as that yet.
    expect(await market.read(invoice)).to.include({ status: "open" });
    market.chain.mine([], 30);
    await market.look();
    expect(await market.read(invoice)).to.include({ status: "expired" });
    market.pay(invoice, "25");
    market.chain.mine([], 11);
    await market.look();
    expect(await market.read(invoice)).to.include({ status: "paid", exception: "late" });
  });

  it("keep money for the merchant's decision when they were canceled", async () => {
    await addWallet();
    const invoice = await issue();
    await market.shop.invoices.cancel(testContext, market.shop.organizationId, invoice.id);
    market.pay(invoice, "25");
    market.chain.mine([], 11);
    await market.look();
    expect(await market.read(invoice)).to.include({ status: "canceled", exception: "late" });
    expect((await market.payments()).data.map(({ status }) => status)).to.deep.equal(["review"]);
  });

  it("have their payments in pages, by invoice and status, and no other organization sees them", async () => {
    await addKey();
    const invoices = [];
    for (let made = 0; made < 5; made += 1) {
      const invoice = await issue();
      invoices.push(invoice);
      market.pay(invoice, "25", `payment ${String(made)}`);
    }
    await market.look();
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await market.payments({ limit: "2", ...(cursor === null ? {} : { cursor }) });
      seen.push(...page.data.map(({ invoiceId }) => invoiceId));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen).to.deep.equal(invoices.map(({ id }) => id).reverse());
    const [first] = invoices;
    const own = await market.payments({ invoiceId: first?.id ?? "" });
    expect(own.data.map(({ invoiceId }) => invoiceId)).to.deep.equal([first?.id]);
    expect((await market.payments({ status: "confirmed" })).data).to.deep.equal([]);
    expect((await market.payments({ status: "confirming" })).data).to.have.length(5);
    const other = await market.shop.addOrganization();
    expect((await market.payments({}, other)).data).to.deep.equal([]);
    expect((await market.payments({ invoiceId: first?.id ?? "" }, other)).data).to.deep.equal([]);
  });
});
