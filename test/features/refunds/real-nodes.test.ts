// Refunds that merchants send on real EVM nodes, one of them behind an endpoint that answers like a TRON node.
import { expect } from "chai";
import { createRefund, getAnyRefund, sendRefund } from "../../../src/features/refunds/refunds.ts";
import { cancelInvoice } from "../../../src/features/invoices/invoices.ts";
import { presentRefund } from "../../../src/features/refunds/records.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { minute, second } from "../../../src/kernel/clock.ts";
import { createJsonRpcClient } from "../../../src/platform/chain/evm/client.ts";
import {
  startEthereumLab,
  startTronLab,
  type ChainLab,
  type LabOptions,
  type LabPayment,
} from "../../support/chain/chain-lab.ts";
import { describeOnAnvil } from "../../support/suites/describe-on-anvil.ts";
import { openLedger, type Ledger } from "../../support/ledger.ts";
import { watch, type WatchedLedger } from "../../support/watched-ledger.ts";
import { eachStore, shareOf, testContext } from "../../support/store/stores.ts";

const blockSeconds = 3;
/** Blocks after which every block so far is final on both networks. */
const finalBlocks = 80;
/** The index of the account that is the merchant's wallet. */
const merchant = 8;

const labs: readonly {
  readonly network: string;
  readonly start: (options: LabOptions) => Promise<ChainLab>;
}[] = [
  { network: "tron", start: startTronLab },
  { network: "ethereum", start: startEthereumLab },
];

describeOnAnvil("Refunds on real nodes", () => {
  eachStore("with the store", (store) => {
    for (const { network: id, start } of shareOf(store, labs)) {
      describe(id, () => {
        let shop: Ledger;
        let lab: ChainLab;
        let market: WatchedLedger;
        let shown: (payer: number) => string;

        before(async () => {
          shop = await openLedger(await store.open(), id);
          lab = await start({ genesisTime: shop.now(), blockSeconds });
          const network = shop.networks.get(id);
          if (network === undefined) throw new Error(`there is no network ${id}`);
          market = watch(shop, id, [createJsonRpcClient({ network, url: lab.providerUrl })]);
          shown = (payer) => network.kind.formatAddress(lab.payers[payer] ?? "");
          await mine(finalBlocks);
          await shop.addWallet(id, { address: shown(merchant) });
        });
        after(() => lab.stop());

        async function mine(blocks: number): Promise<void> {
          await lab.mine(blocks);
          shop.advance(blocks * blockSeconds * second);
          await market.look();
        }

        /** A refund of a payment of a canceled invoice, to the account 1. */
        async function requested() {
          const invoice = await shop.create({ network: id });
          await cancelInvoice(shop.app, testContext, invoice.organizationId, invoice.id);
          const amount = invoice.payableAmount ?? 0n;
          await lab.pay({ to: lab.payers[merchant] ?? "", amount });
          await mine(finalBlocks);
          const { data } = await market.payments({ invoiceId: invoice.id });
          const [payment] = data;
          expect(payment).to.include({ status: "review" });
          const made = await createRefund(shop.app, testContext, shop.organizationId, {
            paymentId: payment?.id as Id<"payment">,
            amount: String(payment?.amount),
            address: shown(1),
          });
          return { amount, refundId: made.refund.id };
        }

        async function named(refundId: Id<"refund">, payment: Omit<LabPayment, "to">) {
          const { transactionHash } = await lab.pay({ to: lab.payers[1] ?? "", ...payment });
          await sendRefund(shop.app, testContext, shop.organizationId, refundId, transactionHash);
          shop.advance(blockSeconds * second);
          await market.look();
          return presentRefund(await getAnyRefund(shop.app, refundId));
        }

        it("are confirmed by the transaction that pays them, and by no other", async () => {
          const { amount, refundId } = await requested();
          const wrong = [
            ["other_sender", { amount, from: 2 }],
            ["too_small", { amount: amount - 1n, from: merchant }],
            ["other_token", { amount, from: merchant, token: "fake" }],
          ] as const;
          for (const [refusal, payment] of wrong) {
            // Not final yet, so another transaction can replace it.
            expect(await named(refundId, payment)).to.include({ status: "sent", refusal });
          }
          const sent = await named(refundId, { amount, from: merchant });
          expect(sent).to.include({ status: "sent" });
          await mine(finalBlocks);
          const done = presentRefund(await getAnyRefund(shop.app, refundId));
          expect(done).to.include({ status: "confirmed", transactionHash: sent.transactionHash });
        });

        it("are requested again once their transaction has left the chain", async () => {
          const { amount, refundId } = await requested();
          const sent = await named(refundId, { amount, from: merchant });
          expect(sent).to.include({ status: "sent" });
          await lab.reorg(2);
          for (let attempt = 0; attempt < 20; attempt += 1) {
            shop.advance(6 * minute);
            await market.look();
          }
          expect(presentRefund(await getAnyRefund(shop.app, refundId))).to.include({
            status: "requested",
            refusal: "reverted",
            refusedTransactionHash: sent.transactionHash,
          });
        });
      });
    }
  });
});
