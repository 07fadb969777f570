// An invoice is issued through REST, paid on a chain, detected, confirmed and reported by a signed webhook. TRON and
// Ethereum are real EVM nodes (anvil) with USDT at its real addresses; TRON's is behind a front that answers like
// java-tron. Run it alone with: npx mocha test/scenarios/the-way.test.ts
import { expect } from "chai";
import { evmKind } from "../../src/platform/chain/evm/kind.ts";
import { tronKind } from "../../src/platform/chain/tron/kind.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { startEthereumLab, startTronLab, type ChainLab } from "../support/chain/chain-lab.ts";
import { describeOnAnvil } from "../support/suites/describe-on-anvil.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eachStore, shareOf } from "../support/store/stores.ts";
import { until } from "../support/until.ts";
import {
  checkout,
  checkoutIs,
  issueInvoice,
  openShop,
  readInvoice,
  webhooksOf,
  type Shop,
} from "./way.ts";

const receivingAddress = "1234567890abcdef1234567890abcdef12345678";
const required = { tron: 19, ethereum: 12 } as const;

eachStore("an invoice paid on a real chain", (store) => {
  for (const network of shareOf(store, ["tron", "ethereum"] as const)) {
    describeOnAnvil(network, () => {
      let lab: ChainLab;
      let receiver: Receiver;
      let app: TestApp;
      let shop: Shop;

      before(async () => {
        lab = await (network === "tron" ? startTronLab() : startEthereumLab({ slotsInAnEpoch: 4 }));
        await lab.mine(40);
        receiver = await startReceiver();
        const name = network.toUpperCase();
        app = await startApp({
          place: await store.place("migrated"),
          settings: {
            TILL_NETWORKS: network,
            [`TILL_${name}_RPC_URLS`]: lab.providerUrl,
            [`TILL_${name}_POLL_MS`]: "100",
            TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32",
          },
        });
        const kind = network === "tron" ? tronKind : evmKind;
        const address = kind.formatAddress(receivingAddress);
        shop = await openShop(app, { network, address }, receiver);
      });
      after(async () => {
        await app.stop();
        await receiver.close();
        await lab.stop();
      });

      it("is paid once, and only by the real token", async () => {
        const invoice = await issueInvoice(shop, network);
        const units = 25_000_000n;
        expect(invoice.payableAmount).to.equal("25.00");

        await lab.pay({ token: "fake", to: receivingAddress, amount: units });
        await lab.payZero(receivingAddress);
        await lab.payFailing({ to: receivingAddress, amount: 10n ** 50n });
        await lab.mine(3);
        const untouched = await scanned(app, lab, network);
        expect(untouched).to.be.at.least(await lab.height());
        expect((await checkout(app, invoice)).invoice.status).to.equal("open");

        const { transactionHash } = await lab.pay({
          to: receivingAddress,
          amount: units,
        });
        const first = await checkoutIs(app, invoice, "confirming");
        expect(first.confirmationProgress).to.deep.equal({
          current: 1,
          required: required[network],
        });

        for (let depth = 5; depth < required[network]; depth += 4) {
          await lab.mine(4);
          const session = await until(
            `${String(depth)} confirmations`,
            () => checkout(app, invoice),
            ({ confirmationProgress }) => confirmationProgress.current === depth,
          );
          expect(session.invoice.status).to.equal("confirming");
        }
        await lab.mine(required[network]);

        const paid = await checkoutIs(app, invoice, "paid");
        expect(paid.confirmationProgress).to.deep.equal({
          current: required[network],
          required: required[network],
        });
        const hash = network === "tron" ? transactionHash.slice(2) : transactionHash;
        expect(paid.receipt).to.include({ amount: "25.00", paidAmount: "25.00" });
        expect(paid.receipt?.transactionHashes).to.deep.equal([hash]);

        expect(await readInvoice(shop, invoice)).to.include({
          status: "paid",
          exception: "none",
          paidTokenAmount: "25.00",
        });
        expect((await shop.till.payments.list(shop.organizationId)).data).to.have.length(1);

        const events = await webhooksOf(receiver, shop.webhookSecret, "invoice.paid");
        expect(events).to.have.length(1);
        expect(events[0]?.data).to.include({ id: invoice.id, status: "paid" });
        // Requests are concurrent, so an earlier one may arrive later.
        const sequences = () =>
          receiver.requests
            .map(({ body: text }) => (JSON.parse(text) as { sequence: number }).sequence)
            .sort((left, right) => left - right);
        await until("each event once, without a gap", sequences, (numbers) =>
          numbers.every((number, place) => number === place + 1),
        );
      });

      it("survives a reorganization that removes the payment and restores it", async () => {
        const invoice = await issueInvoice(shop, network, { amount: "30" });
        await lab.mine(2);
        await lab.pay({ to: receivingAddress, amount: 30_000_000n });
        await lab.mine(2);
        await checkoutIs(app, invoice, "confirming");
        await lab.reorg(4, "dropped");
        await checkoutIs(app, invoice, "open");
        expect((await readInvoice(shop, invoice)).exception).to.equal("reverted");
        await lab.pay({ to: receivingAddress, amount: 30_000_000n });
        await lab.mine(required[network]);
        await checkoutIs(app, invoice, "paid");
        await webhooksOf(receiver, shop.webhookSecret, "payment.reverted");
      });
    });
  }
});

/** Returns the height up to which the watcher has read, once it equals the chain's. */
async function scanned(app: TestApp, lab: ChainLab, network: string): Promise<number> {
  const tip = await lab.height();
  const height = async () => {
    const [row] = await app.app.db.all<{ tip: number }>(
      'SELECT tip_height AS "tip" FROM network_states WHERE network = $1',
      [network],
    );
    return row?.tip ?? 0;
  };
  return until("the watcher at the tip", height, (read) => read >= tip);
}
