import { minute, type Instant } from "../../kernel/clock.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { NetworkState } from "../../platform/chain/state/network-state.ts";
import type { PayerInvoice } from "../invoices/index.ts";
import type { CheckoutPayment } from "./ports.ts";

/** States shown to the payer. Each has its own text, and no two are merged. */
export type CheckoutState =
  | "awaiting"
  | "partly_paid"
  | "confirming"
  | "paid"
  | "overpaid"
  | "paid_late"
  | "expired_unpaid"
  | "expired_partly_paid"
  | "canceled"
  | "cannot_check";

/** The network data that determines the state. */
type Progress = Pick<NetworkState, "tipTime" | "scannedAt">;
type Pace = Pick<Network, "isTest" | "blockTimeMs" | "pollMs">;

/** Factor by which blocks and polls may be late before the payer is informed. */
const lagFactor = 10;

/**
 * Whether the network data is too old to conclude that no payment has arrived. The test network also mines on demand,
 * so there only the time of the watcher's last poll counts.
 */
export function isLagging(network: Pace, progress: Progress | null, now: Instant): boolean {
  if (progress === null) return true;
  const lagMaxMs = Math.max(minute, lagFactor * (network.blockTimeMs + network.pollMs));
  if (now - progress.scannedAt > lagMaxMs) return true;
  return !network.isTest && now - progress.tipTime > lagMaxMs;
}

/** The data that determines the state of a checkout. */
interface CheckoutInputs {
  readonly invoice: Pick<PayerInvoice, "status" | "exception" | "received" | "asked" | "expiresAt">;
  readonly payments: readonly Pick<CheckoutPayment, "status" | "blockTime">[];
  readonly network: Pace;
  readonly networkState: Progress | null;
}

/** Returns the state shown to the payer. */
export function stateOf(standing: CheckoutInputs, now: Instant): CheckoutState {
  const { invoice, network, networkState } = standing;
  switch (invoice.status) {
    case "open":
    case "partially_paid":
      // After its deadline an invoice stays open until the newest blocks are read; nobody should pay in that time.
      if (now >= invoice.expiresAt || isLagging(network, networkState, now)) return "cannot_check";
      return invoice.status === "open" ? "awaiting" : "partly_paid";
    case "confirming":
      return "confirming";
    case "paid":
      if (invoice.exception === "late") return "paid_late";
      return isOverpaid(invoice) ? "overpaid" : "paid";
    case "expired":
      if (isLate(standing)) return "paid_late";
      return invoice.received.units > 0n ? "expired_partly_paid" : "expired_unpaid";
    case "canceled":
      return "canceled";
  }
}

/** Whether a payment arrived after the deadline, whether it counts already or awaits the merchant's decision. */
function isLate({ invoice, payments }: Pick<CheckoutInputs, "invoice" | "payments">): boolean {
  if (invoice.exception === "late") return true;
  return payments.some(
    ({ status, blockTime }) => status === "review" && blockTime > invoice.expiresAt,
  );
}

/** Whether a payment awaits the merchant's decision. */
export function hasReview({ payments }: Pick<CheckoutInputs, "payments">): boolean {
  return payments.some(({ status }) => status === "review");
}

export function isOverpaid(invoice: Pick<PayerInvoice, "received" | "asked">): boolean {
  return invoice.received.units > invoice.asked.units;
}

/** Whether the payer is asked to pay, and is therefore shown an address. */
export function isPayable(
  invoice: Pick<PayerInvoice, "status" | "expiresAt">,
  now: Instant,
): boolean {
  const isOpen = invoice.status === "open" || invoice.status === "partially_paid";
  return isOpen && now < invoice.expiresAt;
}
