import { createRefund, rejectRefund, sendRefund } from "../../../src/features/refunds/refunds.ts";
import {
  checkoutPageToken,
  requestCheckoutRefund,
} from "../../../src/features/checkout/checkouts.ts";
import { invoices } from "../../../src/features/invoices/table.ts";
import { payments, transfers } from "../../../src/features/payments/table.ts";
import { refunds } from "../../../src/features/refunds/store.ts";
import { testContext } from "../../support/store/stores.ts";
import type { Ground } from "../ground.ts";
import { decimal } from "./merchants.ts";
import type { Step } from "../steps.ts";

type RefundStep = Extract<Step, { kind: "refund" }>;

/** Makes payers that request refunds, and merchants that send them, rightly and wrongly. */
export function makeRefunders(ground: Ground): { refund: (step: RefundStep) => Promise<void> } {
  const { db, deeds, attempt, mine } = ground;
  const { network } = ground.stage;
  let sent = 0;

  const newAddress = (item: number) => `0x${item.toString(16).padStart(40, "d")}`;

  async function ask({ what, item }: RefundStep): Promise<void> {
    const rows = await db.find(payments, "ORDER BY id");
    const row = rows[item % rows.length];
    if (row === undefined) return;
    const { id: paymentId, organizationId, transactionHash, tokenDecimals, amount } = row;
    const address = newAddress(item + 1);
    if (what === "create") {
      const input = { paymentId, amount: decimal(amount / 3n + 1n, tokenDecimals), address };
      await attempt(({ app }) => createRefund(app, testContext, organizationId, input));
      return;
    }
    const invoice = await db.findOne(invoices, "WHERE id = $1", [row.invoiceId]);
    const checkoutId = invoice?.checkoutId;
    if (checkoutId == null) return;
    await attempt(({ app }) => {
      const pageToken = checkoutPageToken(app, checkoutId);
      const input = { transactionHash: `0x${transactionHash}`, address, pageToken };
      return requestCheckoutRefund(app, testContext, checkoutId, input);
    });
  }

  async function answer({ what, item }: RefundStep): Promise<void> {
    const rows = await db.find(refunds, "WHERE status = 'requested' ORDER BY id");
    const row = rows[item % rows.length];
    if (row === undefined) return;
    const { id, organizationId, paymentId, address, amount, token } = row;
    if (what === "reject") {
      await attempt(({ app }) => rejectRefund(app, testContext, organizationId, id, "No"));
      return;
    }
    const payment = await db.findOne(payments, "WHERE id = $1", [paymentId]);
    const transfer = await db.findOne(transfers, "WHERE id = $1", [payment?.transferId ?? ""]);
    const contract = network.tokens.find(({ symbol }) => symbol === token)?.contract;
    if (payment === null || transfer === null || contract === undefined) return;
    sent += 1;
    const transactionHash = `9${sent.toString(16).padStart(63, "0")}`;
    const from = what === "send_foreign" ? "e".repeat(40) : transfer.toAddress;
    const given = what === "send_less" ? amount - 1n : amount;
    if (what !== "send_nothing") {
      mine(1, [{ transactionHash, contract, from, to: address, amount: given }]);
    }
    // Its payment no longer counts unless its invoice is paid.
    for (const one of await db.find(payments, "WHERE transfer_id = $1", [payment.transferId])) {
      deeds.decided.add(one.invoiceId);
    }
    await attempt(({ app }) =>
      sendRefund(app, testContext, organizationId, id, `0x${transactionHash}`),
    );
  }

  return {
    refund: (step) => (step.what === "ask" || step.what === "create" ? ask(step) : answer(step)),
  };
}
