import type { Instant } from "../../kernel/clock.ts";
import type { Tx } from "../../platform/database/index.ts";
import type { Ledger } from "./ledger.ts";
import { receivedAt, savePlatformInvoice, type Scene } from "./subscription-store.ts";
import type { SettleSurplus } from "./surplus.ts";
import type { PlatformInvoiceRow } from "./table.ts";
import type { Teller } from "./tell.ts";
import type { Twins } from "./twin.ts";

/**
 * Takes back an unpaid platform invoice of a locked scene: what it was paid with of credits, discounts and adjustments
 * is there again, and its page tells payers to send nothing. What was confirmed of it becomes a credit at once, and what
 * is confirmed later becomes one then.
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
    const saved = await savePlatformInvoice(tx, at, invoice, { status: "void", voidedAt: at });
    const row = await settleSurplus(tx, at, saved, came, receivedAt(came).confirmed);
    await ledger.restore(tx, at, row);
    await teller.invoice(tx, at, "platform_invoice.void", row);
  };
}
