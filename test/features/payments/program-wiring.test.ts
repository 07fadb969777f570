// The wiring of the program: the providers that are asked about named transactions, and the examiner of unread networks.
import { expect } from "chai";
import { cancelInvoice } from "../../../src/features/invoices/invoices.ts";
import type { InvoiceView } from "../../../src/features/invoices/records.ts";
import { submitClaim } from "../../../src/features/payments/hash-claims/submit-claim.ts";
import { paymentClaims } from "../../../src/features/payments/table.ts";
import { presentRefund } from "../../../src/features/refunds/records.ts";
import { createRefund, getAnyRefund, sendRefund } from "../../../src/features/refunds/refunds.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { hour, minute } from "../../../src/kernel/clock.ts";
import type { ChainClient } from "../../../src/platform/chain/client.ts";
import { parseAddress } from "../../../src/platform/chain/evm/addresses.ts";
import { makeFakeChain, wordOf, type FakeChain } from "../../support/chain/fake-chain.ts";
import type { Faults } from "../../support/chain/fake-provider.ts";
import { known, newAddress, openLedger, type Ledger } from "../../support/ledger.ts";
import { anyStore, testContext } from "../../support/store/stores.ts";
import { blockMs, transferTo, watch, type WatchedLedger } from "../../support/watched-ledger.ts";

/** Blocks after which every block so far is final. */
const finalBlocks = 40;

anyStore("A network of the program with two providers", (store) => {
  let shop: Ledger;
  let chain: FakeChain;
  let market: WatchedLedger;
  let wallet: string;
  let transactions = 0;

  /** Reads Ethereum from the first provider, and from a second one with these faults. */
  async function open(faults: Partial<Faults>, unread: readonly string[] = []): Promise<void> {
    shop = await openLedger(await store.open(), "ethereum", "bsc");
    chain = makeFakeChain({
      startAt: shop.now() - 200 * blockMs,
      blockMs,
      finalityLag: 30,
      chainId: 1,
    });
    chain.mine([], 199);
    const second: ChainClient = chain.provider("http://second", faults);
    market = watch(shop, "ethereum", [chain.client, second], unread);
    await market.look();
    wallet = newAddress();
    for (const id of ["ethereum", "bsc"]) await shop.addWallet(id, { address: `0x${wallet}` });
  }

  async function mine(blocks = 1, ...sent: Parameters<FakeChain["mine"]>[0] & object) {
    chain.mine(sent, blocks);
    shop.advance(blocks * blockMs);
    await market.look();
  }

  /** Returns a name of a transaction that no other test uses. */
  const newName = () => `wired ${String((transactions += 1))}`;

  const submit = ({ id, organizationId }: InvoiceView, network: string, name: string) =>
    shop.db.write(testContext, (tx) =>
      submitClaim(tx, shop.app, { id, organizationId, network }, wordOf(name)),
    );
  async function claimOf({ id }: InvoiceView) {
    const rows = await shop.db.find(paymentClaims, "WHERE invoice_id = $1", [id]);
    return rows.map(({ network, state, reason }) => ({ network, state, reason }));
  }

  describe("asks both about a submitted transaction that the first one does not know", () => {
    for (const [what, faults, outcome] of [
      ["the second one tells of it", {}, { state: "waiting", reason: null }],
      [
        "the second one does not know it either",
        { denied: new Set(["it"]) },
        { state: "refused", reason: "unknown" },
      ],
      [
        "the second one is silent",
        { failure: "unreachable" },
        { state: "refused", reason: "unknown" },
      ],
    ] as const) {
      it(`after an hour: ${what}`, async () => {
        const name = newName();
        const denied = new Set([wordOf(name)]);
        await open("denied" in faults ? { denied } : faults);
        // Nobody lists it, and only some have its receipt.
        chain.faults.denied = denied;
        const invoice = await shop.create();
        await submit(invoice, "ethereum", name);
        await mine(1, transferTo(shop, { walletAddress: `0x${newAddress()}` }, 1n, name));
        expect(await claimOf(invoice)).to.deep.equal([
          { network: "ethereum", state: "waiting", reason: "unknown" },
        ]);
        shop.advance(hour);
        await mine();
        expect(await claimOf(invoice)).to.deep.equal([{ network: "ethereum", ...outcome }]);
      });
    }
  });

  describe("has a refund proven by both", () => {
    /** A refund of a payment of a canceled invoice, whose transaction has been final for a while. */
    async function refunded(faults: Partial<Faults>) {
      await open({});
      const name = newName();
      const invoice = await shop.create();
      await cancelInvoice(shop.app, testContext, invoice.organizationId, invoice.id);
      await mine(finalBlocks, transferTo(shop, invoice, known(invoice.payableAmount), newName()));
      const [payment] = (await market.payments({ invoiceId: invoice.id })).data;
      expect(payment).to.include({ status: "review" });
      const to = `0x${newAddress()}`;
      const { refund } = await createRefund(shop.app, testContext, shop.organizationId, {
        paymentId: payment?.id as Id<"payment">,
        amount: String(payment?.amount),
        address: to,
      });
      const sent = transferTo(shop, { walletAddress: to }, refund.amount, name);
      const from = parseAddress(`0x${wallet}`);
      if (!from.ok) throw new Error("the wallet has no address");
      market = watch(shop, "ethereum", [chain.client, chain.provider("http://second", faults)]);
      await sendRefund(shop.app, testContext, shop.organizationId, refund.id, wordOf(name));
      await mine(finalBlocks, { ...sent, from: from.address });
      shop.advance(minute);
      await mine();
      return presentRefund(await getAnyRefund(shop.app, refund.id));
    }

    for (const [what, faults, status] of [
      ["if they agree", {}, "confirmed"],
      ["unless the second one has it fail", { receipt: "failed" }, "sent"],
      ["unless the second one has it in another block", { receipt: "other_block" }, "sent"],
      ["unless the second one is silent", { failure: "unreachable" }, "sent"],
    ] as const) {
      it(what, async () => {
        expect((await refunded(faults)).status).to.equal(status);
      });
    }
  });

  it("takes over the submitted transactions of a network that nobody reads, and of no other", async () => {
    for (const [unread, network] of [
      [["bsc"], "ethereum"],
      [[], "bsc"],
    ] as const) {
      await open({}, unread);
      await shop.scan("bsc");
      const invoice = await shop.create({
        network: undefined,
        tokenSymbol: undefined,
        paymentOptions: ["ethereum", "bsc"].map((id) => ({
          network: id,
          tokenSymbol: "USDT",
          walletId: null,
        })),
      });
      await shop.choose(invoice.checkoutId, "ethereum", "USDT");
      await shop.choose(invoice.checkoutId, "bsc", "USDT");
      await submit(invoice, "bsc", newName());
      await mine();
      expect((await claimOf(invoice)).map((claim) => claim.network)).to.deep.equal([network]);
    }
  });
});
