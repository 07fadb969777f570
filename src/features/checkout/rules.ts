import { minute, type Instant } from "../../kernel/clock.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { NetworkState } from "../../platform/chain/state.ts";
import type { PayerInvoice } from "../invoices/index.ts";
import type { CheckoutPayment } from "./ports.ts";

/** What a payer is shown: each has its own words, and no two are ever merged. */
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

/** What of a network decides the state. */
type Progress = Pick<NetworkState, "tipTime" | "scannedAt">;
type Pace = Pick<Network, "isTest" | "blockTimeMs" | "pollMs">;

/** Blocks and looks may be late by this factor before payers are told. */
const lagFactor = 10;

/**
 * Whether what we know of a network is too old to say that a payment has not come. The test network makes blocks on
 * command, too, so there only the watcher's looks count.
 */
export function isLagging(network: Pace, progress: Progress | null, now: Instant): boolean {
  if (progress === null) return true;
  const lagMaxMs = Math.max(minute, lagFactor * (network.blockTimeMs + network.pollMs));
  if (now - progress.scannedAt > lagMaxMs) return true;
  return !network.isTest && now - progress.tipTime > lagMaxMs;
}

/** What decides the state of a checkout. */
interface Standing {
  readonly invoice: Pick<PayerInvoice, "status" | "exception" | "received" | "asked" | "expiresAt">;
  readonly payments: readonly Pick<CheckoutPayment, "status" | "blockTime">[];
  readonly network: Pace;
  readonly networkState: Progress | null;
}

/** The state that a payer is shown. */
export function stateOf(standing: Standing, now: Instant): CheckoutState {
  const { invoice, network, networkState } = standing;
  switch (invoice.status) {
    case "open":
    case "partially_paid":
      // Past its time it stays open until the network's newest blocks are read: nobody should pay then.
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

/** Whether money came after the time was over, counted already or still the merchant's to accept. */
function isLate({ invoice, payments }: Pick<Standing, "invoice" | "payments">): boolean {
  if (invoice.exception === "late") return true;
  return payments.some(
    ({ status, blockTime }) => status === "review" && blockTime > invoice.expiresAt,
  );
}

/** Whether money came that the merchant has yet to decide on. */
export function hasReview({ payments }: Pick<Standing, "payments">): boolean {
  return payments.some(({ status }) => status === "review");
}

export function isOverpaid(invoice: Pick<PayerInvoice, "received" | "asked">): boolean {
  return invoice.received.units > invoice.asked.units;
}

/** Whether the payer is asked for money, and so is shown where to send it. */
export function isPayable(
  invoice: Pick<PayerInvoice, "status" | "expiresAt">,
  now: Instant,
): boolean {
  const isOpen = invoice.status === "open" || invoice.status === "partially_paid";
  return isOpen && now < invoice.expiresAt;
}
