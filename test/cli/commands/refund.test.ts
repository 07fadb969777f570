// Refunds at the terminal.
import { expect } from "chai";
import {
  mineBlocks,
  payOnSandbox,
  sendOnSandbox,
} from "../../../src/features/payments/sandbox/sandbox.ts";
import { createRefund } from "../../../src/features/refunds/refunds.ts";
import { cancelInvoice } from "../../../src/features/invoices/invoices.ts";
import { listPayments } from "../../../src/features/payments/payments.ts";
import { RefundListRecord, RefundRecord } from "../../../src/features/refunds/records.ts";
import { until } from "../../support/until.ts";
import { context, makeDesk, type DeskStore } from "../billing-operator.ts";
import { issue, openShop } from "../market.ts";

const address = "0x52908400098527886E0F7030069857D2E4169EE7";
const payer = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

/** A requested refund of a payment of a canceled invoice, and the merchant's transaction of its amount. */
async function openRefund(store: DeskStore) {
  const organizationId = await store.platformId();
  return store.withApp(async (app) => {
    await openShop(app, organizationId, { address });
    const invoiceId = await issue(app, organizationId, { amount: "25.00" });
    await cancelInvoice(app, context, organizationId, invoiceId);
    await payOnSandbox(app, context, invoiceId, 25_000_000n);
    // A payment of a canceled invoice can be refunded once its block is final.
    await mineBlocks(app, context, 40);
    const refund = await until(
      "the refund",
      async () => {
        const { data } = await listPayments(app, organizationId, {});
        const paymentId = data[0]?.payment.id;
        if (paymentId === undefined) return null;
        const wanted = { paymentId, amount: "25.00", address: payer };
        return createRefund(app, context, organizationId, wanted).catch(() => null);
      },
      (found) => found !== null,
    );
    if (refund === null) throw new Error("there is no refund");
    const given = { from: address, to: payer, token: "USDT", amount: "25.00" };
    const { transactionHash } = await sendOnSandbox(app, context, given);
    return { organizationId, refundId: refund.refund.id, transactionHash };
  });
}

describe("till refund", () => {
  const desk = makeDesk({ TILL_NETWORKS: "sandbox", TILL_SANDBOX_BLOCK_MS: "0" });

  it("lists and shows refunds, and sends or rejects them after a dry run", async () => {
    const store = await desk.store();
    const { organizationId, refundId, transactionHash } = await openRefund(store);
    const list = ["refund", "list", "--organization", organizationId];
    const { data } = RefundListRecord.parse(
      await store.json([...list, "--status", "requested"]),
    ) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).to.deep.equal([refundId]);
    const show = async () => RefundRecord.parse(await store.json(["refund", "show", refundId]));
    const send = ["refund", "send", refundId, transactionHash];
    await store.json([...send, "--dry-run"]);
    const reject = ["refund", "reject", refundId, "--reason", "Paid by card"];
    await store.json([...reject, "--dry-run"]);
    expect(await show()).to.include({ status: "requested" });
    const sent = RefundRecord.parse(await store.json([...send, "--yes"]));
    expect(sent).to.include({ status: "sent", transactionHash: `0x${transactionHash}` });
    expect(await show()).to.include({ status: "sent" });
  });

  it("creates a refund after it showed the payment, and asks about none that cannot be", async () => {
    const store = await desk.store();
    const { refundId } = await openRefund(store);
    const { paymentId } = RefundRecord.parse(await store.json(["refund", "show", refundId]));
    const words = (amount: string, of: string = paymentId) => [
      ...["refund", "create", of, "--amount", amount, "--address", payer],
    ];
    const alone = { env: { TERM: "xterm" }, person: [] };
    // One is open already, and nobody is asked about it.
    expect((await store.till(words("5.00"), alone)).code).to.equal(6);
    await store.json(["refund", "reject", refundId, "--reason", "Paid by card", "--yes"]);
    expect((await store.till(words("25.01"), alone)).code).to.equal(6);
    expect(
      (await store.till(words("5.00", `${paymentId.slice(0, -1)}~`), alone)).code,
    ).not.to.equal(0);
    expect((await store.till(words("5.00"))).stderr).to.include("--yes");
    await store.json([...words("5.00"), "--dry-run"]);
    const declined = await store.till([...words("5.00"), "--no-color"], {
      env: { TERM: "xterm" },
      person: [["Request a refund of the payment of 25.00 USDT (pay_", "n\r"]],
    });
    expect(declined.code, declined.stderr).to.equal(3);
    expect(declined.stderr)
      .to.match(/^ {2}Refund +- → 5\.00 USDT$/m)
      .and.match(new RegExp(`^ {2}To +- → ${payer}$`, "m"))
      .and.match(/^ {2}To the sender +- → no$/m);
    const made = RefundRecord.parse(await store.json([...words("5.00"), "--yes"]));
    expect(made).to.include({ status: "requested", amount: "5.00", address: payer, paymentId });
    const entries = await store.audited("refund.requested");
    expect(entries.map((entry) => entry["actor_type"])).to.have.members(["system", "operator"]);
  });

  it("finds the organization of a refund and of a payment, whichever TILL_ORGANIZATION names", async () => {
    const store = await desk.store();
    const { organizationId, refundId } = await openRefund(store);
    const env = { TILL_ORGANIZATION: await store.pendingOrganization() };
    const run = async (...words: string[]) => {
      const { code, stdout, stderr } = await store.till(["refund", ...words, "--json"], { env });
      expect(code, stderr).to.equal(0);
      return RefundRecord.parse(JSON.parse(stdout));
    };
    const { paymentId } = await run("show", refundId);
    const reason = ["--reason", "Paid by card", "--yes"];
    expect(await run("reject", refundId, ...reason)).to.include({ status: "rejected" });
    const wanted = ["--amount", "5.00", "--address", payer, "--yes"];
    const { id } = await run("create", paymentId, ...wanted);
    const { data } = RefundListRecord.parse(
      await store.json(["refund", "list", "--organization", organizationId]),
    );
    expect(data[0]).to.include({ id, status: "requested" });
    const others = await store.till(["refund", "list", "--json"], { env });
    expect(JSON.parse(others.stdout)).to.deep.include({ data: [] });
    const unknown = [`${refundId.slice(0, -1)}0`, `${refundId.slice(0, -1)}1`].find(
      (one) => one !== refundId,
    );
    const missing = await store.till(["refund", "reject", unknown ?? "", ...reason], { env });
    expect(missing.code, missing.stderr).to.equal(5);
  });
});
