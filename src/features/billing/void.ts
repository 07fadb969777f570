import type { Instant } from "../../kernel/clock.ts";
import type { Tx } from "../../platform/database/index.ts";
import type { Ledger } from "./ledger.ts";
import { savePlatformInvoice, type Scene } from "./subscription-store.ts";
import type { PlatformInvoiceRow } from "./table.ts";
import type { Teller } from "./tell.ts";
import type { Twins } from "./twin.ts";

/**
 * Takes back an unpaid platform invoice of a locked scene: what it was paid with of credits, discounts and adjustments
 * is there again, and its page tells payers to send nothing. What comes all the same becomes a credit.
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
}): VoidInvoice {
  const { ledger, twins, teller } = deps;
  return async (tx, at, invoice, scene) => {
    await twins.withdraw(tx, at, scene.twins.get(invoice.id) ?? []);
    const row = await savePlatformInvoice(tx, at, invoice, { status: "void", voidedAt: at });
    await ledger.restore(tx, at, row);
    await teller.invoice(tx, at, "platform_invoice.void", row);
  };
}
