// Whether a payment was made before its invoice, by the order of the chain instead of its times.
import { expect } from "chai";
import type { InvoiceView } from "../../../../src/features/invoices/records.ts";
import { holds } from "../../../../src/features/invoices/table.ts";
import { wallets } from "../../../../src/features/wallets/table.ts";
import { transfers } from "../../../../src/features/payments/table.ts";
import { networkState } from "../../../../src/platform/chain/state/network-state.ts";
import { minute, second } from "../../../../src/kernel/clock.ts";
import { usdt } from "../../../support/amounts.ts";
import { xpubs } from "../../../support/merchants.ts";
import { openLedger, type Ledger } from "../../../support/ledger.ts";
import {
  blockMs,
  transferTo,
  watch,
  watchScripted,
  type WatchedLedger,
} from "../../../support/watched-ledger.ts";
import { expectSound } from "../../../support/store/expect-store-is-consistent.ts";
import type { RowOf } from "../../../../src/platform/database/schema/table.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import type { FakeChain } from "../../../support/chain/fake-chain.ts";

const shared = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

eachStore("Payments on a chain whose blocks have old times", (store) => {
  const it = takeTurns(store);
  let shop: Ledger;
  let chain: FakeChain;
  let market: WatchedLedger;
  let sent = 0;

  /** Opens a shop whose chain's blocks are this far behind the clock, with all blocks read. */
  async function open(lagMs: number): Promise<void> {
    shop = await openLedger(await store.open(), "ethereum");
    ({ chain, market } = await watchScripted(shop, "ethereum", { lagMs }));
  }
  beforeEach(() => open(30 * minute));
  afterEach(() => expectSound(shop.db));

  /** Mines a block with a payment of USDT to an invoice's address. */
  function pay(invoice: Pick<InvoiceView, "walletAddress">, amount: bigint | null): void {
    sent += 1;
    chain.mine([transferTo(shop, invoice, amount ?? 0n, `payment ${String(sent)}`)]);
    shop.advance(blockMs);
  }
  const statusOf = async (invoice: InvoiceView) => (await market.read(invoice)).status;
  const waiting = async () =>
    (await shop.db.find(transfers, "ORDER BY id")).map(({ waitingReason }) => waitingReason);
  const lastHold = async () => {
    const held = (await shop.db.find(holds, "ORDER BY id")).at(-1);
    if (held === undefined) throw new Error("there is no hold");
    return held;
  };
  const changeHolds = (to: Partial<RowOf<typeof holds>>) =>
    shop.db.write(testContext, (tx) => tx.update(holds, to, "WHERE network = $1", ["ethereum"]));

  for (const [place, receiver] of [
    ["a shared address", { address: shared }],
    ["an address of its own", { xpub: xpubs.first }],
  ] as const) {
    for (const lag of [0, 3, 30]) {
      it(`count for a new invoice at ${place} when the times are ${String(lag)} minutes old`, async () => {
        await open(lag * minute);
        await shop.addWallet("ethereum", receiver);
        const invoice = await shop.create();
        pay(invoice, invoice.payableAmount);
        await market.look();
        expect(await statusOf(invoice)).to.equal("confirming");
      });
    }
  }

  it("count after a restart", async () => {
    await shop.addWallet("ethereum", { address: shared });
    const invoice = await shop.create();
    market = watch(shop, "ethereum", [chain.client]);
    // The lease of the process that ended.
    shop.advance(2 * minute);
    pay(invoice, invoice.payableAmount);
    await market.look();
    expect(await statusOf(invoice)).to.equal("confirming");
  });

  it("count when another server reads the network, whose provider has the same blocks", async () => {
    await shop.addWallet("ethereum", { address: shared });
    const invoice = await shop.create();
    market = watch(shop, "ethereum", [chain.provider("another server")]);
    // The lease of the first server ends.
    shop.advance(2 * minute);
    pay(invoice, invoice.payableAmount);
    await market.look();
    expect(await statusOf(invoice)).to.equal("confirming");
  });

  it("do not count for an invoice if they were recorded before it, even if a reorganization then puts them above the mark", async () => {
    await shop.addWallet("ethereum", { address: shared });
    // An address is watched, and its transfers are recorded, while an invoice can be paid there.
    const first = await shop.create({ amount: "30.00" });
    pay(first, usdt("25"));
    await market.look();
    shop.advance(second);
    const invoice = await shop.create();
    expect(invoice.payableAmount).to.equal(usdt("25"));
    const [recorded] = await shop.db.find(transfers, "ORDER BY id");
    expect(recorded?.createdAt).to.be.below((await lastHold()).startsAt);
    await market.look();
    expect(await statusOf(invoice)).to.equal("open");

    chain.rollback(1);
    chain.mine([], 3);
    sent -= 1;
    pay(invoice, usdt("25"));
    await market.look();
    const [moved] = await shop.db.find(transfers, "ORDER BY id");
    expect(moved).to.include({ id: recorded?.id, invoiceId: null });
    expect(moved?.blockHeight).to.be.above((await lastHold()).markHeight ?? Infinity);
    expect(await statusOf(invoice)).to.equal("open");

    pay(invoice, invoice.payableAmount);
    await market.look();
    expect(await statusOf(invoice)).to.equal("confirming");
  });

  it("never count if the block was read while the address was not watched, however new it seems", async () => {
    await open(-minute);
    const wallet = await shop.addWallet("ethereum", { address: shared });
    pay({ walletAddress: shared }, usdt("25"));
    await market.look();
    const invoice = await shop.create({ walletId: wallet.id });
    expect(invoice.payableAmount).to.equal(usdt("25"));
    await market.look();
    const found = await shop.db.find(transfers, "ORDER BY id");
    expect(
      found.map(({ invoiceId, waitingReason }) => ({ invoiceId, waitingReason })),
    ).to.deep.equal([{ invoiceId: null, waitingReason: null }]);
    expect(await statusOf(invoice)).to.equal("open");
  });

  it("stay with their invoice wherever a reorganization puts them", async () => {
    await shop.addWallet("ethereum", { address: shared });
    const invoice = await shop.create();
    pay(invoice, invoice.payableAmount);
    await market.look();
    chain.rollback(3);
    sent -= 1;
    pay(invoice, invoice.payableAmount);
    chain.mine([], 3);
    await market.look();
    await market.look();
    const [found] = await shop.db.find(transfers, "ORDER BY id");
    const [held] = await shop.db.find(holds, "ORDER BY id");
    expect(found?.blockHeight).to.be.below(held?.markHeight ?? 0);
    expect(await statusOf(invoice)).to.equal("confirming");
  });

  describe("of which it is not known whether they or the invoice came first", () => {
    /** Each leaves the newest hold without proof, after which its payment has a time before the hold. */
    const cases: readonly (readonly [name: string, make: () => Promise<unknown>])[] = [
      [
        "the newest block was read too long before the invoice",
        async () => {
          shop.advance(37 * second);
          await reissue();
        },
      ],
      [
        "the invoice is of an earlier version",
        () =>
          changeHolds({ markHeight: null, markHash: null, markReadAt: null, isMarkRecent: false }),
      ],
      ["the newest block of then is above the chain", () => changeHolds({ markHeight: 5_000 })],
      [
        "the chain has replaced the newest block of then, and the payment is below it",
        () => {
          chain.rollback(3);
          return Promise.resolve();
        },
      ],
      [
        "no block came for so long that the provider may stand still",
        async () => {
          for (let reads = 0; reads < 13; reads += 1) {
            shop.advance(10 * second);
            await market.look();
          }
          await reissue();
        },
      ],
    ];
    let invoice: InvoiceView;
    const reissue = async () => {
      const [wallet] = await shop.db.find(wallets, "");
      if (wallet === undefined) throw new Error("there is no wallet");
      invoice = await shop.create({ walletId: wallet.id, amount: "26.00" });
    };
    for (const [name, make] of cases) {
      it(`wait at a shared address if ${name}`, async () => {
        const wallet = await shop.addWallet("ethereum", { address: shared });
        invoice = await shop.create({ walletId: wallet.id });
        await make();
        pay(invoice, invoice.payableAmount);
        chain.mine([], 3);
        await market.look();
        expect(await waiting()).to.deep.equal(["order_unknown"]);
        expect(await statusOf(invoice)).to.equal("open");
      });

      it(`count at an address that no invoice had before if ${name}`, async () => {
        const wallet = await shop.addWallet("ethereum", { xpub: xpubs.first });
        invoice = await shop.create({ walletId: wallet.id });
        await make();
        pay(invoice, invoice.payableAmount);
        chain.mine([], 3);
        await market.look();
        expect(await statusOf(invoice)).to.equal("confirming");
      });
    }

    it("wait at an address that an invoice had before", async () => {
      const wallet = await shop.addWallet("ethereum", { xpub: xpubs.first });
      invoice = await shop.create({ walletId: wallet.id });
      await changeHolds({ isMarkRecent: false, isNewAddress: false });
      pay(invoice, invoice.payableAmount);
      await market.look();
      expect(await waiting()).to.deep.equal(["order_unknown"]);
    });

    it("count if their time is after the invoice", async () => {
      await open(0);
      const wallet = await shop.addWallet("ethereum", { address: shared });
      invoice = await shop.create({ walletId: wallet.id });
      await changeHolds({ isMarkRecent: false });
      pay(invoice, invoice.payableAmount);
      await market.look();
      expect(await statusOf(invoice)).to.equal("confirming");
    });
  });

  it("do not count if the provider stood still while they were made and the invoice was issued", async () => {
    await open(0);
    await shop.addWallet("ethereum", { address: shared });
    // Its payer knows the address and the price, and pays before the invoice is there.
    pay({ walletAddress: shared }, usdt("25"));
    const invoice = await (async () => {
      for (let block = 1; block <= 40; block += 1) {
        chain.mine();
        shop.advance(blockMs);
        chain.faults.lag = block + 1;
        await market.look();
      }
      return shop.create();
    })();
    expect(invoice.payableAmount).to.equal(usdt("25"));
    chain.faults.lag = 0;
    await market.look();
    expect(await waiting()).to.deep.equal(["order_unknown"]);
    expect(await statusOf(invoice)).to.equal("open");
  });

  it("are judged for a later hold of the invoice by the newest block of its first one", async () => {
    await shop.addWallet("ethereum", { address: shared });
    const options = ["USDT", "USDC"].map((tokenSymbol) => ({ network: "ethereum", tokenSymbol }));
    const invoice = await shop.create({
      network: undefined,
      tokenSymbol: undefined,
      paymentOptions: options,
    });
    chain.mine([], 3);
    shop.advance(3 * blockMs);
    await market.look();
    await shop.choose(invoice.checkoutId, "ethereum", "USDC");
    const own = await shop.db.find(holds, "WHERE invoice_id = $1 ORDER BY id", [invoice.id]);
    const marks = own.map(({ markHeight, markHash, isMarkRecent }) => ({
      markHeight,
      markHash,
      isMarkRecent,
    }));
    expect(marks).to.have.length(2);
    expect(marks[1]).to.deep.equal(marks[0]);
    expect(marks[0]?.markHeight).to.equal(199);
  });

  it("are in time until a block has a time after the deadline", async () => {
    await shop.addWallet("ethereum", { address: shared });
    const invoice = await shop.create({ expiresInSeconds: 300 });
    shop.advance(10 * minute);
    pay(invoice, invoice.payableAmount);
    await market.look();
    expect(await market.read(invoice)).to.include({ status: "confirming", exception: "none" });
  });

  it("are not certain after a scan that is older than three polls, or behind the chain", async () => {
    await shop.addWallet("ethereum", { address: shared });
    const recent = async () => {
      await shop.create();
      return (await shop.db.find(holds, "ORDER BY id")).at(-1)?.isMarkRecent;
    };
    expect(await recent()).to.equal(true);
    const state = await networkState(shop.db, "ethereum");
    await shop.scan("ethereum", state?.tipHeight, state?.tipTime);
    const pollMs = shop.networks.get("ethereum")?.pollMs ?? 0;
    shop.advance(Math.max(30 * second, 3 * pollMs));
    expect(await recent()).to.equal(true);
    shop.advance(1);
    expect(await recent()).to.equal(false);
  });
});
