// Addresses of extended keys: which invoice gets which, and when one is given again.
import { expect } from "chai";
import { getInvoice } from "../../../../src/features/invoices/invoices.ts";
import { createInvoice } from "../../../../src/features/invoices/issuing/create.ts";
import {
  leaveToMerchants,
  endRecycling,
  linkAddressesMax,
} from "../../../../src/features/invoices/holds/addresses.ts";
import { holds, invoices } from "../../../../src/features/invoices/table.ts";
import { spendAddresses, raisePaidIndexes } from "../../../../src/features/wallets/store.ts";
import { spendBackedUp } from "../../../../src/features/wallets/after-restore.ts";
import { addressOwnerships } from "../../../../src/features/wallets/table.ts";
import { archiveWallet, getWallet } from "../../../../src/features/wallets/wallets.ts";
import { day, hour } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { formatAddress } from "../../../../src/platform/chain/evm/addresses.ts";
import { xpubs } from "../../../support/merchants.ts";
import { openLedger, type Ledger } from "../../../support/ledger.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";

const link: Id<"paymentLink"> = "lnk_00000000000000000000000001";
/** The addresses in a row that ordinary wallets scan. */
const gap = 20;
/** The number of them that links take: every second one. */
const ofLinks = gap / 2;
/** The index of the nth address that links take, the first being 0. */
const atLink = (place: number) => 2 * place + 1;

eachStore("An address of an extended key", (store) => {
  let db: Database;
  let shop: Ledger;
  let walletId: Id<"wallet">;
  beforeEach(async () => {
    db = await store.open();
    shop = await openLedger(db, "ethereum", "polygon");
    await shop.scan("ethereum");
    await shop.scan("polygon");
    walletId = (await shop.addWallet("ethereum", { xpub: xpubs.first })).id;
  });

  type Input = Parameters<Ledger["create"]>[0];
  const issue = (input: Input = {}) => shop.create({ network: "ethereum", ...input });
  const start = (input: Input = {}) => issue({ startedAtLink: link, ...input });
  const startMany = async (count: number, input: Input = {}) => {
    const made = [];
    for (let place = 0; place < count; place += 1) {
      made.push(await start(input));
      shop.advance(1);
    }
    return made;
  };
  const issueMany = async (count: number) => {
    const made = [];
    for (let place = 0; place < count; place += 1) made.push(await issue({ amount: "90.00" }));
    return made;
  };
  const indexOf = async ({ id }: { readonly id: string }) =>
    (await db.findOne(invoices, "WHERE id = $1", [id]))?.addressIndex;
  /** Lets time pass, with scans of both networks. */
  const pass = async (milliseconds: number) => {
    shop.advance(milliseconds);
    for (const network of ["ethereum", "polygon"]) {
      const state = await shop.scan(network);
      while ((await shop.sweep(state)) > 0);
    }
  };
  const dieAll = () => pass(2 * hour);
  const endWindows = () => pass(8 * day);
  const canonical = async ({ id }: { readonly id: string }) =>
    (await db.findOne(holds, "WHERE invoice_id = $1", [id]))?.address ?? "";
  const liveAddresses = async () =>
    (await db.find(holds, "WHERE released_at IS NULL")).map(({ address }) => address);
  const nextIndex = async () =>
    (await getWallet(shop.app, shop.organizationId, walletId)).nextIndex;

  it("is given again after the late window of its invoice, the lowest index first, before a new one", async () => {
    const first = [await issue(), await issue(), await issue()];
    expect(await Promise.all(first.map(indexOf))).to.deep.equal([0, 1, 2]);
    await dieAll();
    expect(await indexOf(await issue())).to.equal(3);
    await endWindows();
    await pass(0);
    const again = [await issue(), await issue(), await issue(), await issue(), await issue()];
    expect(await Promise.all(again.map(indexOf))).to.deep.equal([0, 1, 2, 3, 4]);
    expect(await nextIndex()).to.equal(5);
  });

  it("is never given again once it has received a transfer, while held or after its release", async () => {
    const [spent, left] = [await issue(), await issue()];
    const spend = async (address: string) =>
      db.write(testContext, (tx) => spendAddresses(tx, "evm", [address]));
    expect(await spend(await canonical(spent))).to.equal(1);
    expect(await spend(await canonical(spent))).to.equal(0);
    await endWindows();
    expect(await spend(await canonical(left))).to.equal(1);
    expect(await indexOf(await issue())).to.equal(2);
  });

  it("is given to one of 64 callers at once, whether it is free or new", async () => {
    await Promise.all(Array.from({ length: 10 }, () => issue()));
    await endWindows();
    const made = await Promise.all(Array.from({ length: 64 }, () => issue()));
    const indexes = await Promise.all(made.map(indexOf));
    expect(indexes.toSorted((a, b) => Number(a) - Number(b))).to.deep.equal(
      Array.from({ length: 64 }, (_, index) => index),
    );
    const live = await liveAddresses();
    expect(new Set(live).size).to.equal(live.length);
  });

  it("is recycled to one of 64 callers at once from the dead invoices of a link", async () => {
    const dead = ofLinks + 10;
    await startMany(dead);
    await dieAll();
    const made = await Promise.all(
      Array.from({ length: 64 }, (_, place) => issue({ amount: `${String(100 + place)}.00` })),
    );
    const live = await liveAddresses();
    expect(new Set(live).size).to.equal(live.length);
    expect(new Set(made.map(({ walletAddress }) => walletAddress)).size).to.equal(64);
    // All dead addresses were used before new ones, unless concurrent callers found them locked.
    const recycled = await db.find(holds, "WHERE recycled_at IS NOT NULL");
    expect(recycled.length).to.be.within(1, dead);
    if (store.dialect === "sqlite") expect(recycled).to.have.length(dead);
  });

  it("is recycled from the oldest dead invoice of a link once ordinary wallets would miss the next one", async () => {
    const started = await startMany(ofLinks);
    await dieAll();
    // The merchant's half of the addresses goes first.
    for (let place = 0; place < gap - ofLinks; place += 1) {
      expect(await indexOf(await issue({ amount: "30.00" }))).to.equal(2 * place);
    }
    expect(await indexOf(await issue({ amount: "30.00" }))).to.equal(atLink(0));
    expect(await nextIndex()).to.equal(gap);
    const [former] = await db.find(holds, "WHERE invoice_id = $1", [started[0]?.id ?? ""]);
    expect(former?.recycledAt).to.equal(shop.now());
    expect(await indexOf(await issue({ amount: "30.00" }))).to.equal(atLink(1));
    // A paid address makes room for new ones.
    await db.write(testContext, (tx) => raisePaidIndexes(tx, new Map([[walletId, 5]])));
    expect(await indexOf(await issue({ amount: "30.00" }))).to.equal(gap);
  });

  it("is not recycled from open invoices, from those of the merchant, or from one that got a transfer", async () => {
    const [paid] = await startMany(1);
    const address = await canonical(paid ?? { id: "" });
    await db.write(testContext, async (tx) => {
      await spendAddresses(tx, "evm", [address]);
      await endRecycling(tx, "ethereum", [address]);
    });
    for (let count = 0; count < gap; count += 1) await issue();
    await dieAll();
    const [last] = await startMany(1);
    expect(await indexOf(last ?? { id: "" })).to.equal(gap + 1);
    expect(await indexOf(await issue({ amount: "30.00" }))).to.equal(gap + 2);
    expect(await db.find(holds, "WHERE recycled_at IS NOT NULL")).to.deep.equal([]);
  });

  it("is not recycled for the amount that one of its invoices asked for, so that exact payments never wait", async () => {
    await startMany(ofLinks);
    await dieAll();
    await issueMany(gap - ofLinks);
    expect(await indexOf(await issue())).to.equal(gap);
    expect(await indexOf(await start())).to.equal(atLink(ofLinks));
    for (const place of [0, 1, 2]) {
      expect(await indexOf(await start({ amount: "30.00" }))).to.equal(atLink(place));
    }
    await pass(2 * hour);
    // The first place has the oldest hold that is not recycled yet, but two invoices asked for 25.00 or 30.00 there.
    expect(await indexOf(await issue({ amount: "30.00" }))).to.equal(atLink(3));
  });

  const twoTokens = ["USDT", "USDC"].map((tokenSymbol) => ({ network: "ethereum", tokenSymbol }));
  const optional = { network: undefined, tokenSymbol: undefined, paymentOptions: twoTokens };

  it("is not recycled for an amount that its payer chose among options, in force or not", async () => {
    for (let place = 0; place < ofLinks; place += 1) {
      const { checkoutId } = await start(optional);
      await shop.choose(checkoutId, "ethereum", "USDC");
      if (place > 0) await shop.choose(checkoutId, "ethereum", "USDT");
      shop.advance(1);
    }
    await dieAll();
    await issueMany(gap - ofLinks);
    for (const tokenSymbol of ["USDC", "USDT"]) {
      expect(await indexOf(await issue({ tokenSymbol }))).to.be.least(gap);
      expect(await indexOf(await issue({ tokenSymbol, amount: "30.00" }))).to.be.below(gap);
    }
  });

  it("is not shared by a further option if it was recycled, because its earlier invoice may have asked for that amount", async () => {
    await startMany(ofLinks, { settlementCurrency: "USDT" });
    await dieAll();
    await issueMany(gap - ofLinks);
    const [usdt, usdc] = twoTokens;
    const paymentOptions = [usdc, usdt].flatMap((option) => option ?? []);
    const made = await issue({ ...optional, paymentOptions });
    expect(await indexOf(made)).to.equal(atLink(0));
    await shop.choose(made.checkoutId, "ethereum", "USDT");
    const shown = await getInvoice(shop.app, shop.organizationId, made.id);
    expect(shown).to.include({ tokenSymbol: "USDT", payableAmount: 25_000_000n });
    expect(shown.walletAddress).not.to.equal(made.walletAddress);
    expect(await indexOf(made)).to.equal(gap);
  });

  it("serves every token of its network that the payer of its invoice chooses", async () => {
    const made = await start(optional);
    await shop.choose(made.checkoutId, "ethereum", "USDC");
    const own = await db.find(holds, "WHERE invoice_id = $1", [made.id]);
    expect(own.map(({ kind, token }) => ({ kind, token }))).to.deep.equal([
      { kind: "exclusive", token: "*" },
    ]);
    expect(await indexOf(made)).to.equal(atLink(0));
    expect(await nextIndex()).to.equal(atLink(0) + 1);
    const shown = await getInvoice(shop.app, shop.organizationId, made.id);
    expect(shown).to.include({ tokenSymbol: "USDC", walletAddress: made.walletAddress });
  });

  it("is left to the merchant every second time, however many strangers open links", async () => {
    const theirs = await startMany(40);
    expect(await Promise.all(theirs.map(indexOf))).to.deep.equal(theirs.map((_, n) => atLink(n)));
    const own = await issueMany(3);
    expect(await Promise.all(own.map(indexOf))).to.deep.equal([0, 2, 4]);
    await db.write(testContext, (tx) => raisePaidIndexes(tx, new Map([[walletId, 7]])));
    // Once their late windows have ended, those that links took are anybody's.
    await endWindows();
    await pass(0);
    expect(await indexOf(await start())).to.equal(atLink(0));
    expect(await Promise.all((await issueMany(3)).map(indexOf))).to.deep.equal([0, 2, 3]);
  });

  it("is recycled for the merchant before free ones that ordinary wallets do not scan", async () => {
    await startMany(30);
    await dieAll();
    const indexes = await Promise.all((await issueMany(24)).map(indexOf));
    expect(indexes.slice(0, 10)).to.deep.equal([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    expect(indexes.slice(10, 20)).to.deep.equal([1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    expect(await db.find(holds, "WHERE recycled_at IS NOT NULL")).to.have.length(14);
  });

  it("is not taken below the next index, where a restore may have lost invoices", async () => {
    await db.write(testContext, (tx) =>
      tx.run("UPDATE wallet_claims SET next_index = 7 WHERE kind = 'xpub'", []),
    );
    expect(await indexOf(await start())).to.equal(7);
    expect(await indexOf(await issue())).to.equal(8);
    expect(await indexOf(await start())).to.equal(9);
    expect(await indexOf(await start())).to.equal(11);
    expect(await indexOf(await issue())).to.equal(10);
  });

  it("is left to the merchant too while 64 strangers and the merchant come at once", async () => {
    const made = await Promise.all(
      Array.from({ length: 64 }, (_, place) => (place % 4 === 0 ? issue() : start())),
    );
    const indexes = await Promise.all(made.map(async (one) => Number(await indexOf(one))));
    expect(new Set(indexes).size).to.equal(64);
    const theirs = indexes.filter((_, place) => place % 4 !== 0);
    expect(theirs.every((index) => index % 2 === 1)).to.equal(true);
  });

  it("is recycled for the same amount too at a link that has taken very many", async () => {
    await startMany(linkAddressesMax / 2);
    await dieAll();
    expect(await indexOf(await start())).to.equal(atLink(0));
    expect(await indexOf(await start())).to.equal(atLink(1));
    // A payment of the merchant's own invoices never waits because of that.
    await issueMany(gap - ofLinks);
    expect(await indexOf(await issue())).to.equal(gap);
  });

  it("is given again on another network of its family once it is free, and recycled on its own only", async () => {
    const other = await shop.addWallet("polygon", { xpub: xpubs.first });
    await startMany(ofLinks);
    await issueMany(gap - ofLinks);
    await dieAll();
    const at = { network: "polygon", walletId: other.id, tokenSymbol: "USDC", amount: "30.00" };
    expect(await indexOf(await issue(at))).to.equal(gap);
    await endWindows();
    expect(await indexOf(await issue(at))).to.equal(0);
  });

  it("is taken like this for an option that is chosen later too", async () => {
    await shop.addWallet("polygon", { xpub: xpubs.first });
    await startMany(ofLinks);
    await startMany(1, { network: "polygon", tokenSymbol: "USDC" });
    await issueMany(gap - ofLinks + 1);
    await dieAll();
    const { id: invoiceId, checkoutId } = await issue({
      ...optional,
      amount: "30.00",
      paymentOptions: [...twoTokens, { network: "polygon", tokenSymbol: "USDC" }],
    });
    await shop.choose(checkoutId, "polygon", "USDC");
    const own = await db.find(holds, "WHERE invoice_id = $1 ORDER BY id", [invoiceId]);
    const addresses = own.map(({ address }) => address);
    const claims = await db.find(addressOwnerships, "WHERE kind = 'derived' ORDER BY key_index");
    expect(
      claims.filter(({ identity }) => addresses.includes(identity)).map(({ keyIndex }) => keyIndex),
    ).to.deep.equal([atLink(0), atLink(ofLinks)]);
  });

  it("is not given to invoices of another owner of the key", async () => {
    await issue();
    await endWindows();
    await archiveWallet(shop.app, testContext, shop.organizationId, walletId);
    const other = await shop.addOrganization();
    const theirs = await shop.addWallet("ethereum", { xpub: xpubs.first }, other);
    const made = await createInvoice(shop.app, testContext, other, {
      amount: "25.00",
      settlementCurrency: "USD",
      tokenSymbol: "USDT",
      network: "ethereum",
      walletId: theirs.id,
    });
    expect(await indexOf(made.invoice)).to.equal(1);
  });

  it("of a backup is never given again after a restore, whether its hold has ended or not", async () => {
    const [ended, live] = [await issue(), await start()];
    await endWindows();
    const held = await start({ amount: "26.00" });
    await db.write(testContext, async (tx) => {
      await spendBackedUp(tx);
      await leaveToMerchants(tx);
    });
    await endWindows();
    expect(await indexOf(await issue())).to.equal(2);
    expect(new Set([ended, live, held].map(({ walletAddress }) => walletAddress)).size).to.equal(2);
    const [doubted] = await db.find(holds, "WHERE invoice_id = $1", [held.id]);
    expect(doubted).to.include({ needsDecision: true, recyclableKey: null });
  });

  it("is shown in the network's notation wherever it was given again", async () => {
    const first = await issue();
    await endWindows();
    const again = await issue();
    expect(again.walletAddress).to.equal(first.walletAddress);
    expect(again.walletAddress).to.equal(formatAddress(await canonical(again)));
  });
});
