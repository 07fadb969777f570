// The watcher against real EVM nodes, one of them behind an endpoint that answers as a TRON node does.
import { expect } from "chai";
import type { InvoiceView } from "../../../src/features/invoices/index.ts";
import { second } from "../../../src/kernel/clock.ts";
import { parseAddress } from "../../../src/platform/chain/address.ts";
import { createJsonRpcClient } from "../../../src/platform/chain/json-rpc.ts";
import {
  startEthereumLab,
  startTronLab,
  type ChainLab,
  type LabOptions,
} from "../../support/chain-lab.ts";
import { describeOnAnvil } from "../../support/describe-on-anvil.ts";
import { xpubs } from "../../support/merchants.ts";
import { openShop, type Shop } from "../../support/shop.ts";
import { eachStore } from "../../support/stores.ts";
import { openMarket, type Market } from "./market.ts";

const blockSeconds = 3;
const depth = 19;

/** A merchant on a lab's network, with an address for each invoice. */
interface Scene {
  readonly lab: ChainLab;
  readonly shop: Shop;
  readonly market: Market;
  readonly issue: () => Promise<InvoiceView>;
  /** The invoice's address as 40 hexadecimal digits. */
  readonly addressOf: (invoice: InvoiceView) => string;
  readonly mine: (blocks: number) => Promise<void>;
}

async function open(lab: ChainLab, shop: Shop, providerUrls = [lab.providerUrl]): Promise<Scene> {
  const network = shop.networks.get(lab.network);
  if (network === undefined) throw new Error(`there is no network ${lab.network}`);
  const providers = providerUrls.map((url) => createJsonRpcClient({ network, url }));
  const [client] = providers;
  if (client === undefined) throw new Error("there is no provider");
  const market = openMarket(shop, lab.network, client, providers);
  const mine = async (blocks: number) => {
    await lab.mine(blocks);
    shop.advance(blocks * blockSeconds * second);
  };
  await mine(80);
  await market.look();
  await shop.addWallet(lab.network, { xpub: xpubs.first });
  return {
    ...{ lab, shop, market, mine },
    issue: () => shop.create({ network: lab.network }),
    addressOf(invoice) {
      const parsed = parseAddress(network.addressForm, invoice.walletAddress ?? "");
      if (!parsed.ok) throw new Error(parsed.message);
      return parsed.address;
    },
  };
}

const labs: readonly {
  readonly network: string;
  readonly start: (options: LabOptions) => Promise<ChainLab>;
}[] = [
  { network: "tron", start: startTronLab },
  { network: "ethereum", start: startEthereumLab },
];

describeOnAnvil("Payments on real nodes", function () {
  this.timeout(60_000);

  eachStore("with the store", (store) => {
    for (const { network, start } of labs) {
      describe(network, () => {
        let lab: ChainLab;
        let scene: Scene;
        beforeEach(async () => {
          const shop = await openShop(await store.open(), network);
          lab = await start({ genesisTime: shop.now(), blockSeconds });
          scene = await open(lab, shop);
        });
        afterEach(() => lab.stop());

        it("are seen, confirmed and final, and nothing else is taken for money", async () => {
          const { market, issue, addressOf, mine } = scene;
          const one = await issue();
          const other = await issue();
          const unpaid = await issue();
          await lab.batchPay([
            { to: addressOf(one), amount: 10_000_000n },
            { to: addressOf(other), amount: 25_000_000n },
            { to: addressOf(one), amount: 15_000_000n },
          ]);
          await lab.payZero(addressOf(unpaid));
          await lab.payFailing({ to: addressOf(unpaid), amount: 25_000_000n });
          await lab.pay({ token: "fake", to: addressOf(unpaid), amount: 25_000_000n });
          await market.look();
          expect(await market.read(one)).to.include({ status: "confirming", paidAmount: "25.00" });
          expect((await market.payments()).data).to.have.length(3);
          await mine(depth);
          await market.look();
          expect(await market.read(one)).to.include({ status: "paid", exception: "none" });
          expect(await market.read(other)).to.include({ status: "paid", exception: "none" });
          expect(await market.read(unpaid)).to.include({ status: "open", paidAmount: "0.00" });
        });

        it("follow a transaction through reorganisations to the block where it stays", async () => {
          const { market, issue, addressOf, mine } = scene;
          const invoice = await issue();
          await lab.pay({ to: addressOf(invoice), amount: 25_000_000n });
          await mine(3);
          await market.look();
          const [first] = (await market.payments()).data;
          await lab.reorg(5, "delayed");
          await market.look();
          const [moved, ...more] = (await market.payments()).data;
          expect(more).to.deep.equal([]);
          expect(moved).to.include({ id: first?.id, status: "confirming" });
          expect(moved?.blockNumber).to.be.greaterThan(first?.blockNumber ?? 0);
          await lab.reorg(5, "dropped");
          await mine(1);
          await market.look();
          expect(await market.read(invoice)).to.include({ status: "open", exception: "reverted" });
          await lab.pay({ to: addressOf(invoice), amount: 25_000_000n });
          await lab.rollback(1);
          await lab.pay({ to: addressOf(invoice), amount: 25_000_000n, from: 1 });
          await mine(depth);
          await market.look();
          expect(await market.read(invoice)).to.include({ status: "paid", paidAmount: "25.00" });
        });

        it("are found after any time away, through a provider that limits its ranges", async () => {
          const { market, issue, addressOf, mine } = scene;
          const invoice = await issue();
          for (let part = 0; part < 5; part += 1) {
            await lab.pay({ to: addressOf(invoice), amount: 5_000_000n });
            await mine(150);
          }
          lab.provider.fail("overloaded", 2);
          await market.look();
          await market.look();
          await market.look();
          expect(await market.read(invoice)).to.include({ status: "paid", paidAmount: "25.00" });
          expect(market.watcher.health().problem).to.equal(null);
        });

        it("are never confirmed by one provider that lies, where there is a second", async () => {
          const second = await lab.addProvider();
          const shop = await openShop(await store.open(), network);
          const careful = await open(lab, shop, [lab.providerUrl, second.url]);
          const invoice = await careful.issue();
          const to = careful.addressOf(invoice);
          await lab.pay({ to, amount: 1_000_000n });
          // The first provider multiplies what it tells of this payment.
          const paid = 1_000_000n.toString(16).padStart(64, "0");
          const claimed = 25_000_000n.toString(16).padStart(64, "0");
          lab.provider.lie((_call, result) => {
            const told: unknown = JSON.parse(JSON.stringify(result).replaceAll(paid, claimed));
            return told;
          });
          await careful.mine(depth);
          await careful.market.look();
          expect(await careful.market.read(invoice)).to.include({ status: "confirming" });
          expect(careful.market.watcher.health().heldPayments).to.equal(1);
        });
      });
    }
  });
});
