// Platform invoices that are paid from the payers' own wallets, and from the platform's.
import { expect } from "chai";
import {
  getSandboxBill,
  sendOnSandbox,
} from "../../../../src/features/payments/sandbox/sandbox.ts";
import { getAnyInvoice } from "../../../../src/features/invoices/invoices.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { expectStatus, merchantOf, keyOf, type Merchant } from "../../../support/app.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";
import { openEstate, type Estate } from "../billing-fleet.ts";

eachStore("A platform invoice that is paid from a registered wallet", (store) => {
  let estate: Estate;

  before(async () => {
    estate = await openEstate({ place: await store.place("migrated") });
  });
  after(() => estate.stop());

  /** Registers a wallet of an organization, and returns its address. */
  async function walletOf(owner: Merchant, digit: string): Promise<string> {
    const address = `0x${digit.repeat(20)}`;
    await owner.addWallet({ address });
    return address;
  }

  /** Sends what the open invoice of an organization asks for from an address. Returns the invoice's later status. */
  async function payFrom(from: string, payer: Merchant): Promise<unknown> {
    const { openInvoice } = await estate.subscription(payer);
    const [invoiceId = ""] = await estate.collectionInvoices(openInvoice?.id ?? "");
    const { remaining } = await getSandboxBill(estate.app.app, invoiceId as Id<"invoice">);
    const row = await getAnyInvoice(estate.app.app, invoiceId as Id<"invoice">);
    const to = row.walletAddress ?? "";
    const amount = (Number(remaining) / 1_000_000).toFixed(6);
    await sendOnSandbox(estate.app.app, testContext, { from, to, token: "USDT", amount });
    await estate.mine(4);
    await estate.run();
    return (await estate.invoices(payer)).at(-1)?.["status"];
  }

  async function platform(): Promise<Merchant> {
    const { app, admin } = estate;
    return merchantOf(app, admin, await keyOf(app, admin, "read", "write"));
  }

  it("is paid by the wallet of the organization that it bills", async () => {
    const shop = await estate.merchant();
    const from = await walletOf(shop, "a1");
    await expectStatus(estate.select(shop, "growth"), 200);
    expect(await payFrom(from, shop)).to.equal("paid");
  });

  it("is not paid for a merchant by the platform's own wallet, whose money waits in the platform's inbox", async () => {
    const shop = await estate.merchant();
    const owner = await platform();
    const from = await walletOf(owner, "b2");
    await expectStatus(estate.select(shop, "growth"), 200);
    expect(await payFrom(from, shop)).to.equal("open");
    const [waiting] = await owner.list("/transfers?status=unmatched");
    expect(waiting).to.include({ waitingReason: "own_wallet" });
  });

  it("is paid by the platform's own wallet if the platform bills itself", async () => {
    const owner = await platform();
    const from = await walletOf(owner, "c3");
    await expectStatus(estate.select(owner, "growth"), 200);
    expect(await payFrom(from, owner)).to.equal("paid");
  });
});
