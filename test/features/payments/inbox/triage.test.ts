import { expect } from "chai";
import type { App } from "../../../../src/app.ts";
import { waitingReasonWords } from "../../../../src/features/payments/inbox/status.ts";
import { triage } from "../../../../src/features/payments/inbox/triage.ts";
import { minute } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { expectStatus, type Json } from "../../../support/app.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";
import { usdt } from "../../../support/amounts.ts";
import { openDesk } from "../../../support/counter.ts";

anyStore("The questions about transfers in the inbox", (store) => {
  const shop = openDesk(store);

  let asking: Json;
  beforeEach(async () => {
    asking = await shop.issue({ amount: "90.00" });
  });

  /** Transfers of different amounts to the merchant, none of which an invoice asks for. */
  async function unmatched(...amounts: readonly string[]): Promise<Id<"transfer">[]> {
    const ids: Id<"transfer">[] = [];
    for (const amount of amounts) {
      await shop.pay(amount, 1);
      ids.push((await shop.inboxed())?.["id"] as Id<"transfer">);
    }
    return ids;
  }

  /** A person who gives these answers, and then stops. Returns what was said, and the values that were offered. */
  async function ask(
    ids: readonly Id<"transfer">[],
    answers: readonly unknown[],
    app: App = shop.counter.app.app,
  ) {
    const said: string[] = [];
    const offered: unknown[][] = [];
    const left = [...answers];
    const organizationId = shop.merchant.organizationId as Id<"organization">;
    await triage(app, { context: testContext }, organizationId, ids, {
      say: (text) => said.push(text),
      choose(_question, choices) {
        offered.push(choices.map(({ value }) => value));
        return Promise.resolve((left.shift() ?? "stop") as never);
      },
    });
    return { said, offered };
  }

  const read = (id: string) => shop.counter.get(shop.merchant, `/transfers/${id}`);
  const statuses = (ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => (await read(id))["status"]));

  it("are asked about each that is still unmatched, and lead to what the person answers", async () => {
    const [first, second, last] = await unmatched("7", "8", "9");
    const [wallet] = await shop.counter.list(shop.merchant, "/wallets");
    const own = "5".repeat(40);
    const body = { label: "Own", network: "sandbox", address: `0x${own}` };
    await expectStatus(shop.post("/wallets", body), 201);
    const other = await shop.issue({ walletId: wallet?.["id"] });
    await shop.counter.pay(shop.address, usdt(other["payableAmount"]), { from: own });
    await shop.counter.mine(3);
    const { id } = (await shop.inboxed()) ?? {};
    // Its allocation was undone: the payer of a reversed payment may be owed its money.
    const allocations = [{ invoiceId: other["id"], amount: other["payableAmount"] }];
    const done = await expectStatus(
      shop.post(`/transfers/${String(id)}/allocate`, { allocations }),
      200,
    );
    const [undone] = done.body["allocations"] as Json[];
    await shop.counter.mine(3);
    const payment = String(undone?.["paymentId"]);
    await expectStatus(shop.post(`/payments/${payment}/reverse`), 200);
    // Somebody else has decided about the second one.
    await expectStatus(shop.post(`/transfers/${String(second)}/ignore`), 200);

    const ids = [first, second, id, last] as Id<"transfer">[];
    const { said } = await ask(ids, [asking["id"], "ignore", "skip"]);
    expect(await statuses(ids)).to.deep.equal(["matched", "ignored", "ignored", "unmatched"]);
    const [allocated] = (await read(first ?? ""))["allocations"] as Json[];
    expect(allocated).to.include({ invoiceId: asking["id"], amount: "7.00" });
    expect(said).to.have.length(4);
    expect(said.map((text) => /\d of 4: [\d.]+/.exec(text)?.[0])).to.deep.equal([
      "1 of 4: 7.00",
      `3 of 4: ${String(other["payableAmount"])}`,
      "4 of 4: 9.00",
      undefined,
    ]);
    expect(said.map((text) => text.includes(`till refund create ${payment}`))).to.deep.equal([
      false,
      true,
      false,
      false,
    ]);
    expect(said.map((text) => text.includes(waitingReasonWords.own_wallet))).to.deep.equal([
      false,
      true,
      false,
      false,
    ]);
    expect(said[3]).to.equal("Done: 1 allocated, 1 ignored, 1 skipped.");
  });

  it("offer an invoice that was issued after the transfer only after skipping, which is then the default", async () => {
    const [early] = await unmatched("104.5");
    shop.counter.app.clock.advance(2 * minute);
    const late = await shop.issue({ amount: "104.50" });
    const onlyLate = await ask([early as Id<"transfer">], []);
    expect(onlyLate.offered).to.deep.equal([["skip", late["id"], "ignore", "stop"]]);

    const before = await shop.issue({ amount: "51.00" });
    const [money] = await unmatched("50");
    shop.counter.app.clock.advance(2 * minute);
    const after = await shop.issue({ amount: "50.00" });
    const { offered } = await ask([money as Id<"transfer">], []);
    const values = offered[0] ?? [];
    expect(values[0]).to.equal(before["id"]);
    expect(values.indexOf(after["id"])).to.be.greaterThan(values.indexOf("skip"));
  });

  it("end when the person stops", async () => {
    const ids = await unmatched("7", "8", "9");
    const { said } = await ask(ids, ["skip", "stop", "ignore"]);
    expect(await statuses(ids)).to.deep.equal(["unmatched", "unmatched", "unmatched"]);
    expect(said.at(-1)).to.equal("Done: 0 allocated, 0 ignored, 1 skipped.");
  });

  it("go on after a refused decision, which is explained and not counted, but not after a defect", async () => {
    const ids = await unmatched("7", "8", "9");
    const unknown = "inv_01kq3v5m8w2f6n9r4t7x0z1c3e";
    const { said } = await ask(ids, [unknown, "ignore", "skip"]);
    expect(said.filter((text) => text.includes("invoice"))).to.have.length(1);
    expect(await statuses(ids)).to.deep.equal(["unmatched", "ignored", "unmatched"]);
    expect(said.at(-1)).to.equal("Done: 0 allocated, 1 ignored, 1 skipped.");
    const defect = new Error("a defect");
    const { app } = shop.counter.app;
    const failing = { ...app, db: { ...app.db, write: () => Promise.reject(defect) } };
    const asked = ask(ids, ["ignore"], failing).catch((error: unknown) => error);
    expect(await asked).to.equal(defect);
  });
});
