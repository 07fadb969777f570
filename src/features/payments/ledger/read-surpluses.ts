import { assert } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import { invoicesById } from "../../invoices/store.ts";
import { payableTerms } from "../../invoices/settlement/terms-to-pay.ts";
import { payments, type PaymentRow } from "../table.ts";
import { groupBy } from "./chain-diff.ts";
import { transfersById } from "./store.ts";
import { freeOf, isPaidBesideRefunds, isPayable, surplusInTime, surplusOf } from "./surplus.ts";

/** A payment with the part of it that its invoice does not need, in the token's smallest unit. */
interface PaymentSurplus {
  readonly payment: PaymentRow;
  readonly surplus: bigint;
  /** The part of it that refunds leave. */
  readonly free: bigint;
  /** The surplus once the payments of its invoice are all confirmed and back on the chain. */
  readonly surplusInTime: bigint;
  /** True while its invoice can still become paid. */
  readonly isPayable: boolean;
  /** True if a reorganization removed a payment of its invoice: then it may need what was a surplus before. */
  readonly isReverted: boolean;
  /** True if the payments of its invoice are worth what was asked for without their refunds, whichever has them. */
  readonly isPaidBesideRefunds: boolean;
}

/** Returns the surplus of payments, with a fixed number of statements. Payments that do not exist are left out. */
export async function readSurpluses(
  reader: Reader,
  paymentIds: readonly Id<"payment">[],
): Promise<ReadonlyMap<Id<"payment">, PaymentSurplus>> {
  const named = await paymentsBy(reader, "id", paymentIds);
  const invoiceIds = [...new Set(named.map(({ invoiceId }) => invoiceId))];
  const transferIds = [...new Set(named.map(({ transferId }) => transferId))];
  const invoices = new Map((await invoicesById(reader, invoiceIds)).map((row) => [row.id, row]));
  const ledgers = groupBy(
    await paymentsBy(reader, "invoice_id", invoiceIds),
    ({ invoiceId }) => invoiceId,
  );
  const byTransfer = groupBy(
    await paymentsBy(reader, "transfer_id", transferIds),
    ({ transferId }) => transferId,
  );
  const transfers = await transfersById(reader, transferIds);
  return new Map(
    named.map((payment) => {
      const invoice = invoices.get(payment.invoiceId);
      const transfer = transfers.get(payment.transferId);
      const terms = invoice === undefined ? null : payableTerms(invoice);
      assert(invoice !== undefined && terms !== null, `${payment.id} has no issued invoice`);
      assert(transfer !== undefined, `${payment.id} has no transfer`);
      const ledger = ledgers.get(payment.invoiceId) ?? [];
      const ofTransfer = byTransfer.get(payment.transferId) ?? [];
      const inputs = { status: invoice.status, terms, ledger };
      const source = { transfer, payments: ofTransfer };
      const isReverted = ledger.some(({ status }) => status === "reverted");
      const surplus = surplusOf(payment, inputs, source);
      const found: PaymentSurplus = {
        payment,
        surplus,
        free: freeOf(surplus, payment, terms),
        surplusInTime: surplusInTime(payment, inputs, source),
        isPayable: isPayable(invoice.status),
        isReverted,
        isPaidBesideRefunds: isPaidBesideRefunds(inputs),
      };
      return [payment.id, found] as const;
    }),
  );
}

function paymentsBy(
  reader: Reader,
  column: "id" | "invoice_id" | "transfer_id",
  ids: readonly string[],
): Promise<PaymentRow[]> {
  return reader.find(payments, `WHERE ${column} IN ${listed(reader.dialect, 1)} ORDER BY id`, [
    JSON.stringify(ids),
  ]);
}
