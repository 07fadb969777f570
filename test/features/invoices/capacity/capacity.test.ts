import type { Database, Reader } from "../../../../src/platform/database/database.ts";
import { expect } from "chai";
import {
  bandUse,
  fullestBand,
  getWalletCapacity,
  holdUse,
  readHoldUse,
} from "../../../../src/features/invoices/capacity/capacity.ts";
import { presentCapacity } from "../../../../src/features/invoices/capacity/records.ts";
import { holds } from "../../../../src/features/invoices/table.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { findToken } from "../../../../src/platform/chain/networks.ts";
import { appOf } from "../../../support/context.ts";
import { xpubs } from "../../../support/merchants.ts";
import { known, networkOf, openLedger, refusal, type Ledger } from "../../../support/ledger.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";

const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

eachStore("The capacity of a wallet", (store) => {
  store.leavesUnsound({
    checks: ["invoices.held"],
    because: "holds are ended behind the invoices",
  });

  let shop: Ledger;
  beforeEach(async () => {
    shop = await openLedger(await store.open(), "ethereum");
    await shop.scan("ethereum");
  });

  const issue = (amount: string) => shop.create({ network: "ethereum", amount });
  const shownOf = async (walletId: Id<"wallet">, amount?: string) =>
    presentCapacity(await getWalletCapacity(shop.app, shop.organizationId, walletId, amount));
  const usdt = () => known(findToken(networkOf(shop, "ethereum"), "USDT"));

  it("is counted at a given price, or else at the one with the largest used share", async () => {
    const wallet = await shop.addWallet("ethereum", { address });
    const empty = await shownOf(wallet.id);
    expect(empty.tokens.find(({ tokenSymbol }) => tokenSymbol === "USDT")).to.deep.equal({
      tokenSymbol: "USDT",
      price: null,
      used: 0,
      free: null,
      usedPercent: 0,
    });
    for (let count = 0; count < 6; count += 1) await issue("25.00");
    await issue("70.00");
    await issue("0.10");
    const at = async (amount?: string) =>
      (await shownOf(wallet.id, amount)).tokens.find(({ tokenSymbol }) => tokenSymbol === "USDT");
    // 0.25 in steps of a millionth, without the 25 round ones, plus the price itself.
    expect(await at("25.00")).to.include({ price: "25.00", used: 6, free: 249_970 });
    expect(await at("24.00")).to.include({ used: 0, free: 239_977 });
    // The used share of one of 1,001 amounts is larger than that of six of 249,976.
    expect(await at()).to.include({ price: "0.10", used: 1, free: 1_000 });
    expect((await shownOf(wallet.id)).addresses).to.equal(null);
  });

  it("shows in advance that it runs out, on the network concerned", async () => {
    const wallet = await shop.addWallet("ethereum", { address });
    const { address: canonical } = wallet;
    const invoice = await issue("0.01");
    const [held] = await shop.db.find(holds, "WHERE invoice_id = $1", [invoice.id]);
    if (held === undefined || canonical === null) throw new Error("nothing is held");
    // A hundredth of a token has 101 amounts; 81 of them are taken.
    await shop.db.write(testContext, (tx) =>
      tx.insertMany(
        holds,
        Array.from({ length: 80 }, (_, place) => ({
          ...held,
          id: shop.ids.next("hold", shop.now()),
          amount: held.amount + BigInt(place + 1),
        })),
      ),
    );
    const [use] = await holdUse(shop.db, shop.networks.values());
    expect(use).to.include({ network: "ethereum", price: 10_000n, used: 81, total: 101 });
    const place = { network: "ethereum", address: canonical };
    expect(await fullestBand(shop.db, place, usdt())).to.deep.include({ used: 81, total: 101 });
    expect(await bandUse(shop.db, place, usdt(), 10_000n)).to.deep.include({ used: 81 });
    const inUsdc = Array.from({ length: 82 }, (_, place) => ({
      ...held,
      id: shop.ids.next("hold", shop.now()),
      token: "USDC",
      amount: held.amount + BigInt(place),
    }));
    await shop.db.write(testContext, (tx) => tx.insertMany(holds, inUsdc));
    const [most, ...others] = await holdUse(shop.db, shop.networks.values());
    expect(most?.token.symbol).to.equal("USDC");
    expect(most).to.include({ network: "ethereum", used: 82, total: 101 });
    expect(others).to.deep.equal([]);
    await shop.db.write(testContext, (tx) => tx.run("DELETE FROM holds WHERE token = 'USDC'"));
    await shop.db.write(testContext, (tx) => tx.run("UPDATE holds SET released_at = 1"));
    expect(await holdUse(shop.db, shop.networks.values())).to.deep.equal([]);
  });

  it("counts the holds up to the largest surcharge of a price, that one included, at one address", async () => {
    await shop.addWallet("ethereum", { address });
    const [held] = await shop.db.find(holds, "WHERE invoice_id = $1", [(await issue("1.00")).id]);
    if (held === undefined) throw new Error("nothing is held");
    const others = [
      { amount: 1_010_000n },
      { amount: 1_010_000n, address: `0x${"2".repeat(40)}` },
      { amount: 1_020_000n },
    ];
    await shop.db.write(testContext, (tx) =>
      tx.insertMany(
        holds,
        others.map((other) => ({ ...held, ...other, id: shop.ids.next("hold", shop.now()) })),
      ),
    );
    const place = { network: "ethereum", address: held.address };
    expect(await fullestBand(shop.db, place, usdt())).to.include({ price: 1_000_000n, used: 2 });
  });

  it("is read from all holds once a minute, and less often if that takes long", async () => {
    await shop.addWallet("ethereum", { address });
    let [now, tookMs, reads] = [0, 0, 0];
    let isAway = false;
    const slow: Reader = Object.assign(Object.create(shop.db) as Reader, {
      all: async (...given: Parameters<Reader["all"]>) => {
        if (isAway) throw new Error("the store is away");
        const rows = await shop.db.all(...given);
        reads += 1;
        now += tookMs;
        return rows;
      },
    });
    const { networks } = shop.app;
    const app = appOf({ db: slow as Database, clock: { now: () => now }, networks });
    const readsOf = async (afterMs: number) => {
      now += afterMs;
      reads = 0;
      const uses = await Promise.all([readHoldUse(app), readHoldUse(app)]);
      expect(uses[0]).to.equal(uses[1]);
      return reads;
    };
    const once = await readsOf(0);
    expect(once).to.be.greaterThan(0);
    await issue("25.00");
    expect(await readsOf(59_000)).to.equal(0);
    expect(await readHoldUse(app)).to.deep.equal([]);
    tookMs = 1_000;
    expect(await readsOf(1_000)).to.equal(once);
    expect((await readHoldUse(app)).map(({ used }) => used)).to.deep.equal([1]);
    expect(await readsOf(499_000 * once)).to.equal(0);
    expect(await readsOf(1_000 * once)).to.equal(once);
    // A clock that was set back does not keep an old result.
    expect(await readsOf(-10_000_000)).to.equal(once);
    isAway = true;
    now += 10_000_000;
    expect(await readHoldUse(app).catch(String)).to.equal("Error: the store is away");
    isAway = false;
    expect(await readsOf(0)).to.equal(once);
  });

  it("consists of the gap of unpaid addresses if every invoice has its own address", async () => {
    const wallet = await shop.addWallet("ethereum", { xpub: xpubs.first });
    for (let count = 0; count < 20; count += 1) await issue("25.00");
    expect(await shownOf(wallet.id)).to.deep.include({
      kind: "xpub",
      tokens: [],
      addresses: {
        nextIndex: 20,
        highestPaidIndex: null,
        unpaidInARow: 20,
        gapLimit: 20,
        gapWarning: true,
      },
    });
  });

  it("is hidden from other organizations, and rejects an invalid amount", async () => {
    const wallet = await shop.addWallet("ethereum", { address });
    const other = await shop.addOrganization();
    const asked = (owner: Id<"organization">, amount?: string) =>
      refusal(getWalletCapacity(shop.app, owner, wallet.id, amount));
    expect((await asked(other)).status).to.equal(404);
    expect((await asked(shop.organizationId, "1.0000001")).status).to.equal(400);
    expect((await asked(shop.organizationId, "0")).status).to.equal(400);
  });
});
