// Transfers between the wallets of one organization, which are its own money.
import { expect } from "chai";
import { transfers } from "../../../../src/features/payments/table.ts";
import { hour } from "../../../../src/kernel/clock.ts";
import { events } from "../../../../src/platform/events/outbox.ts";
import { expectStatus, type Json, type Merchant } from "../../../support/app.ts";
import { xpubs } from "../../../support/merchants.ts";
import { eachStore } from "../../../support/store/stores.ts";
import { usdt } from "../../../support/amounts.ts";
import { openDesk, suggestedFor } from "../../../support/counter.ts";
import { openBook } from "../../../support/ledger.ts";

eachStore("A transfer from a wallet of the invoice's organization", (store) => {
  const shop = openDesk(store, {
    TILL_NETWORKS: "sandbox,ethereum",
    TILL_SANDBOX_MIXED: "1",
  });
  const { read, post, inboxed } = shop;
  let keys = 0;
  let walletId: unknown;

  beforeEach(async () => {
    const [wallet] = await shop.counter.list(shop.merchant, "/wallets");
    walletId = wallet?.["id"];
  });

  /** Issues an invoice at the first wallet, not at one that a test registers as the sender. */
  const issue = () => shop.issue({ walletId });

  const canonical = (shown: unknown) => String(shown).slice(2).toLowerCase();

  async function payFrom(from: string, amount: unknown, to = shop.address): Promise<string> {
    const hash = await shop.counter.pay(to, usdt(amount), { from });
    await shop.counter.mine(3);
    return hash;
  }

  async function registered(owner: Merchant, input: Json): Promise<Json> {
    const body = { label: "Own", network: "sandbox", ...input };
    return (await expectStatus(shop.counter.post(owner, "/wallets", body), 201)).body;
  }

  /** Registers the address of a network's wallet; returns it in canonical form with the wallet's id. */
  async function own(owner: Merchant, network = "sandbox") {
    keys += 1;
    const address = keys.toString(16).padStart(40, "5");
    const { id } = await registered(owner, { network, address: `0x${address}` });
    return { id, address };
  }

  async function expectWaiting(invoice: Json): Promise<Json> {
    expect(await read(invoice)).to.include({ status: "open", paidTokenAmount: "0.00" });
    const found = await inboxed();
    expect(found).to.include({ status: "unmatched", waitingReason: "own_wallet" });
    expect(suggestedFor(found)[0]).to.include({ invoiceId: invoice["id"] });
    return found ?? {};
  }

  it("waits in the inbox, whichever network of the family the wallet is for, and is allocated by hand", async () => {
    for (const network of ["sandbox", "ethereum"]) {
      const { address } = await own(shop.merchant, network);
      const invoice = await issue();
      await payFrom(address, invoice["payableAmount"]);
      const found = await expectWaiting(invoice);

      const allocations = [{ invoiceId: invoice["id"], amount: invoice["payableAmount"] }];
      const path = `/transfers/${String(found["id"])}`;
      const done = await expectStatus(post(`${path}/allocate`, { allocations }), 200);
      expect(done.body).to.include({ status: "matched", waitingReason: null });
      await shop.counter.mine(3);
      expect(await read(invoice)).to.include({ status: "paid" });
      const [payment] = done.body["allocations"] as Json[];
      await expectStatus(post(`/payments/${String(payment?.["paymentId"])}/reverse`), 200);
      expect(await inboxed()).to.include({ status: "unmatched", waitingReason: "own_wallet" });
      await expectStatus(post(`${path}/ignore`), 200);
      expect(await shop.counter.get(shop.merchant, path)).to.include({ waitingReason: null });
    }
  });

  it("waits if the wallet is archived, or if it is an address that an extended key gave to an invoice", async () => {
    const archived = await own(shop.merchant);
    await expectStatus(post(`/wallets/${String(archived.id)}/archive`), 200);
    const first = await issue();
    await payFrom(archived.address, first["payableAmount"]);
    await expectWaiting(first);

    const merchant = await shop.counter.merchant();
    const key = await registered(merchant, { xpub: xpubs.first });
    const paid = await shop.counter.issue(merchant);
    const swept = await shop.counter.issue(merchant);
    // The merchant empties the first address into the second one.
    const hash = await payFrom(
      canonical(paid["walletAddress"]),
      3,
      canonical(swept["walletAddress"]),
    );
    expect(swept["walletId"]).to.equal(key["id"]);
    const [waiting] = await shop.counter.list(merchant, "/transfers?status=unmatched");
    expect(waiting).to.include({ transactionHash: `0x${hash}`, waitingReason: "own_wallet" });
    expect(await shop.counter.get(merchant, `/invoices/${String(swept["id"])}`)).to.include({
      paidTokenAmount: "0.00",
    });
  });

  it("is announced with its reason", async () => {
    const { address } = await own(shop.merchant);
    const invoice = await issue();
    await payFrom(address, invoice["payableAmount"]);
    const { id } = await expectWaiting(invoice);
    const announced = await shop.counter.app.app.db.find(
      events,
      "WHERE object_id = $1 ORDER BY id",
      [String(id)],
    );
    expect(announced.map(({ type }) => type)).to.deep.equal(["transfer.unmatched"]);
    expect(announced[0]?.payload).to.include({ waitingReason: "own_wallet" });
  });

  it("does not stop the payments of others: another organization's wallet pays, and so does the next payer", async () => {
    const stranger = await shop.counter.merchant();
    const theirs = await own(stranger);
    const invoice = await issue();
    await payFrom(theirs.address, invoice["payableAmount"]);
    expect(await read(invoice)).to.include({ status: "paid" });

    const { address } = await own(shop.merchant);
    const next = await issue();
    await payFrom(address, next["payableAmount"]);
    await payFrom("9".repeat(40), next["payableAmount"]);
    expect(await read(next)).to.include({ status: "paid", excessAmount: "0.00" });
  });

  it("waits again, with its reason, after a reorganization, and stays a payment if it was one before", async () => {
    const { address } = await own(shop.merchant);
    const invoice = await issue();
    await payFrom(address, invoice["payableAmount"]);
    const { id } = await expectWaiting(invoice);
    await shop.counter.reorganize(3, { drop: false });
    await shop.counter.mine(3);
    expect(await expectWaiting(invoice)).to.include({ id });

    // The address becomes the merchant's own only after it has paid.
    const later = (0xfeed00 + keys).toString(16).padStart(40, "6");
    const paid = await issue();
    await payFrom(later, paid["payableAmount"]);
    await registered(shop.merchant, { address: `0x${later}` });
    await shop.counter.reorganize(3, { drop: false });
    await shop.counter.mine(3);
    expect(await read(paid)).to.include({ status: "paid" });
  });

  it("waits for the merchant's decision if its hash is submitted, and is credited to no other invoice's payer", async () => {
    const { address } = await own(shop.merchant);
    const invoice = await issue();
    const other = await issue();
    const transactionHash = await payFrom(address, invoice["payableAmount"]);
    const submit = async ({ checkoutId }: Json) => {
      const path = `/v1/checkout/${String(checkoutId)}/transactions`;
      await expectStatus(
        shop.counter.app.request("POST", path, { body: { transactionHash } }),
        202,
      );
      await shop.counter.examine();
    };
    await submit(other);
    expect(await read(other)).to.include({ status: "open", reviewAmount: "0.00" });
    await submit(invoice);
    expect(await read(invoice)).to.include({
      status: "open",
      reviewAmount: invoice["payableAmount"],
    });
    expect(await inboxed()).to.include({ waitingReason: "own_wallet" });
  });
});

eachStore("The reason why a transfer waits", (store) => {
  const shop = openDesk(store);
  const { read, post, issue, pay, inboxed } = shop;

  it("is that the invoice no longer asks for the amount, until a reorganization has the transfer matched again", async () => {
    const invoice = await issue();
    await pay(invoice["payableAmount"], 1);
    const [first] = await shop.counter.list(
      shop.merchant,
      `/payments?invoiceId=${String(invoice["id"])}`,
    );
    await pay(invoice["payableAmount"], 1);
    const waiting = await inboxed();
    expect(waiting).to.include({ waitingReason: "not_asked" });
    await expectStatus(post(`/payments/${String(first?.["id"])}/reverse`), 200);
    await shop.counter.reorganize(1, { drop: false });
    await shop.counter.mine();
    const path = `/transfers/${String(waiting?.["id"])}`;
    expect(await shop.counter.get(shop.merchant, path)).to.include({
      status: "matched",
      waitingReason: null,
    });
    expect(await read(invoice)).to.include({ status: "confirming" });
  });

  it("is null if the transfer fits no invoice", async () => {
    await issue();
    await pay(13.37, 1);
    expect(await inboxed()).to.include({ waitingReason: null });
  });
});

eachStore("A transfer that is not credited", (store) => {
  it("keeps the time that a single provider reports, whatever the deadline of the invoice that it fits", async () => {
    const db = await store.open();
    const book = await openBook(db);
    const { expiresAt } = await book.issueShared();
    const enter = async (time: number, isTimeAgreed: boolean) => {
      const logs = book.logsTo(book.sharedAddress, ["10.00"], { time });
      await book.enter({ fresh: logs.map((log) => ({ ...log, isTimeAgreed })) });
      return db.findOne(transfers, "WHERE transaction_hash = $1", [logs[0]?.transactionHash ?? ""]);
    };
    expect(await enter(book.now(), true)).to.include({ disposition: "matched" });
    const later = Number(expiresAt) + hour;
    expect(await enter(later, false)).to.include({ waitingReason: "not_asked", blockTime: later });
  });
});
