// Options on two networks, whose USDT have 6 and 18 decimals and whose blocks are read apart.
import { expect } from "chai";
import { getInvoice } from "../../../../src/features/invoices/invoices.ts";
import { type InvoiceView, presentInvoice } from "../../../../src/features/invoices/records.ts";
import { submitClaim } from "../../../../src/features/payments/hash-claims/submit-claim.ts";
import { paymentClaims } from "../../../../src/features/payments/table.ts";
import { minute } from "../../../../src/kernel/clock.ts";
import { known, openLedger, type Ledger } from "../../../support/ledger.ts";
import {
  blockMs,
  transferTo,
  watch,
  watchScripted,
  type WatchedLedger,
} from "../../../support/watched-ledger.ts";
import { xpubs } from "../../../support/merchants.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";
import { wordOf, type FakeChain } from "../../../support/chain/fake-chain.ts";

const networks = ["ethereum", "bsc"] as const;
type NetworkId = (typeof networks)[number];

anyStore("An invoice with options on two networks", (store) => {
  let shop: Ledger;
  const chains = new Map<NetworkId, { chain: FakeChain; market: WatchedLedger }>();

  beforeEach(async () => {
    shop = await openLedger(await store.open(), ...networks);
    for (const id of networks) {
      chains.set(id, await watchScripted(shop, id));
      await shop.addWallet(id, { xpub: id === "bsc" ? xpubs.second : xpubs.first });
    }
  });

  const on = (id: NetworkId) => known(chains.get(id));
  const issue = () =>
    shop.create({
      network: undefined,
      tokenSymbol: undefined,
      paymentOptions: networks.map((network) => ({ network, tokenSymbol: "USDT" })),
    });
  const shown = async ({ id }: { readonly id: `inv_${string}` }) =>
    presentInvoice(await getInvoice(shop.app, shop.organizationId, id));

  /** Pays to an address of a network, and mines until it is confirmed. */
  async function pay(id: NetworkId, address: string | null, amount: bigint, name: string) {
    const { chain, market } = on(id);
    chain.mine([transferTo(shop, { walletAddress: address }, amount, name, id)]);
    chain.mine([], 29);
    shop.advance(30 * blockMs);
    await market.look();
  }

  /** Submits a hash of which the payer says that it is on a network. */
  async function submit(
    { id, organizationId }: Pick<InvoiceView, "id" | "organizationId">,
    network: NetworkId,
    hash: string,
  ): Promise<void> {
    await shop.db.write(testContext, (tx) =>
      submitClaim(tx, shop.app, { id, organizationId, network }, hash),
    );
  }

  it("sums what comes on both, and shows each transaction", async () => {
    const invoice = await issue();
    await shop.choose(invoice.checkoutId, "bsc", "USDT");
    const options = (await shown(invoice)).paymentOptions;
    expect(options.map(({ payableAmount }) => payableAmount)).to.deep.equal(["25.00", "25.00"]);
    const [ethereum, bsc] = options.map(({ walletAddress }) => walletAddress);
    await pay("ethereum", ethereum ?? null, 10_000_001n, "first");
    // The money came on Ethereum, so that is in force now.
    expect(await shown(invoice)).to.include({
      status: "partially_paid",
      network: "ethereum",
      paidTokenAmount: "10.000001",
      paidAmount: "10.00",
      remainingAmount: "14.999999",
    });
    await shop.choose(invoice.checkoutId, "bsc", "USDT");
    expect(await shown(invoice)).to.include({
      network: "bsc",
      remainingAmount: "14.999999",
      paidAmount: "10.00",
    });
    await pay("bsc", bsc ?? null, 14_999_999n * 10n ** 12n, "second");
    const paid = await shown(invoice);
    expect(paid).to.include({ status: "paid", exception: "none", paidAmount: "25.00" });
    expect(paid).to.include({ network: "bsc", paidTokenAmount: "25.00" });
    expect(paid.transactionHashes).to.have.length(2);
    const { data } = await on("bsc").market.payments();
    expect(data.map(({ settlementAmount }) => settlementAmount)).to.deep.equal(["15.00", "10.00"]);

    // A reorganization of the network that is not in force takes its part away.
    const { chain, market } = on("ethereum");
    chain.rollback(30);
    chain.mine([], 31);
    shop.advance(blockMs);
    await market.look();
    expect(await shown(invoice)).to.include({
      status: "partially_paid",
      exception: "reverted",
      network: "bsc",
      // 14.999999 tokens, rounded down.
      paidAmount: "14.99",
      remainingAmount: "10.000001",
    });
  });

  it("looks for a submitted hash on each network that the payer has chosen", async () => {
    const invoice = await issue();
    const { walletAddress } = await shown(invoice);
    await shop.choose(invoice.checkoutId, "bsc", "USDT");
    const { id } = invoice;
    await submit(invoice, "bsc", wordOf("sent on the other"));
    const claim = async () => {
      const [row] = await shop.db.find(paymentClaims, "WHERE invoice_id = $1", [id]);
      return { network: row?.network, state: row?.state };
    };
    for (const network of ["bsc", "ethereum", "bsc"] as const) await on(network).market.look();
    expect(await claim()).to.include({ state: "waiting" });
    await pay("ethereum", walletAddress, 10_000_000n, "sent on the other");
    for (let round = 0; round < 3; round += 1) {
      for (const network of networks) await on(network).market.look();
      shop.advance(minute);
    }
    expect(await claim()).to.deep.equal({ network: "ethereum", state: "credited" });
  });

  it("looks for a submitted hash on the other network if nobody reads the one in force", async () => {
    const invoice = await issue();
    const { walletAddress } = await shown(invoice);
    await shop.choose(invoice.checkoutId, "bsc", "USDT");
    const unchosen = await issue();
    const { chain } = on("ethereum");
    const market = watch(shop, "ethereum", [chain.client], ["bsc"]);
    await pay("ethereum", walletAddress, 10_000_000n, "sent there");
    await submit(invoice, "bsc", wordOf("sent there"));
    await submit(unchosen, "bsc", wordOf("sent there"));
    const claimsOf = async ({ id }: { readonly id: string }) =>
      (await shop.db.find(paymentClaims, "WHERE invoice_id = $1", [id])).map(
        ({ network, state }) => ({ network, state }),
      );
    for (let round = 0; round < 3; round += 1) {
      await market.look();
      shop.advance(minute);
    }
    expect(await claimsOf(invoice)).to.deep.equal([{ network: "ethereum", state: "credited" }]);
    expect(await claimsOf(unchosen)).to.deep.equal([{ network: "ethereum", state: "refused" }]);
  });

  it("gives a hash up after an hour only if no network knows it", async () => {
    const invoice = await issue();
    await shop.choose(invoice.checkoutId, "bsc", "USDT");
    const { id } = invoice;
    await submit(invoice, "ethereum", wordOf("nowhere"));
    const seen = new Set<string>();
    const row = async () => (await shop.db.find(paymentClaims, "WHERE invoice_id = $1", [id]))[0];
    for (let minutes = 0; minutes < 45; minutes += 1) {
      for (const network of networks) {
        await on(network).market.look();
        seen.add(String((await row())?.network));
      }
      expect(await row()).to.include({ state: "waiting" });
      shop.advance(minute);
    }
    expect([...seen].sort()).to.deep.equal(["bsc", "ethereum"]);
    shop.advance(30 * minute);
    for (const network of networks) await on(network).market.look();
    expect(await row()).to.include({ state: "refused", reason: "unknown" });
  });

  it("is paid on the first although another is in force, and goes back after a reorganization", async () => {
    const invoice = await issue();
    const { walletAddress } = await shown(invoice);
    await shop.choose(invoice.checkoutId, "bsc", "USDT");
    await pay("ethereum", walletAddress, 25_000_000n, "whole");
    expect(await shown(invoice)).to.include({ status: "paid", network: "ethereum" });
    const { chain, market } = on("ethereum");
    chain.rollback(30);
    chain.mine([], 31);
    shop.advance(blockMs);
    await market.look();
    expect(await shown(invoice)).to.include({
      status: "open",
      exception: "reverted",
      paidAmount: "0.00",
      network: "ethereum",
    });
  });
});
