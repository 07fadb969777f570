import { settlementAsset } from "../../kernel/asset.ts";
import { day, type Instant } from "../../kernel/clock.ts";
import { formatMoney, money } from "../../kernel/money.ts";
import type { BillingPolicy } from "../../platform/config/index.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { Tx } from "../../platform/database/index.ts";
import type { InvoiceRow, InvoiceView, ManagedInvoices } from "../invoices/index.ts";
import { noReceiveWallet, receiveTarget } from "./receive-wallet.ts";
import { platformInvoiceTwins, type PlatformInvoiceRow } from "./table.ts";

/** What of a platform invoice its twin says. */
type Collected = Pick<
  PlatformInvoiceRow,
  "id" | "organizationId" | "currency" | "decimals" | "dueAt"
>;

/** What a platform invoice keeps of the invoice by which it is paid. */
export type TwinColumns = Pick<PlatformInvoiceRow, "twinId" | "twinPublicId" | "twinCheckoutId">;

/** The invoices of the platform organization by which platform invoices are paid. */
export interface Twins {
  /**
   * Finds out where one over an amount may be paid, and gives what issues it for the platform invoice of a number. Both
   * throw `no_receive_wallet`, and whatever an ordinary issue throws.
   */
  prepare(
    tx: Tx,
    at: Instant,
    invoice: Collected,
    amount: bigint,
    policy: BillingPolicy,
  ): Promise<(number: string) => Promise<InvoiceView>>;
  /** Keeps whose twin it is: after the platform invoice itself was inserted. */
  remember(tx: Tx, at: Instant, invoice: Pick<Collected, "id">, twin: InvoiceView): Promise<void>;
  /** Tells payers to send nothing any more; what comes all the same counts. */
  withdraw(tx: Tx, at: Instant, twins: readonly InvoiceRow[]): Promise<void>;
}

export function makeTwins(deps: {
  readonly managed: ManagedInvoices;
  /** The enabled networks, by id. */
  readonly networks: ReadonlyMap<string, Network>;
}): Twins {
  const { managed, networks } = deps;
  return {
    async prepare(tx, at, invoice, amount, policy) {
      const target = await receiveTarget(tx, networks);
      if (target === null) throw noReceiveWallet();
      const { id, organizationId, currency, decimals, dueAt } = invoice;
      const patience = (policy.graceDays + policy.cancelAfterSuspendedDays) * day;
      const issue = await managed.prepare(tx, at, target.organizationId, {
        amount: formatMoney(money(amount, settlementAsset(currency, decimals))),
        settlementCurrency: currency,
        tokenSymbol: target.token.symbol,
        network: target.network.id,
        walletId: target.wallet.id,
        metadata: { platformInvoiceId: id, organizationId },
        // A successor is issued when the debt is old: it is payable as long as the first one was.
        expiresAt: Math.max(dueAt, at) + patience,
      });
      return (number) => issue(`Invoice ${number}`);
    },

    async remember(tx, at, { id }, twin) {
      await tx.insert(platformInvoiceTwins, {
        twinId: twin.id,
        platformInvoiceId: id,
        createdAt: at,
      });
    },

    async withdraw(tx, at, twins) {
      for (const twin of twins) await managed.withdraw(tx, at, twin);
    },
  };
}

export function twinColumns(twin: InvoiceView | null): TwinColumns {
  return {
    twinId: twin?.id ?? null,
    twinPublicId: twin?.publicId ?? null,
    twinCheckoutId: twin?.checkoutId ?? null,
  };
}

/** Whether payers of this twin are still asked for money. */
export function isPayable(twin: InvoiceRow, at: Instant): boolean {
  if (twin.status === "confirming") return true;
  const isOpen = twin.status === "open" || twin.status === "partially_paid";
  return isOpen && twin.expiresAt !== null && twin.expiresAt > at;
}
