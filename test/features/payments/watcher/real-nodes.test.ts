// The watcher against real EVM nodes, one of them behind an endpoint that answers like a TRON node.
import { expect } from "chai";
import type { InvoiceView } from "../../../../src/features/invoices/records.ts";
import { second } from "../../../../src/kernel/clock.ts";
import { createJsonRpcClient } from "../../../../src/platform/chain/evm/client.ts";
import {
  startBaseLab,
  startBscLab,
  startEthereumLab,
  startTronLab,
  type ChainLab,
  type LabOptions,
} from "../../../support/chain/chain-lab.ts";
import { describeOnAnvil } from "../../../support/suites/describe-on-anvil.ts";
import { xpubs } from "../../../support/merchants.ts";
import { openLedger, type Ledger } from "../../../support/ledger.ts";
import { watch, type WatchedLedger } from "../../../support/watched-ledger.ts";
import { eachStore, shareOf } from "../../../support/store/stores.ts";

const blockSeconds = 3;
/** The number of confirmations that the slowest network requires. */
const depth = 30;

/** A merchant on a lab's network, with an address for each invoice. */
interface Scene {
  readonly lab: ChainLab;
  readonly shop: Ledger;
  readonly market: WatchedLedger;
  readonly issue: () => Promise<InvoiceView>;
  /** The invoice's address as 40 hexadecimal digits. */
  readonly addressOf: (invoice: InvoiceView) => string;
  readonly mine: (blocks: number) => Promise<void>;
}

async function open(lab: ChainLab, shop: Ledger, providerUrls = [lab.providerUrl]): Promise<Scene> {
  const network = shop.networks.get(lab.network);
  if (network === undefined) throw new Error(`there is no network ${lab.network}`);
  const providers = providerUrls.map((url) => createJsonRpcClient({ network, url }));
  const market = watch(shop, lab.network, providers);
  const mine = async (blocks: number) => {
    await lab.mine(blocks);
    shop.advance(blocks * blockSeconds * second);
  };
  await mine(80);
  await market.look();
  await shop.addWallet(lab.network, { xpub: xpubs.first });
  return {
    lab,
    shop,
    market,
    mine,
    issue: () => shop.create({ network: lab.network }),
    addressOf(invoice) {
      const parsed = network.kind.parseAddress(invoice.walletAddress ?? "");
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
  // The tokens of this network have 18 decimals.
  { network: "bsc", start: startBscLab },
  // A layer-2 network.
  { network: "base", start: startBaseLab },
];

/** Amounts of the network's USDT in its smallest unit. */
function usdtOf(shop: Ledger, network: string): (amount: number) => bigint {
  const token = shop.networks.get(network)?.tokens.find(({ symbol }) => symbol === "USDT");
  if (token === undefined) throw new Error("there is no USDT");
  return (amount) => BigInt(amount) * 10n ** BigInt(token.decimals);
}

describeOnAnvil("Payments on real nodes", () => {
  eachStore("with the store", (store) => {
    for (const { network, start } of shareOf(store, labs)) {
      describe(network, () => {
        let lab: ChainLab;
        let scene: Scene;
        let usdt: (amount: number) => bigint;
        beforeEach(async () => {
          const shop = await openLedger(await store.open(), network);
          usdt = usdtOf(shop, network);
          lab = await start({ genesisTime: shop.now(), blockSeconds });
          scene = await open(lab, shop);
        });
        afterEach(() => lab.stop());

        it("are seen, confirmed and final, and no other transfer counts", async () => {
          const { market, issue, addressOf, mine } = scene;
          const one = await issue();
          const other = await issue();
          const unpaid = await issue();
          await lab.batchPay([
            { to: addressOf(one), amount: usdt(10) },
            { to: addressOf(other), amount: usdt(25) },
            { to: addressOf(one), amount: usdt(15) },
          ]);
          await lab.payZero(addressOf(unpaid));
          await lab.payFailing({ to: addressOf(unpaid), amount: usdt(25) });
          await lab.pay({ token: "fake", to: addressOf(unpaid), amount: usdt(25) });
          await market.look();
          expect(await market.read(one)).to.include({ status: "confirming", paidAmount: "25.00" });
          expect((await market.payments()).data).to.have.length(3);
          await mine(depth);
          await market.look();
          expect(await market.read(one)).to.include({ status: "paid", exception: "none" });
          expect(await market.read(other)).to.include({ status: "paid", exception: "none" });
          expect(await market.read(unpaid)).to.include({ status: "open", paidAmount: "0.00" });
        });

        it("follow a transaction through reorganizations to its last block", async () => {
          const { market, issue, addressOf, mine } = scene;
          const invoice = await issue();
          await lab.pay({ to: addressOf(invoice), amount: usdt(25) });
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
          await lab.pay({ to: addressOf(invoice), amount: usdt(25) });
          await lab.rollback(1);
          await lab.pay({ to: addressOf(invoice), amount: usdt(25), from: 1 });
          await mine(depth);
          await market.look();
          expect(await market.read(invoice)).to.include({ status: "paid", paidAmount: "25.00" });
        });

        it("are found after any downtime, through a provider that limits its ranges", async () => {
          const { market, issue, addressOf, mine } = scene;
          const invoice = await issue();
          for (let part = 0; part < 5; part += 1) {
            await lab.pay({ to: addressOf(invoice), amount: usdt(5) });
            await mine(150);
          }
          lab.provider.fail("overloaded", 2);
          await market.look();
          await market.look();
          await market.look();
          expect(await market.read(invoice)).to.include({ status: "paid", paidAmount: "25.00" });
          expect(market.watcher.health().problem).to.equal(null);
        });

        it("are never confirmed by one lying provider if there is a second one", async () => {
          const second = await lab.addProvider();
          const shop = await openLedger(await store.open(), network);
          const careful = await open(lab, shop, [lab.providerUrl, second.url]);
          const invoice = await careful.issue();
          const to = careful.addressOf(invoice);
          await lab.pay({ to, amount: usdt(1) });
          // The first provider reports this payment with a multiplied amount.
          const paid = usdt(1).toString(16).padStart(64, "0");
          const claimed = usdt(25).toString(16).padStart(64, "0");
          lab.provider.lie((_call, result) => {
            const reported: unknown = JSON.parse(JSON.stringify(result).replaceAll(paid, claimed));
            return reported;
          });
          await careful.mine(depth);
          await careful.market.look();
          expect(await careful.market.read(invoice)).to.include({ status: "confirming" });
          expect(careful.market.watcher.health().heldPayments).to.equal(1);
        });
      });
    }

    describe("after a reorganization of", () => {
      let lab: ChainLab;
      let scene: Scene;
      before(async () => {
        const shop = await openLedger(await store.open(), "ethereum");
        // No block of the deepest reorganization is final yet.
        const slotsInAnEpoch = 250;
        lab = await startEthereumLab({ genesisTime: shop.now(), blockSeconds, slotsInAnEpoch });
        scene = await open(lab, shop);
      });
      after(() => lab.stop());

      for (const blocks of shareOf(store, [1, 5, 300, 64])) {
        it(`${String(blocks)} blocks are reverted if dropped, and kept once if they come back`, async () => {
          const { market, issue, addressOf, mine } = scene;
          const invoice = await issue();
          const before = (await market.events()).length;
          await lab.pay({ to: addressOf(invoice), amount: 25_000_000n });
          for (let mined = 1; mined < blocks; mined += 30) {
            await mine(Math.min(30, blocks - mined));
            await market.look();
          }
          await market.look();
          const { status } = await market.read(invoice);
          expect(status).to.equal(blocks < 12 ? "confirming" : "paid");

          await lab.reorg(blocks, "delayed");
          await mine(1);
          await market.look();
          const back = (await market.payments({ invoiceId: invoice.id })).data;
          expect(back).to.have.length(1);
          expect(back[0]?.status).to.equal("confirming");

          await lab.reorg(blocks + 2, "dropped");
          await mine(1);
          await market.look();
          expect(await market.read(invoice)).to.include({ status: "open", exception: "reverted" });
          const events = (await market.events()).slice(before);
          expect(events).to.include.members(["payment.reverted", "invoice.reverted"]);

          await lab.pay({ to: addressOf(invoice), amount: 25_000_000n, from: 2 });
          await mine(depth);
          await market.look();
          expect(await market.read(invoice)).to.include({ status: "paid", paidAmount: "25.00" });
        });
      }
    });
  });
});
