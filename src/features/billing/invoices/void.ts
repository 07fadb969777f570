import type { Instant } from "../../../kernel/clock.ts";
import type { Tx } from "../../../platform/database/index.ts";
import { computeCharges, thawInputs } from "../charges.ts";
import type { Ledger } from "../balances/ledger.ts";
import { receivedAt, savePlatformInvoice, type Scene } from "../store.ts";
import type { SettleSurplus } from "../balances/surplus.ts";
import type { PlatformInvoiceRow } from "../table.ts";
import type { Teller } from "../announce.ts";
import type { Twins } from "./collection-invoice.ts";

/**
 * Voids a platform invoice of a locked scene: its credits, discounts and adjustments become available again, and its
 * checkouts tell payers not to send anything. Confirmed payments become a credit in the same transaction; payments that
 * are confirmed later become one at that time.
 */
export type VoidInvoice = (
  tx: Tx,
  at: Instant,
  invoice: PlatformInvoiceRow,
  scene: Scene,
) => Promise<void>;

export function makeVoiding(deps: {
  readonly ledger: Ledger;
  readonly twins: Twins;
  readonly teller: Teller;
  readonly settleSurplus: SettleSurplus;
}): VoidInvoice {
  const { ledger, twins, teller, settleSurplus } = deps;
  return async (tx, at, invoice, scene) => {
    const came = scene.twins.get(invoice.id) ?? [];
    await twins.withdraw(tx, at, came);
    const set = { status: "void", voidedAt: at, paidAt: null } as const;
    const saved = await savePlatformInvoice(tx, at, invoice, set);
    const row = await settleSurplus(tx, at, saved, came, receivedAt(came).confirmed);
    await ledger.restore(tx, at, row, computeCharges(thawInputs(row.inputs)));
    await teller.invoice(tx, at, "platform_invoice.void", row);
  };
}
