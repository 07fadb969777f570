import { expect } from "chai";
import { getInvoice } from "../../../../src/features/invoices/invoices.ts";
import { type InvoiceView, presentInvoice } from "../../../../src/features/invoices/records.ts";
import {
  claimableNetworks,
  claimableTerms,
} from "../../../../src/features/invoices/holds/claimable.ts";
import { day } from "../../../../src/kernel/clock.ts";
import { openLedger, type Ledger } from "../../../support/ledger.ts";
import { xpubs } from "../../../support/merchants.ts";
import { anyStore, whileBroken } from "../../../support/store/stores.ts";

const address = "7".repeat(40);

anyStore("The terms of a transaction that a payer claims", (store) => {
  let shop: Ledger;
  /** USDT and USDC on Ethereum and USDT on TRON were chosen, one after the other, and USDT on BSC never. */
  let invoice: InvoiceView;

  before(async () => {
    shop = await openLedger(await store.open(), "ethereum", "tron", "bsc");
    for (const network of ["ethereum", "tron", "bsc"]) await shop.scan(network);
    const shared = await shop.addWallet("ethereum", { address: `0x${address}` });
    const key = await shop.addWallet("ethereum", { xpub: xpubs.first });
    await shop.addWallet("tron", { address: "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8" });
    await shop.addWallet("bsc", { address: `0x${"8".repeat(40)}` });
    const issued = await shop.create({
      network: undefined,
      tokenSymbol: undefined,
      paymentOptions: [
        { network: "ethereum", tokenSymbol: "USDT", walletId: shared.id },
        { network: "ethereum", tokenSymbol: "USDC", walletId: key.id },
        { network: "tron", tokenSymbol: "USDT" },
        { network: "bsc", tokenSymbol: "USDT" },
      ],
    });
    await shop.choose(issued.checkoutId, "ethereum", "USDC");
    await shop.choose(issued.checkoutId, "tron", "USDT");
    invoice = await getInvoice(shop.app, shop.organizationId, issued.id);
  });

  /** Returns the terms on Ethereum while holds are changed. */
  const whileHeld = (change: string) =>
    whileBroken(
      shop.db,
      (tx) => tx.run(`UPDATE holds SET ${change}`),
      (reader) => claimableTerms(reader, invoice.id, "ethereum"),
    );

  it("are the addresses of the invoice's holds, each with the tokens that it may be paid in there", async () => {
    const [, ofKey] = presentInvoice(invoice).paymentOptions;
    const own = String(ofKey?.walletAddress).slice(2).toLowerCase();
    expect(await claimableTerms(shop.db, invoice.id, "ethereum")).to.deep.equal({
      targets: [
        { address, token: "USDT", dust: 10_000n },
        { address: own, token: "USDT", dust: 10_000n },
        { address: own, token: "USDC", dust: 10_000n },
      ],
      startsAt: invoice.issuedAt,
      mark: {
        markHeight: 1_000,
        markHash: "00".repeat(32),
        markReadAt: shop.now(),
        isMarkRecent: true,
      },
      endsAt: (invoice.expiresAt ?? 0) + 7 * day,
    });
    expect(await claimableNetworks(shop.db, invoice.id)).to.deep.equal(["ethereum", "tron"]);
  });

  it("end with the last hold on the network, whichever that is", async () => {
    for (const shorter of ["token = '*'", "token <> '*'"]) {
      const terms = await whileHeld(`ends_at = ends_at - 1 WHERE ${shorter}`);
      expect(terms?.endsAt, shorter).to.equal((invoice.expiresAt ?? 0) + 7 * day);
    }
    expect((await whileHeld("ends_at = 8"))?.endsAt).to.equal(8);
  });

  it("include holds that another invoice was given, and none that have ended", async () => {
    const recycled = await whileHeld("released_at = 8, recycled_at = 8");
    expect(recycled?.targets).to.have.length(3);
    expect(await whileHeld("released_at = 8")).to.equal(null);
  });

  it("are those of an issued invoice on a network that was chosen", async () => {
    const draft = await shop.create({ network: "tron", draft: true });
    const unknown = shop.ids.next("invoice", shop.now());
    for (const [id, network] of [
      [invoice.id, "bsc"],
      [draft.id, "tron"],
      [unknown, "tron"],
    ] as const) {
      expect(await claimableTerms(shop.db, id, network), `${id} on ${network}`).to.equal(null);
    }
    for (const id of [draft.id, unknown]) {
      expect(await claimableNetworks(shop.db, id)).to.deep.equal([]);
    }
  });
});
