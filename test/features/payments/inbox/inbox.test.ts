import { expect } from "chai";
import { reorganizeSandbox, sandboxOf } from "../../../../src/features/payments/sandbox/sandbox.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { watchWorkerName } from "../../../../src/features/payments/wake.ts";
import { paymentClaims, payments, transfers } from "../../../../src/features/payments/table.ts";
import { auditLogs } from "../../../../src/platform/audit/chain.ts";
import { usdt } from "../../../support/amounts.ts";
import {
  expectStatus,
  type Answer,
  colleague,
  type Json,
  type Merchant,
} from "../../../support/app.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { openCounter, type Counter } from "../../../support/counter.ts";

eachStore("A transfer that matches no invoice", (store) => {
  const it = takeTurns(store);
  let counter: Counter;
  let merchant: Merchant;
  let other: Merchant;
  let address = "";

  before(async () => {
    counter = await openCounter(store);
    merchant = await counter.merchant();
    other = await counter.merchant();
  });
  after(() => counter.stop());
  beforeEach(async () => {
    address = await counter.wallet(merchant);
    // Scans read addresses with open invoices only.
    await counter.issue(merchant, { amount: "999.00" });
  });

  const inbox = (owner = merchant) => counter.list(owner, "/transfers?status=unmatched");
  const transfer = (id: unknown, owner = merchant) =>
    counter.get(owner, `/transfers/${String(id)}`);
  const invoice = (one: Json) => counter.get(merchant, `/invoices/${String(one["id"])}`);
  const decide = (id: unknown, what: string, body?: unknown, owner = merchant) =>
    counter.post(owner, `/transfers/${String(id)}/${what}`, body);
  const allocate = (id: unknown, parts: readonly (readonly [Json, string])[], owner = merchant) =>
    decide(
      id,
      "allocate",
      { allocations: parts.map(([one, amount]) => ({ invoiceId: one["id"], amount })) },
      owner,
    );
  const reverse = (id: unknown, owner = merchant) =>
    counter.post(owner, `/payments/${String(id)}/reverse`);

  /** Mines and scans a transfer that no rule matches. */
  async function unmatched(units: bigint, to = address): Promise<Json> {
    await counter.pay(to, units);
    await counter.mine();
    const [found] = await inbox();
    expect(found?.["amount"]).to.equal((Number(units) / 1_000_000).toFixed(2));
    return found ?? {};
  }

  async function refused(answering: Promise<Answer>, status: number, code: string): Promise<Json> {
    const { body } = await expectStatus(answering, status);
    expect(body["code"]).to.equal(code);
    return body;
  }

  /** Submits a transfer of no invoice's amount, by default a new one, for an invoice. Returns its payment in review. */
  async function submitted(one: Json, units: bigint, known?: string): Promise<Json> {
    const transactionHash = known ?? (await counter.pay(address, units));
    await counter.mine();
    const path = `/v1/checkout/${String(one["checkoutId"])}/transactions`;
    await expectStatus(counter.app.request("POST", path, { body: { transactionHash } }), 202);
    await counter.examine();
    const [payment] = await counter.list(merchant, `/payments?invoiceId=${String(one["id"])}`);
    expect(payment).to.include({ status: "review" });
    const id = payment?.["id"] as Id<"payment">;
    const row = await counter.app.app.db.findOne(payments, "WHERE id = $1", [id]);
    return { ...payment, transferId: row?.transferId };
  }

  it("is in the inbox of the address's owner only", async () => {
    const found = await unmatched(usdt(13.37));
    expect(found).to.deep.include({
      network: "sandbox",
      tokenSymbol: "USDT",
      unallocatedAmount: "13.37",
      confirmations: 1,
      status: "unmatched",
      allocations: [],
      decisions: [],
    });
    expect(found["toAddress"]).to.match(new RegExp(address, "i"));
    expect(await transfer(found["id"])).to.deep.equal(found);
    expect(await inbox(other)).to.deep.equal([]);
    const path = `/v1/organizations/${other.organizationId}/transfers/${String(found["id"])}`;
    await expectStatus(counter.app.request("GET", path, { key: other.key }), 404);
    await expectStatus(decide(found["id"], "ignore", undefined, other), 404);
    const own = await counter.issue(merchant);
    await expectStatus(allocate(found["id"], [[own, "1.00"]], other), 404);
  });

  it("emits an event, unlike matched transfers, those in review, dust and transfers of an address to itself", async () => {
    const emitted = async () => {
      const rows = await counter.app.app.db.all<{ payload: string }>(
        "SELECT payload FROM events WHERE type = 'transfer.unmatched' ORDER BY id",
      );
      return rows.map(({ payload }) => JSON.parse(payload) as Json);
    };
    const before = await emitted();
    const paid = await counter.issue(merchant, { amount: "44.00" });
    const canceled = await counter.issue(merchant, { amount: "66.00" });
    await expectStatus(counter.post(merchant, `/invoices/${String(canceled["id"])}/cancel`), 200);
    await counter.pay(address, usdt(44));
    await counter.pay(address, usdt(66));
    await counter.pay(address, 1n);
    await counter.pay(address, usdt(9), { from: address });
    await counter.pay(address, usdt(8.88));
    await counter.mine();
    const [event, ...others] = (await emitted()).slice(before.length);
    expect(event).to.include({ amount: "8.88", status: "unmatched" });
    expect(others).to.deep.equal([]);
    const own = (await inbox()).filter((one) => one["toAddress"] === paid["walletAddress"]);
    expect(own.map((one) => one["amount"])).to.deep.equal(["8.88", "66.00"]);
    const ignored = await counter.list(merchant, "/transfers?status=ignored");
    expect(ignored.map((one) => one["amount"])).to.deep.equal(["9.00", "0.000001"]);
    const [matched] = await counter.list(merchant, "/transfers?status=matched");
    expect(matched).to.deep.include({
      amount: "44.00",
      unallocatedAmount: "0.00",
      suggestions: [],
    });
    expect((matched?.["allocations"] as Json[] | undefined)?.[0]).to.include({
      invoiceId: paid["id"],
      rule: "exact_amount",
      source: "detected",
    });
  });

  it("cannot be credited if it is dust or the address sent it to itself", async () => {
    await counter.pay(address, 1n);
    await counter.mine();
    const [dust] = await counter.list(merchant, "/transfers?status=ignored");
    const one = await counter.issue(merchant, { amount: "3.00" });
    await refused(allocate(dust?.["id"], [[one, "0.000001"]]), 409, "transfer_not_creditable");
    await refused(decide(dust?.["id"], "unignore"), 409, "transfer_not_creditable");
    expect(await invoice(one)).to.include({ status: "open", paidTokenAmount: "0.00" });
  });

  it("pays an invoice when it is allocated, and is confirmed like any other transfer", async () => {
    const one = await counter.issue(merchant);
    const found = await unmatched(usdt(24));
    counter.woken();
    const answer = await expectStatus(allocate(found["id"], [[one, "24.00"]]), 200);
    expect(counter.woken()).to.include(watchWorkerName("sandbox"));
    expect(answer.body).to.deep.include({ status: "matched", unallocatedAmount: "0.00" });
    const [allocation] = answer.body["allocations"] as Json[];
    expect(allocation).to.include({
      invoiceId: one["id"],
      amount: "24.00",
      rule: "manual",
      source: "operator",
      status: "confirming",
    });
    expect((answer.body["decisions"] as Json[])[0]).to.include({
      decision: "allocated",
      amount: "24.00",
      actorType: "api_key",
      actorLabel: "shop",
      paymentId: allocation?.["paymentId"],
    });
    expect(await invoice(one)).to.include({ status: "partially_paid", paidAmount: "24.00" });
    await counter.mine(3);
    const [payment] = await counter.list(merchant, `/payments?invoiceId=${String(one["id"])}`);
    expect(payment).to.include({ status: "confirmed", source: "operator", amount: "24.00" });
    expect(await inbox()).to.not.deep.include({ id: found["id"] });
    const audited = await counter.list(merchant, "/audit-logs?action=transfer.allocated");
    expect(audited[0]).to.include({ targetId: found["id"], actorType: "api_key" });
  });

  it("can be split among invoices, but never beyond its amount", async () => {
    const one = await counter.issue(merchant, { amount: "20.00" });
    const two = await counter.issue(merchant, { amount: "9.00" });
    const found = await unmatched(usdt(30));
    await refused(
      allocate(found["id"], [
        [one, "20.00"],
        [two, "10.000001"],
      ]),
      409,
      "allocation_too_large",
    );
    expect(await transfer(found["id"])).to.include({ unallocatedAmount: "30.00" });
    const parts = [
      [one, "20.00"],
      [two, "9.00"],
    ] as const;
    const answer = await expectStatus(allocate(found["id"], parts), 200);
    expect(answer.body).to.include({ status: "unmatched", unallocatedAmount: "1.00" });
    await counter.mine(3);
    expect(await invoice(one)).to.include({ status: "paid", exception: "none" });
    expect(await invoice(two)).to.include({ status: "paid", exception: "none" });
    await refused(allocate(found["id"], [[one, "1.00"]]), 409, "transfer_allocated");
    const third = await counter.issue(merchant, { amount: "1.00" });
    await refused(allocate(found["id"], [[third, "1.01"]]), 409, "allocation_too_large");
    const rest = await expectStatus(allocate(found["id"], [[third, "1.00"]]), 200);
    expect(rest.body).to.include({ status: "matched", unallocatedAmount: "0.00" });
  });

  it("is not allocated by a wrong request, and the response says what is wrong", async () => {
    const one = await counter.issue(merchant);
    const found = await unmatched(usdt(7));
    const draft = await counter.issue(merchant, { draft: true });
    const usdc = await counter.issue(merchant, { tokenSymbol: "USDC" });
    await counter.wallet(other);
    const foreign = await counter.issue(other);
    const absent = { id: `inv_${"0".repeat(26)}` };
    await refused(allocate(found["id"], [[draft, "7.00"]]), 409, "invoice_not_payable");
    await refused(allocate(found["id"], [[usdc, "7.00"]]), 422, "token_mismatch");
    const strange = await refused(allocate(found["id"], [[foreign, "7.00"]]), 404, "not_found");
    const nothing = await refused(allocate(found["id"], [[absent, "7.00"]]), 404, "not_found");
    expect(strange["detail"]).to.equal(
      String(nothing["detail"]).replace(absent.id, String(foreign["id"])),
    );
    for (const amount of ["0", "-1", "1e3", "7.0000001", ""]) {
      await refused(allocate(found["id"], [[one, amount]]), 400, "invalid_request");
    }
    const twice = [
      [one, "1.00"],
      [one, "2.00"],
    ] as const;
    const { errors } = await refused(allocate(found["id"], twice), 400, "invalid_request");
    expect((errors as Json[])[0]).to.include({ pointer: "/allocations/1/invoiceId" });
    await refused(allocate(found["id"], []), 400, "invalid_request");
    const many = Array.from({ length: 21 }, () => [one, "0.10"] as const);
    await refused(allocate(found["id"], many), 400, "invalid_request");
    expect(await transfer(found["id"])).to.include({ unallocatedAmount: "7.00" });
    expect(await invoice(one)).to.include({ status: "open" });
  });

  it("can be decided on by members, and read by viewers", async () => {
    const found = await unmatched(usdt(5.5));
    const viewer = await colleague(counter.app, merchant, "viewer");
    const member = await colleague(counter.app, merchant, "member");
    const path = `/v1/organizations/${merchant.organizationId}/transfers/${String(found["id"])}`;
    const as = (method: string, what: string, token: string) =>
      counter.app.request(method, path + what, { token });
    await expectStatus(as("GET", "", viewer.token), 200);
    await expectStatus(as("POST", "/ignore", viewer.token), 403);
    const ignored = await expectStatus(as("POST", "/ignore", member.token), 200);
    expect((ignored.body["decisions"] as Json[])[0]).to.include({
      decision: "ignored",
      actorType: "user",
      actorId: member.userId,
      amount: "5.50",
      actorLabel: member.email,
    });
  });

  it("can be ignored, and returns by unignore or by allocation", async () => {
    const one = await counter.issue(merchant, { amount: "6.00" });
    const found = await unmatched(usdt(6.5));
    for (const _again of [1, 2]) {
      const answer = await expectStatus(decide(found["id"], "ignore"), 200);
      expect(answer.body).to.deep.include({ status: "ignored", suggestions: [] });
    }
    expect((await inbox()).map(({ id }) => id)).to.not.include(found["id"]);
    expect((await expectStatus(decide(found["id"], "unignore"), 200)).body).to.include({
      status: "unmatched",
    });
    await expectStatus(decide(found["id"], "ignore"), 200);
    const taken = await expectStatus(allocate(found["id"], [[one, "6.50"]]), 200);
    expect(taken.body).to.include({ status: "matched" });
    await refused(decide(found["id"], "ignore"), 409, "transfer_allocated");
    // It is not ignored, so there is nothing to undo.
    const again = await expectStatus(decide(found["id"], "unignore"), 200);
    expect(again.body).to.deep.equal(taken.body);
    const decisions = (taken.body["decisions"] as Json[]).map(({ decision }) => decision);
    expect(decisions).to.deep.equal(["allocated", "ignored", "restored", "ignored"]);
    const entries = await counter.app.app.db.find(auditLogs, "WHERE target_id = $1 ORDER BY id", [
      String(found["id"]),
    ]);
    expect(entries.map(({ action, changes }) => [action, changes["status"]])).to.deep.equal([
      ["transfer.ignored", { from: "unmatched", to: "ignored" }],
      ["transfer.restored", { from: "ignored", to: "unmatched" }],
      ["transfer.ignored", { from: "unmatched", to: "ignored" }],
      ["transfer.allocated", undefined],
    ]);
  });

  it("returns to the inbox by a reversal, which keeps the allocation on record", async () => {
    const wrong = await counter.issue(merchant, { amount: "11.00" });
    const right = await counter.issue(merchant, { amount: "14.00" });
    const found = await unmatched(usdt(11.5));
    const first = await expectStatus(allocate(found["id"], [[wrong, "11.50"]]), 200);
    await counter.mine(3);
    expect(await invoice(wrong)).to.include({ status: "paid", exception: "overpaid" });
    const [{ paymentId } = {}] = first.body["allocations"] as Json[];
    counter.woken();
    const gone = await expectStatus(reverse(paymentId), 200);
    expect(counter.woken()).to.include(watchWorkerName("sandbox"));
    expect(gone.body).to.include({ id: paymentId, status: "rejected", amount: "11.50" });
    expect(await invoice(wrong)).to.include({ status: "open", paidAmount: "0.00", paidAt: null });
    await refused(reverse(paymentId), 409, "payment_not_counted");
    // Its confirmation has proved the transfer.
    expect(await counter.get(merchant, `/payments/${String(paymentId)}`)).to.include({
      isVerified: true,
    });
    const back = await transfer(found["id"]);
    expect(back).to.deep.include({ status: "unmatched", unallocatedAmount: "11.50" });
    expect((back["decisions"] as Json[]).map(({ decision }) => decision)).to.deep.equal([
      "reversed",
      "allocated",
    ]);
    const suggested = (back["suggestions"] as Json[]).map(({ invoiceId }) => invoiceId);
    expect(suggested).to.include(right["id"]).and.not.include(wrong["id"]);
    const again = await expectStatus(
      allocate(found["id"], [
        [right, "11.00"],
        [wrong, "0.50"],
      ]),
      200,
    );
    expect(again.body["allocations"]).to.have.length(3);
    expect(await invoice(right)).to.include({ status: "partially_paid", paidAmount: "11.00" });
    // A confirmed payment that was reversed is not in the figures.
    const path = `/v1/organizations/${merchant.organizationId}/payments/${String(paymentId)}/reverse`;
    await expectStatus(counter.app.request("POST", path, { key: other.key }), 404);
  });

  it("is not matched again by a rule after the merchant reversed its payment", async () => {
    const one = await counter.issue(merchant, { amount: "31.00" });
    const two = await counter.issue(merchant, { amount: "40.00" });
    await counter.pay(address, usdt(31));
    await counter.mine();
    const [payment] = await counter.list(merchant, `/payments?invoiceId=${String(one["id"])}`);
    await expectStatus(reverse(payment?.["id"]), 200);
    await counter.reorganize(1, { drop: false });
    await counter.mine(3);
    expect(await invoice(one)).to.include({ status: "open" });
    const found = (await inbox()).find(({ amount }) => amount === "31.00");
    await expectStatus(allocate(found?.["id"], [[two, "31.00"]]), 200);
    expect(await invoice(two)).to.include({ status: "partially_paid", paidAmount: "31.00" });
  });

  it("pays an expired invoice as late, and a canceled one on allocation", async () => {
    const expired = await counter.issue(merchant, { amount: "15.00", expiresInSeconds: 300 });
    const canceled = await counter.issue(merchant, { amount: "16.00" });
    await expectStatus(counter.post(merchant, `/invoices/${String(canceled["id"])}/cancel`), 200);
    counter.app.clock.advance(600_000);
    const one = await unmatched(usdt(15.5));
    await expectStatus(allocate(one["id"], [[expired, "15.50"]]), 200);
    const two = await unmatched(usdt(16.5));
    await expectStatus(allocate(two["id"], [[canceled, "16.50"]]), 200);
    await counter.mine(3);
    expect(await invoice(expired)).to.include({ status: "paid", exception: "late" });
    expect(await invoice(canceled)).to.include({ status: "paid", exception: "late" });
  });

  it("is shown as it is stored once its network left the table, and cannot be decided on", async () => {
    const paid = await counter.issue(merchant);
    const found = await unmatched(usdt(3.75));
    await expectStatus(allocate(found["id"], [[paid, "1.00"]]), 200);
    const { db } = counter.app.app;
    const place = [String(found["id"])];
    const moveTo = (network: string) =>
      db.write(testContext, async (tx) => {
        await tx.update(transfers, { network }, "WHERE id = $1", place);
        await tx.update(payments, { network }, "WHERE transfer_id = $1", place);
      });
    await moveTo("gone");
    const [shown] = await inbox();
    const toAddress = String(found["toAddress"]).toLowerCase().replace("0x", "");
    expect(shown).to.deep.include({ id: found["id"], network: "gone", toAddress });
    const [payment] = await counter.list(merchant, `/payments?invoiceId=${String(paid["id"])}`);
    expect(payment).to.deep.include({ network: "gone", toAddress });
    const onPayment = (decision: string) =>
      counter.post(merchant, `/payments/${String(payment?.["id"])}/${decision}`);
    const paymentId = payment?.["id"];
    const address = `0x${"fe".repeat(20)}`;
    const create = () => counter.post(merchant, "/refunds", { paymentId, amount: "1.00", address });
    for (const deciding of [
      allocate(found["id"], [[paid, "1.00"]]),
      decide(found["id"], "ignore"),
      decide(found["id"], "unignore"),
      reverse(paymentId),
      onPayment("accept"),
      onPayment("reject"),
      create(),
    ]) {
      const { detail } = await refused(deciding, 422, "network_not_enabled");
      expect(detail).to.include("no longer has gone");
    }
    await moveTo("sandbox");
    await expectStatus(reverse(paymentId), 200);
    counter.app.clock.advance(1_100);
    await counter.mine(40);
    const refund = (await expectStatus(create(), 201)).body;
    const onRefund = (step: string, body: object) =>
      counter.post(merchant, `/refunds/${String(refund["id"])}/${step}`, body);
    await moveTo("gone");
    const transactionHash = "ab".repeat(32);
    await refused(onRefund("send", { transactionHash }), 422, "network_not_enabled");
    await refused(onRefund("reject", { reason: "No." }), 422, "network_not_enabled");
    await moveTo("sandbox");
    await expectStatus(onRefund("reject", { reason: "No." }), 200);
  });

  it("is reverted with its payments by a reorganization that drops it", async () => {
    const one = await counter.issue(merchant, { amount: "18.00" });
    const two = await counter.issue(merchant, { amount: "19.00" });
    const found = await unmatched(usdt(17.5));
    const parts = [
      [one, "10.00"],
      [two, "7.50"],
    ] as const;
    await expectStatus(allocate(found["id"], parts), 200);
    await counter.reorganize(1, { drop: true });
    expect(await transfer(found["id"])).to.include({ status: "reverted", confirmations: 0 });
    expect(await invoice(one)).to.include({ status: "open", exception: "reverted" });
    expect(await invoice(two)).to.include({ paidAmount: "0.00", exception: "reverted" });
    const reverted = await counter.list(merchant, "/transfers?status=reverted");
    expect(reverted.map(({ id }) => id)).to.deep.equal([found["id"]]);
    const third = await counter.issue(merchant, { amount: "3.00" });
    await refused(allocate(found["id"], [[third, "1.00"]]), 409, "transfer_reverted");
  });

  it("is the only one from whose block on the sandbox reorganizes for its invoice", async () => {
    const one = await counter.issue(merchant, { amount: "38.00" });
    const two = await counter.issue(merchant, { amount: "39.00" });
    const first = await counter.pay(address, usdt(one["payableAmount"]));
    await counter.mine();
    const second = await counter.pay(address, usdt(two["payableAmount"]));
    await counter.mine();
    // Neither of these pays the second invoice.
    await counter.pay(address, usdt(two["payableAmount"]), { failed: true });
    await counter.pay(address, usdt(two["payableAmount"]), { fakeToken: true });
    await counter.mine();
    const from = (paid: Json) =>
      reorganizeSandbox(counter.app.app, testContext, paid["id"] as Id<"invoice">, {
        drop: true,
      });
    const replaced = await from(two);
    expect(replaced.transactions).to.include(second).and.not.include(first);
    expect((await from(one)).transactions).to.deep.equal([first]);
    await counter.look();
    const three = await counter.issue(merchant, { amount: "43.00" });
    await counter.pay(address, usdt(three["payableAmount"]));
    await counter.mine((sandboxOf(counter.app.app)?.network.finality.lagBlocks ?? 0) + 2);
    const refusal = await Promise.resolve(from(three)).catch((error: unknown) => String(error));
    expect(refusal).to.match(/Its newest payment is in block \d+, which is final/);
  });

  it("comes back in another block with its allocated parts", async () => {
    const one = await counter.issue(merchant, { amount: "18.00" });
    const two = await counter.issue(merchant, { amount: "19.00" });
    const found = await unmatched(usdt(17.25));
    const parts = [
      [one, "10.00"],
      [two, "7.25"],
    ] as const;
    await expectStatus(allocate(found["id"], parts), 200);
    await counter.reorganize(1, { drop: false });
    await counter.mine(4);
    expect(await transfer(found["id"])).to.include({
      status: "matched",
      unallocatedAmount: "0.00",
    });
    for (const [each, amount] of parts) {
      const [payment] = await counter.list(merchant, `/payments?invoiceId=${String(each["id"])}`);
      expect(payment).to.include({ status: "confirmed", amount });
    }
  });

  it.onBoth("is never allocated beyond its amount by concurrent requests", async () => {
    const invoices = await Promise.all(
      Array.from({ length: 6 }, (_, place) =>
        counter.issue(merchant, { amount: `${String(50 + place)}.00` }),
      ),
    );
    const found = await unmatched(usdt(21));
    const answers = await Promise.all(
      invoices.map((one) => allocate(found["id"], [[one, "10.00"]])),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([200, 200, 409, 409, 409, 409]);
    const after = await transfer(found["id"]);
    expect(after).to.include({ unallocatedAmount: "1.00", status: "unmatched" });
    expect(after["allocations"]).to.have.length(2);
  });

  it("stays with the address's owner, even if an invoice of the previous owner claims it", async () => {
    const walletId = (await counter.list(merchant, "/wallets"))[0]?.["id"];
    const left = await counter.issue(merchant, { amount: "90.00", walletId });
    const sold = await counter.issue(merchant, { amount: "96.00", walletId });
    await expectStatus(counter.post(merchant, `/wallets/${String(walletId)}/archive`), 200);
    const again = { label: "Mine now", network: "sandbox", address: `0x${address}` };
    await expectStatus(counter.post(other, "/wallets", again), 201);

    const hash = await counter.pay(address, usdt(7.77));
    await counter.mine();
    const [found] = await inbox(other);
    expect(found).to.include({ amount: "7.77" });
    const path = `/v1/checkout/${String(left["checkoutId"])}/transactions`;
    await expectStatus(counter.app.request("POST", path, { body: { transactionHash: hash } }), 202);
    await counter.examine();

    expect(await counter.list(merchant, `/payments?invoiceId=${String(left["id"])}`)).to.be.empty;
    expect(await transfer(found?.["id"], other)).to.deep.equal(found);
    const claims = await counter.app.app.db.find(paymentClaims, "WHERE transaction_hash = $1", [
      hash,
    ]);
    expect(claims.map(({ state, reason }) => ({ state, reason }))).to.deep.equal([
      { state: "refused", reason: "taken" },
    ]);

    // The exact amount of a hold still belongs to its invoice.
    await counter.pay(address, usdt(96));
    await counter.mine();
    expect(await invoice(sold)).to.include({ paidAmount: "96.00" });
  });

  it("leaves an invoice's payments in review of other transfers when it is allocated", async () => {
    const one = await counter.issue(merchant, { amount: "67.00" });
    const two = await counter.issue(merchant, { amount: "68.00" });
    const first = await submitted(one, usdt(8.25));
    const second = await submitted(one, usdt(8.75));
    await expectStatus(allocate(first["transferId"], [[two, "8.25"]]), 200);
    const statusOf = async (payment: Json) =>
      (await counter.get(merchant, `/payments/${String(payment["id"])}`))["status"];
    expect([await statusOf(first), await statusOf(second)]).to.deep.equal(["rejected", "review"]);
  });

  it("stays ignored when the payment of it that waits for a decision is rejected", async () => {
    const waiting = await submitted(await counter.issue(merchant), usdt(8.5));
    await expectStatus(decide(waiting["transferId"], "ignore"), 200);
    const reject = () => counter.post(merchant, `/payments/${String(waiting["id"])}/reject`);
    await expectStatus(reject(), 200);
    await refused(reject(), 409, "payment_not_in_review");
    expect(await transfer(waiting["transferId"])).to.include({
      status: "ignored",
      unallocatedAmount: "8.50",
    });
  });

  it("counts for no other invoice as a whole once a part of it was refunded", async () => {
    const [one, two] = [
      await counter.issue(merchant, { amount: "62.00" }),
      await counter.issue(merchant, { amount: "63.00" }),
    ];
    const first = await submitted(one, usdt(9.5));
    await expectStatus(counter.post(merchant, `/payments/${String(first["id"])}/reject`), 200);
    const second = await submitted(two, usdt(9.5), String(first["transactionHash"]));
    // A tip without transfers is stored once a second.
    counter.app.clock.advance(1_100);
    await counter.mine(34);
    const { body: refund } = await expectStatus(
      counter.post(merchant, "/refunds", {
        paymentId: first["id"],
        amount: "3.00",
        address: `0x${"8".repeat(40)}`,
      }),
      201,
    );
    const sent = `/refunds/${String(refund["id"])}/send`;
    await expectStatus(counter.post(merchant, sent, { transactionHash: "ef".repeat(32) }), 200);
    const accept = counter.post(merchant, `/payments/${String(second["id"])}/accept`);
    const why = await refused(accept, 409, "transfer_allocated");
    expect(why["detail"]).to.include("a part of it was refunded");
    await expectStatus(reverse(second["id"]), 409);
    expect(await transfer(first["transferId"])).to.include({ unallocatedAmount: "6.50" });
    expect(await invoice(two)).to.include({ status: "open", paidAmount: "0.00" });
  });

  it("can be allocated by the address's new owner, who decides nothing for the earlier one", async () => {
    const earlier = await counter.issue(merchant, { amount: "64.00" });
    const waiting = await submitted(earlier, usdt(7.75));
    const organizationId = other.organizationId as Id<"organization">;
    await counter.app.app.db.write(testContext, (tx) =>
      tx.update(transfers, { organizationId }, "WHERE id = $1", [String(waiting["transferId"])]),
    );
    await counter.wallet(other);
    const own = await counter.issue(other, { amount: "65.00" });
    await expectStatus(allocate(waiting["transferId"], [[own, "7.75"]], other), 200);
    const path = `/payments/${String(waiting["id"])}`;
    expect(await counter.get(merchant, path)).to.include({ status: "review" });
    expect((await transfer(waiting["transferId"], other))["allocations"]).to.have.length(1);
    await expectStatus(counter.post(merchant, `${path}/reject`), 200);
  });

  it.onBoth("is allocated once per Idempotency-Key", async () => {
    const one = await counter.issue(merchant, { amount: "61.00" });
    const found = await unmatched(usdt(20.5));
    const path = `/v1/organizations/${merchant.organizationId}/transfers/${String(found["id"])}/allocate`;
    const send = () =>
      counter.app.request("POST", path, {
        key: merchant.key,
        headers: { "Idempotency-Key": "once" },
        body: { allocations: [{ invoiceId: one["id"], amount: "5.00" }] },
      });
    const first = await expectStatus(send(), 200);
    const second = await expectStatus(send(), 200);
    expect(second.headers.get("Idempotent-Replayed")).to.equal("true");
    expect(second.body).to.deep.equal(first.body);
    expect(await transfer(found["id"])).to.include({ unallocatedAmount: "15.50" });
  });

  it.onBoth("is listed on exactly one page, even if more transfers arrive meanwhile", async () => {
    const fresh = await counter.merchant();
    const to = await counter.wallet(fresh);
    await counter.issue(fresh);
    for (const amount of [1.1, 1.2, 1.3, 1.4, 1.5]) await counter.pay(to, usdt(amount));
    await counter.mine();
    const seen: unknown[] = [];
    let cursor = "";
    do {
      const page = await counter.get(fresh, `/transfers?status=unmatched&limit=2${cursor}`);
      seen.push(...(page["data"] as Json[]).map(({ amount }) => amount));
      await counter.pay(to, usdt(2.5));
      await counter.mine();
      const { nextCursor } = page as { readonly nextCursor: string | null };
      cursor = nextCursor === null ? "" : `&cursor=${nextCursor}`;
    } while (cursor !== "");
    expect(seen.sort()).to.deep.equal(["1.10", "1.20", "1.30", "1.40", "1.50"]);
    const wrong = `/v1/organizations/${fresh.organizationId}/transfers?status=lost`;
    await expectStatus(counter.app.request("GET", wrong, { key: fresh.key }), 400);
  });
});
