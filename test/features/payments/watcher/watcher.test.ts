import { expect } from "chai";
import { payments } from "../../../../src/features/payments/table.ts";
import { minute, second } from "../../../../src/kernel/clock.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { addressOf, wordOf } from "../../../support/chain/fake-chain.ts";
import { blockMs, startAt, token, standInInvoices } from "../../../support/chain/asked-invoices.ts";
import { watchNetwork, type WatchedNetwork } from "../../../support/chain/world.ts";

const shop = addressOf("shop");
const letAll = () => Promise.resolve();

/** Pays in a separate block. */
function pay(watched: WatchedNetwork, amount: number, transaction = "payment", to = shop): void {
  const { chain, contract } = watched;
  chain.mine([{ transaction, contract, to, amount: token(amount) }]);
}

async function statuses(watched: WatchedNetwork): Promise<string[]> {
  return (await watched.payments()).map(({ status }) => status);
}

/** Mines until the payments have their confirmations, and scans. */
async function confirm(watched: WatchedNetwork): Promise<void> {
  watched.chain.mine([], 2);
  await watched.look();
}

eachStore("The watcher", (store) => {
  const it = takeTurns(store);
  store.leavesUnsound(standInInvoices);
  store.leavesUnsound({
    checks: ["payments.ledger"],
    because: "a test rejects a payment without its invoice",
  });

  describe("credits", () => {
    it("a transfer to an exclusive address to its invoice, and confirms it at the required depth", async () => {
      const watched = await watchNetwork(await store.open());
      const { id } = watched.invoices.ask({ address: shop });
      pay(watched, 25);
      await watched.look();
      const [payment] = await watched.payments();
      expect(payment).to.include({
        invoiceId: id,
        amount: token(25),
        settlementAmount: 2_500n,
        settlementCurrency: "USD",
        rule: "exclusive_address",
        source: "detected",
        status: "confirming",
        blockHeight: 41,
      });
      expect(watched.invoices.totals.get(id)).to.include({ seen: token(25), confirmed: 0n });
      watched.chain.mine();
      await watched.look();
      expect(await statuses(watched)).to.deep.equal(["confirming"]);
      watched.chain.mine();
      await watched.look();
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
      expect(watched.invoices.totals.get(id)).to.include({ confirmed: token(25), latestBlock: 41 });
      expect(await watched.events()).to.deep.equal(["payment.detected", "payment.confirmed"]);
    });

    it("each transfer once, however many times it is reported", async () => {
      const watched = await watchNetwork(await store.open());
      watched.invoices.ask({ address: shop });
      pay(watched, 25);
      for (let looks = 0; looks < 10; looks += 1) await watched.look();
      expect(await watched.payments()).to.have.length(1);
      expect(await watched.transfers()).to.have.length(1);
      expect(await watched.events()).to.deep.equal(["payment.detected"]);
    });

    it("the exact amount on a shared address to its invoice, and leaves another amount unmatched", async () => {
      const watched = await watchNetwork(await store.open());
      watched.invoices.ask({ address: shop, exactAmount: token(25) });
      const { id } = watched.invoices.ask({ address: shop, exactAmount: token(25.0001) });
      pay(watched, 25.0001);
      pay(watched, 24, "too little");
      await watched.look();
      const found = await watched.payments();
      expect(found.map(({ invoiceId, rule }) => [invoiceId, rule])).to.deep.equal([
        [id, "exact_amount"],
      ]);
      const kept = await watched.transfers();
      expect(kept.map(({ amount, invoiceId }) => [amount, invoiceId])).to.deep.equal([
        [token(25.0001), id],
        [token(24), null],
      ]);
    });

    it("every transfer of a transaction separately", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain, contract, invoices } = watched;
      const one = invoices.ask({ address: shop });
      const other = invoices.ask({ address: addressOf("other shop") });
      const shared = { transaction: "batch", contract };
      chain.mine([
        { ...shared, to: shop, amount: token(10) },
        { ...shared, to: shop, amount: token(10) },
        { ...shared, to: addressOf("other shop"), amount: token(25) },
        { ...shared, to: addressOf("nobody"), amount: token(25) },
      ]);
      await watched.look();
      expect(invoices.totals.get(one.id)).to.include({ seen: token(20), completedAt: null });
      expect(invoices.totals.get(other.id)).to.include({ seen: token(25) });
      expect(await watched.transfers()).to.have.length(3);
    });

    it("parts whose settlement amounts add up to the invoice's amount to the last unit", async () => {
      const watched = await watchNetwork(await store.open());
      const terms = { amount: 1_000n, payableAmount: token(9.99) };
      const { id } = watched.invoices.ask({ address: shop, terms });
      for (const part of ["a", "b", "c"]) pay(watched, 3.33, part);
      await watched.look();
      const worths = (await watched.payments()).map(({ settlementAmount }) => settlementAmount);
      expect(worths).to.deep.equal([333n, 333n, 334n]);
      const completedAt = startAt + 43 * blockMs;
      expect(watched.invoices.totals.get(id)).to.include({ completedAt, latestBlock: 43 });
    });
  });

  describe("does not credit", () => {
    it("dust, transfers of an address to itself, and other contracts", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain, contract } = watched;
      watched.invoices.ask({ address: shop });
      chain.mine([
        { transaction: "dust", contract, to: shop, amount: token(0.009999) },
        { transaction: "self", contract, from: shop, to: shop, amount: token(25) },
        { transaction: "fake", contract: addressOf("fake"), to: shop, amount: token(25) },
      ]);
      await watched.look();
      expect(await watched.payments()).to.deep.equal([]);
      // Transfers of configured tokens are still recorded.
      expect((await watched.transfers()).map(({ amount }) => amount)).to.deep.equal([
        token(0.009999),
        token(25),
      ]);
    });

    it("another token than the one that the invoice asks for, even at an exclusive address", async () => {
      const watched = await watchNetwork(await store.open());
      const { id } = watched.invoices.ask({ address: shop });
      const other = watched.network.tokens.find(({ contract }) => contract !== watched.contract);
      const contract = other?.contract ?? "";
      watched.chain.mine([{ transaction: "other", contract, to: shop, amount: token(25) }]);
      await watched.look();
      expect(await watched.payments()).to.deep.equal([]);
      expect((await watched.transfers())[0]).to.include({ token: "USDC", invoiceId: null });
      expect(watched.invoices.totals.get(id)?.seen ?? 0n).to.equal(0n);
    });

    it("a token whose contract has other decimals, while other tokens still work", async () => {
      const watched = await watchNetwork(await store.open());
      watched.invoices.ask({ address: shop });
      watched.chain.faults.decimals = 18;
      watched.advance(25 * 60 * minute);
      pay(watched, 25);
      await watched.look();
      expect((await watched.state()).disabledTokens).to.deep.equal(["USDC", "USDT"]);
      expect(watched.alarms.map(({ symbol }) => symbol)).to.deep.equal(["USDT", "USDC"]);
      expect(await watched.payments()).to.deep.equal([]);
      expect(await watched.transfers()).to.have.length(1);
    });

    it("a payment for a canceled invoice, which waits for the merchant", async () => {
      const watched = await watchNetwork(await store.open());
      const { id } = watched.invoices.ask({ address: shop, terms: { isCanceled: true } });
      pay(watched, 25);
      await watched.look();
      expect(await statuses(watched)).to.deep.equal(["review"]);
      expect(watched.invoices.totals.get(id)).to.include({ seen: 0n, isLate: true });
      expect(await watched.events()).to.deep.equal(["payment.needs_review"]);
      await confirm(watched);
      expect(await statuses(watched)).to.deep.equal(["review"]);
    });
  });

  it("counts late payments by their block's time, or leaves them in review by policy", async () => {
    const watched = await watchNetwork(await store.open());
    const expiresAt = startAt + 42 * blockMs;
    const accepting = watched.invoices.ask({ address: shop, terms: { expiresAt } });
    const reviewing = watched.invoices.ask({
      address: addressOf("careful shop"),
      terms: { expiresAt, latePolicy: "review" },
    });
    watched.chain.mine();
    pay(watched, 25, "in time");
    await watched.look();
    expect(watched.invoices.totals.get(accepting.id)).to.include({ isLate: false });
    pay(watched, 25, "too much");
    pay(watched, 25, "late", addressOf("careful shop"));
    await watched.look();
    // The invoice was already fully paid: this is an overpayment, not a late payment.
    expect(watched.invoices.totals.get(accepting.id)).to.include({
      isLate: false,
      seen: token(50),
    });
    expect(watched.invoices.totals.get(reviewing.id)).to.include({ isLate: true, seen: 0n });
    expect(await statuses(watched)).to.deep.equal(["confirmed", "confirming", "review"]);
  });

  describe("in a reorganization", () => {
    it("reverts a payment whose transfer is gone, and restores it when the transfer returns", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain, contract, invoices } = watched;
      const { id } = invoices.ask({ address: shop });
      pay(watched, 25);
      await watched.look();
      expect(watched.logged).to.deep.equal([]);
      chain.rollback(1);
      chain.mine([], 2);
      await watched.look();
      expect(await statuses(watched)).to.deep.equal(["reverted"]);
      expect(watched.logged).to.deep.equal(["a reorganization removed transfers from the chain"]);
      expect(invoices.totals.get(id)).to.include({ seen: 0n, isReverted: true, latestBlock: null });
      const other = { transaction: "other", contract, to: addressOf("nobody"), amount: 1n };
      const again = { transaction: "payment", contract, to: shop, amount: token(25) };
      chain.mine([other, again]);
      await watched.look();
      const [payment, ...more] = await watched.payments();
      expect(more).to.deep.equal([]);
      expect(payment).to.include({ status: "confirming", blockHeight: 43, version: 3 });
      expect(await watched.transfers()).to.have.length(1);
      expect((await watched.transfers())[0]).to.include({ logIndex: 0, status: "seen" });
      expect(invoices.totals.get(id)).to.include({ seen: token(25), isReverted: false });
      await confirm(watched);
      expect(await watched.events()).to.deep.equal([
        "payment.detected",
        "payment.reverted",
        "payment.detected",
        "payment.confirmed",
      ]);
    });

    it("reverts a confirmed payment, and confirms it again in its new block", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain, contract, invoices } = watched;
      const { id } = invoices.ask({ address: shop });
      pay(watched, 25);
      await confirm(watched);
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
      chain.rollback(3);
      chain.mine([], 3);
      chain.mine([{ transaction: "payment", contract, to: shop, amount: token(25) }]);
      await watched.look();
      expect((await watched.payments())[0]).to.include({
        status: "confirming",
        blockHeight: 44,
        confirmedAt: null,
      });
      expect(invoices.totals.get(id)).to.include({ confirmed: 0n, seen: token(25) });
      await confirm(watched);
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
    });

    it("distinguishes transfers of one transaction whose positions are exchanged", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain, contract, invoices } = watched;
      const { id } = invoices.ask({ address: shop });
      const part = (amount: number) => ({
        transaction: "both",
        contract,
        to: shop,
        amount: token(amount),
      });
      chain.mine([part(10), part(15)]);
      await watched.look();
      chain.rollback(1);
      chain.mine([part(15), part(10), part(1)]);
      chain.mine();
      await watched.look();
      const found = await watched.transfers();
      // The log indexes stay as they were first read.
      expect(found.map(({ amount, logIndex }) => [amount, logIndex])).to.deep.equal([
        [token(10), 0],
        [token(15), 1],
        [token(1), 2],
      ]);
      expect(invoices.totals.get(id)).to.include({ seen: token(26) });
    });

    it("credits a transfer that replaced another one in the same transaction", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain, contract, invoices } = watched;
      const { id } = invoices.ask({ address: shop });
      const paying = (amount: number) => ({
        transaction: "swap",
        contract,
        to: shop,
        amount: token(amount),
      });
      chain.mine([paying(10)]);
      await watched.look();
      chain.rollback(1);
      chain.mine([paying(11)]);
      await watched.look();
      expect(await statuses(watched)).to.deep.equal(["reverted", "confirming"]);
      expect(invoices.totals.get(id)).to.include({ seen: token(11) });
    });

    it("reverts nothing if only the tip goes back, because the provider may be behind", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain } = watched;
      watched.invoices.ask({ address: shop });
      pay(watched, 25);
      chain.mine();
      await watched.look();
      const before = await watched.state();
      chain.faults.lag = 5;
      for (let looks = 0; looks < 5; looks += 1) await watched.look();
      expect(await statuses(watched)).to.deep.equal(["confirming"]);
      expect(await watched.state()).to.deep.equal(before);
      expect(watched.watcher.health().problem).to.match(
        /newest block is below the newest block that was read/,
      );
      chain.faults.lag = 0;
      await confirm(watched);
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
      expect(await watched.events()).to.deep.equal(["payment.detected", "payment.confirmed"]);
    });

    it("accepts a chain that stays shorter, and raises an alarm", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain } = watched;
      watched.invoices.ask({ address: shop });
      pay(watched, 25);
      chain.mine([], 4);
      await watched.look();
      chain.rollback(6);
      await watched.look();
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
      watched.advance(2 * minute);
      await watched.look();
      expect((await watched.state()).tipHeight).to.equal(39);
      expect(watched.alarms).to.deep.include({
        alarm: "tip_went_back",
        network: "ethereum",
        tipHeight: 45,
        height: 39,
      });
      chain.mine([], 2);
      await watched.look();
      expect(await statuses(watched)).to.deep.equal(["reverted"]);
    });

    it("goes back below the window to the last unchanged block", async () => {
      const options = { finalityLag: 400, windowBlocks: 32, blocks: 500 };
      const watched = await watchNetwork(await store.open(), options);
      const { chain, invoices } = watched;
      const { id } = invoices.ask({ address: shop });
      // The payment is in a block whose hash is kept, above which blocks are read again later.
      chain.mine([], 3);
      pay(watched, 25);
      await watched.look();
      for (let looks = 0; looks < 30; looks += 1) {
        chain.mine([], 5);
        await watched.look();
        expect((await watched.state()).tipHash).to.equal(chain.tip().hash);
      }
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
      chain.calls.length = 0;
      await watched.look();
      expect(chain.calls).to.deep.equal(["heads", "blocks", "transfers"]);
      // The payment is 150 blocks below the tip, far below the 32 that are read again.
      chain.rollback(152);
      chain.mine([], 100);
      pay(watched, 10, "replacement");
      chain.mine([], 60);
      await watched.look();
      expect(await statuses(watched)).to.deep.equal(["reverted", "confirmed"]);
      expect(invoices.totals.get(id)).to.include({ seen: token(10), isReverted: true });
      chain.mine([], 5);
      await watched.look();
      expect((await watched.state()).tipHash).to.equal(chain.tip().hash);
    });

    it("drops an answer during which the chain changed, and reads it again", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain } = watched;
      watched.invoices.ask({ address: shop });
      pay(watched, 25);
      chain.faults.beforeTransfers = () => {
        chain.rollback(1);
        chain.mine([], 1);
      };
      await watched.look();
      expect(await watched.transfers()).to.deep.equal([]);
      expect((await watched.state()).tipHeight).to.equal(40);
      pay(watched, 25, "again");
      // A chain that only grew is read without a drop.
      chain.faults.beforeTransfers = () => {
        chain.mine();
      };
      await watched.look();
      expect(await watched.payments()).to.have.length(1);
    });

    it("enters transfers that a provider omitted while its index was broken", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain } = watched;
      watched.invoices.ask({ address: shop });
      chain.faults.hidesLogs = true;
      pay(watched, 25);
      await watched.look();
      expect(await watched.payments()).to.deep.equal([]);
      chain.faults.hidesLogs = false;
      // Without a new block.
      await watched.watcher.scan(letAll);
      expect(await statuses(watched)).to.deep.equal(["confirming"]);
      await confirm(watched);
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
    });

    it("reverts no payment that a provider omits although it has the receipt", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain, watcher } = watched;
      watched.invoices.ask({ address: shop });
      pay(watched, 25);
      await confirm(watched);
      chain.faults.hidesLogs = true;
      chain.mine();
      for (let looks = 0; looks < 5; looks += 1) await watched.look();
      expect(watcher.health().problem).to.match(/^http:\/\/first omitted transfers/);
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
      chain.faults.hidesLogs = false;
      await watched.look();
      expect(watcher.health().problem).to.equal(null);
      expect(await watched.events()).to.deep.equal(["payment.detected", "payment.confirmed"]);
    });

    it("enters a final transaction only once if a provider has it in a second block, with one alarm", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain, invoices } = watched;
      const { id } = invoices.ask({ address: shop });
      pay(watched, 25);
      chain.mine([], 10);
      for (let looks = 0; looks < 2; looks += 1) await watched.look();
      expect((await watched.transfers())[0]).to.include({ isFinal: true, blockHeight: 41 });
      expect(watched.alarms).to.deep.equal([]);
      pay(watched, 25);
      for (let looks = 0; looks < 2; looks += 1) await watched.look();
      const transactionHash = wordOf("payment");
      expect(watched.alarms).to.deep.equal([{ alarm: "final_transaction_moved", transactionHash }]);
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
      expect((await watched.transfers()).map(({ blockHeight }) => blockHeight)).to.deep.equal([41]);
      expect(invoices.totals.get(id)).to.include({ seen: token(25) });
    });

    it("stops at a chain that contradicts its final blocks, and continues with the right one", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain } = watched;
      watched.invoices.ask({ address: shop });
      pay(watched, 25);
      await confirm(watched);
      const before = await watched.state();
      chain.rollback(15);
      chain.mine([], 15);
      await watched.look();
      watched.advance(31 * second);
      await watched.look();
      expect(watched.watcher.health().problem).to.match(/not the chain of Ethereum/);
      expect(await watched.state()).to.deep.equal(before);
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
    });
  });

  describe("while it is behind", () => {
    it("catches up over any distance without skipping a block", async () => {
      const watched = await watchNetwork(await store.open(), { maxLogRange: 300 });
      const { chain, invoices } = watched;
      const { id } = invoices.ask({ address: shop });
      for (let part = 0; part < 60; part += 1) {
        pay(watched, 1, `part ${String(part)}`);
        chain.mine([], 36);
      }
      await watched.look();
      expect((await watched.state()).tipHeight).to.equal(chain.tip().height);
      expect(invoices.totals.get(id)).to.include({ seen: token(60) });
      expect(await watched.payments()).to.have.length(60);
      await watched.look();
      expect(new Set(await statuses(watched))).to.deep.equal(new Set(["confirmed"]));
      const isFinal = (await watched.transfers()).filter((row) => row.isFinal);
      expect(isFinal).to.have.length(60);
    });

    it("asks for fewer blocks if a provider refuses, and keeps its tip meanwhile", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain, invoices } = watched;
      const { id } = invoices.ask({ address: shop });
      chain.faults.rangeMax = 3;
      pay(watched, 12);
      chain.mine([], 30);
      pay(watched, 13, "second");
      await watched.look();
      expect(invoices.totals.get(id)).to.include({ seen: token(25) });
      expect((await watched.state()).tipHeight).to.equal(72);
      chain.calls.length = 0;
      await watched.look();
      const ranges = chain.calls.filter((call) => call === "transfers");
      // The learned range size of ten blocks is kept, so that hardly any request is refused.
      expect(ranges).to.have.length.within(4, 5);
    });

    it("matches transfers among more addresses than a provider filters by", async () => {
      const watched = await watchNetwork(await store.open());
      const { invoices } = watched;
      for (let each = 0; each < 1_200; each += 1) {
        invoices.ask({ address: addressOf(`shop ${String(each)}`) });
      }
      pay(watched, 25, "first", addressOf("shop 0"));
      pay(watched, 25, "last", addressOf("shop 1199"));
      pay(watched, 25, "nobody's", addressOf("nobody"));
      await watched.look();
      expect(await watched.payments()).to.have.length(2);
      expect(await watched.transfers()).to.have.length(2);
    });

    it("requests the times of blocks if a node's logs do not contain them", async () => {
      const watched = await watchNetwork(await store.open());
      watched.invoices.ask({ address: shop });
      watched.chain.faults.hidesTimes = true;
      pay(watched, 25);
      await watched.look();
      expect((await watched.payments())[0]?.blockTime).to.equal(startAt + 41 * blockMs);
      watched.chain.calls.length = 0;
      await watched.look();
      expect(watched.chain.calls).to.deep.equal(["heads", "transfers"]);
    });

    it("forgets the times of blocks that are read no more", async () => {
      const watched = await watchNetwork(await store.open());
      await watched.watcher.finalTime();
      expect(watched.forgotten).to.deep.equal([(await watched.state()).cursorHeight]);
    });

    it("still follows a transfer whose hold has ended", async () => {
      const watched = await watchNetwork(await store.open());
      const invoice = watched.invoices.ask({ address: shop });
      pay(watched, 25);
      await watched.look();
      invoice.isWatched = false;
      await confirm(watched);
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
    });
  });

  describe("before it confirms", () => {
    for (const receipt of ["unknown", "failed", "other_block", "without_log"] as const) {
      it(`holds a payment whose receipt is ${receipt.replace("_", " ")}, with one alarm`, async () => {
        const watched = await watchNetwork(await store.open());
        watched.invoices.ask({ address: shop });
        watched.chain.faults.receipt = receipt;
        pay(watched, 25);
        await confirm(watched);
        watched.advance(10 * minute);
        await confirm(watched);
        expect(await statuses(watched)).to.deep.equal(["confirming"]);
        expect(watched.alarms.map(({ alarm }) => alarm)).to.deep.equal(["payment_held"]);
        expect(watched.watcher.health().heldPayments).to.equal(1);
        watched.chain.faults.receipt = "true";
        watched.advance(10 * minute);
        await watched.look();
        expect(await statuses(watched)).to.deep.equal(["confirmed"]);
        expect(watched.watcher.health().heldPayments).to.equal(0);
      });
    }

    it("never lets one provider of two make an invoice paid", async () => {
      const watched = await watchNetwork(await store.open(), {
        providers: (chain) => [
          chain.client,
          chain.provider("http://second", { receipt: "unknown" }),
        ],
      });
      watched.invoices.ask({ address: shop });
      pay(watched, 25);
      await confirm(watched);
      watched.advance(60 * minute);
      await confirm(watched);
      expect(await statuses(watched)).to.deep.equal(["confirming"]);
      expect(watched.alarms[0]).to.include({ alarm: "payment_held", provider: "http://second" });
    });

    it("waits for a second provider that is behind, without an alarm", async () => {
      const faults = { lag: 4 };
      const watched = await watchNetwork(await store.open(), {
        providers: (chain) => [chain.client, chain.provider("http://second", faults)],
      });
      watched.invoices.ask({ address: shop });
      pay(watched, 25);
      await confirm(watched);
      expect(await statuses(watched)).to.deep.equal(["confirming"]);
      expect(watched.alarms).to.deep.equal([]);
      faults.lag = 0;
      await watched.look();
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
    });

    it("waits for an unavailable second provider for a limited time only", async () => {
      const watched = await watchNetwork(await store.open(), {
        providers: (chain) => [
          chain.client,
          chain.provider("http://second", { failure: "unreachable" }),
        ],
      });
      watched.invoices.ask({ address: shop });
      pay(watched, 25);
      await confirm(watched);
      expect(await statuses(watched)).to.deep.equal(["confirming"]);
      for (let minutes = 0; minutes < 3; minutes += 1) {
        watched.advance(minute);
        await watched.look();
      }
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
    });

    it("reads the chain once, however many payments there are, and asks for its lease in each transaction", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain, contract } = watched;
      const paid = Array.from({ length: 1_100 }, (_, place) => addressOf(`shop ${String(place)}`));
      for (const address of paid) watched.invoices.ask({ address });
      const logs = paid.map((to, place) => ({ to, transaction: `payment ${String(place)}` }));
      chain.mine(logs.map((each) => ({ ...each, contract, amount: token(25) })));
      await watched.look();
      chain.mine([], 2);
      chain.calls.length = 0;
      const versionOf = async () => (await watched.state()).version;
      const version = await versionOf();
      let asked = 0;
      const guard = () => Promise.resolve(void (asked += 1));
      while (await watched.watcher.scan(guard));
      expect(chain.calls.filter((method) => method === "transfers")).to.have.length(1);
      expect(new Set(await statuses(watched))).to.deep.equal(new Set(["confirmed"]));
      expect(asked)
        .to.equal((await versionOf()) - version)
        .and.to.be.greaterThan(1);
      expect(await watched.events()).to.have.length(2 * paid.length);
    });

    it("does not confirm a payment on which the merchant decided meanwhile", async () => {
      const watched = await watchNetwork(await store.open());
      watched.invoices.ask({ address: shop });
      pay(watched, 25);
      await watched.look();
      watched.invoices.onSettle = () => undefined;
      await watched.db.write(
        { actor: { type: "operator", id: null, label: "test" }, requestId: null, ip: null },
        (tx) => tx.update(payments, { status: "rejected" }, "WHERE status = $1", ["confirming"]),
      );
      await confirm(watched);
      expect(await statuses(watched)).to.deep.equal(["rejected"]);
    });
  });

  describe("when killed, run twice or without a provider", () => {
    it.onBoth("loses and repeats nothing when it is killed before its commit", async () => {
      const watched = await watchNetwork(await store.open());
      const { invoices } = watched;
      const { id } = invoices.ask({ address: shop });
      invoices.onSettle = () => {
        throw new Error("killed");
      };
      pay(watched, 25);
      for (let deaths = 0; deaths < 3; deaths += 1) {
        const died = await watched.watcher.scan(letAll).catch((error: unknown) => error);
        expect(died).to.be.an("error");
        expect(await watched.transfers()).to.deep.equal([]);
        expect(await watched.events()).to.deep.equal([]);
      }
      invoices.onSettle = () => undefined;
      await confirm(watched);
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
      expect(invoices.totals.get(id)).to.include({ confirmed: token(25) });
    });

    it.onBoth(
      "loses nothing when it is killed within a block that takes several transactions",
      async () => {
        const watched = await watchNetwork(await store.open());
        const { chain, contract, invoices } = watched;
        const { id } = invoices.ask({ address: shop });
        const transfers = Array.from({ length: 1_250 }, (_, place) => ({
          transaction: `payment ${String(place)}`,
          contract,
          to: shop,
          amount: token(0.02),
        }));
        chain.mine(transfers);
        let settled = 0;
        invoices.onSettle = () => {
          settled += 1;
          if (settled === 2) throw new Error("killed");
        };
        const died = await watched.watcher.scan(letAll).catch((error: unknown) => error);
        expect(died).to.be.an("error");
        expect(await watched.payments()).to.have.length(500);
        expect((await watched.state()).tipHeight).to.equal(40);
        await watched.look();
        expect(await watched.payments()).to.have.length(1_250);
        expect(invoices.totals.get(id)).to.include({ seen: token(25) });
        expect((await watched.state()).tipHeight).to.equal(41);
      },
    );

    it.onBoth("credits a transfer once when two processes scan concurrently", async () => {
      const watched = await watchNetwork(await store.open());
      const { id } = watched.invoices.ask({ address: shop });
      const others = [watched.watcher, watched.another(), watched.another()];
      for (let round = 0; round < 5; round += 1) {
        pay(watched, 5, `part ${String(round)}`);
        watched.advance(2 * second);
        await Promise.all(others.map((watcher) => watcher.scan(letAll)));
      }
      await watched.look();
      expect(await watched.payments()).to.have.length(5);
      expect(watched.invoices.totals.get(id)).to.include({ seen: token(25) });
    });

    it.onBoth("writes nothing after its lease is lost", async () => {
      const watched = await watchNetwork(await store.open());
      watched.invoices.ask({ address: shop });
      pay(watched, 25);
      watched.advance(2 * second);
      const lost = await watched.watcher
        .scan(() => Promise.reject(new Error("the lease was lost")))
        .catch((error: unknown) => error);
      expect(lost).to.be.an("error").with.property("message", "the lease was lost");
      expect(await watched.transfers()).to.deep.equal([]);
      // Nor does it begin with a network.
      await watched.db.write(testContext, (tx) => tx.run("DELETE FROM network_states"));
      const begun = watched.watcher.scan(() => Promise.reject(new Error("the lease was lost")));
      expect(await begun.catch(String)).to.equal("Error: the lease was lost");
      expect(await watched.state().catch(String)).to.match(/never reached/);
    });

    it("reports a provider's failure once, and continues where it stopped", async () => {
      const watched = await watchNetwork(await store.open());
      const { chain } = watched;
      watched.invoices.ask({ address: shop });
      chain.faults.failure = "unreachable";
      pay(watched, 25);
      chain.mine([], 100);
      await watched.look();
      await watched.look();
      expect(watched.watcher.health().problem).to.equal("http://first: it is unreachable");
      expect(watched.alarms).to.have.length(1);
      chain.faults.failure = null;
      await watched.look();
      await watched.look();
      expect(watched.watcher.health().problem).to.equal(null);
      expect(watched.logged).to.deep.equal(["the network is being read again"]);
      expect(await statuses(watched)).to.deep.equal(["confirmed"]);
    });

    it("passes over a provider after three dropped scans in a row, and raises an alarm after five", async () => {
      const passed: string[] = [];
      const watched = await watchNetwork(await store.open(), {
        pool: { isAnotherReady: () => true, passOver: (reason) => void passed.push(reason) },
      });
      const { chain, watcher } = watched;
      watched.invoices.ask({ address: shop });
      const scan = async (isReplaced: boolean) => {
        if (isReplaced) {
          chain.faults.beforeTransfers = () => {
            chain.rollback(1);
            chain.mine();
          };
        }
        // The chain, and not the provider, may have changed meanwhile, so that no other one is asked at once.
        expect(await watcher.scan(letAll)).to.equal(false);
        return [passed.length, watcher.health().problem !== null];
      };
      expect([await scan(true), await scan(true)]).to.deep.equal([
        [0, false],
        [0, false],
      ]);
      await scan(false);
      const scans: unknown[] = [];
      for (let times = 0; times < 6; times += 1) scans.push(await scan(true));
      expect(scans).to.deep.equal([
        ...[
          [0, false],
          [0, false],
          [1, false],
        ],
        ...[
          [1, false],
          [1, true],
          [2, true],
        ],
      ]);
      expect(watched.alarms.map(({ alarm }) => alarm)).to.deep.equal(["network_not_read"]);
      chain.faults.chainId = 56;
      watched.advance(25 * 60 * minute);
      await scan(false);
      expect(passed.at(-1)).to.match(/serves chain 56/);
    });

    it("stops if the stored blocks are of another chain than the configured one", async () => {
      const watched = await watchNetwork(await store.open());
      await watched.db.write(testContext, (tx) => tx.run("UPDATE network_states SET chain_id = 5"));
      watched.chain.mine();
      const before = await watched.state();
      await watched.look();
      expect(watched.watcher.health().problem).to.match(
        /stored blocks of Ethereum are of chain 5, but it is configured as chain 1\./,
      );
      expect(await watched.state()).to.deep.equal(before);
    });

    it("stops at a provider of another chain, and names that chain", async () => {
      const watched = await watchNetwork(await store.open());
      watched.invoices.ask({ address: shop });
      watched.chain.faults.chainId = 56;
      watched.advance(25 * 60 * minute);
      pay(watched, 25);
      await watched.look();
      expect(watched.watcher.health().problem).to.match(
        /serves chain 56, but Ethereum is chain 1\./,
      );
      expect(await watched.transfers()).to.deep.equal([]);
      watched.chain.faults.chainId = 1;
      await watched.look();
      expect(await watched.payments()).to.have.length(1);
    });

    it("writes nothing if nothing changed, and a new tip at most once a second", async () => {
      const watched = await watchNetwork(await store.open());
      const before = (await watched.state()).version;
      await watched.watcher.scan(letAll);
      await watched.watcher.scan(letAll);
      expect((await watched.state()).version).to.equal(before);
      watched.advance(2 * second);
      watched.chain.mine();
      // A scan that leaves nothing is not followed by another one at once.
      expect(await watched.watcher.scan(letAll)).to.equal(false);
      watched.chain.mine();
      await watched.watcher.scan(letAll);
      expect(await watched.state()).to.include({ version: before + 1, tipHeight: 41 });
      watched.advance(11 * second);
      await watched.watcher.scan(letAll);
      await watched.watcher.scan(letAll);
      expect(await watched.state()).to.include({ version: before + 2, tipHeight: 42 });
    });
  });
});
