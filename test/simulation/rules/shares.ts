import type { payments } from "../../../src/features/payments/table.ts";
import { day, type Instant } from "../../../src/kernel/clock.ts";
import type { RowOf } from "../../../src/platform/database/schema/table.ts";
import type { Invoice } from "../deeds.ts";
import { heldIn } from "../options.ts";

/** How long money may come after an invoice's deadline, or its cancellation. */
const lateMs = 7 * day;

export function holdEnd({ expiresAt, canceledAt }: Invoice): Instant {
  return Math.min(expiresAt ?? 0, canceledAt ?? Infinity) + lateMs;
}

export type Counted = Pick<RowOf<typeof payments>, "token" | "amount">;
/** A fraction of an invoice: a part, and all. */
export type Share = readonly [part: bigint, all: bigint];

/** Each payment is a part of the whole amount in its own token. */
export function shareOf(row: Invoice, own: readonly Counted[]): Share {
  const held = heldIn(row);
  return own.reduce<Share>(
    ([part, all], { token, amount }) => {
      const payable = held.find(({ symbol }) => symbol === token)?.payable ?? 0n;
      return payable === 0n ? [part, all] : [part * payable + amount * all, all * payable];
    },
    [0n, 1n],
  );
}

/** In thousandths. */
function toleranceOf(row: Invoice): bigint {
  const [percent, tenths = "0"] = row.underpaymentTolerance.split(".");
  return BigInt(percent ?? "0") * 10n + BigInt(tenths);
}

function isTolerated(row: Invoice, [part, all]: Share): boolean {
  return part * 1000n >= all * (1000n - toleranceOf(row));
}

/** A part is missing that nobody can be asked for: less than the dust of each of its tokens, and at most 1 %. */
export function isRounded(row: Invoice, [part, all]: Share): boolean {
  const missing = all - part;
  const isUnasked = heldIn(row).every(
    ({ payable, dust }) => missing * payable <= (dust - 1n) * all,
  );
  return missing > 0n && missing * 100n <= all && isUnasked;
}

export function isDue(row: Invoice, share: Share): boolean {
  return isTolerated(row, share) || isRounded(row, share);
}

/** Returns the worth of an invoice's payments, in the smallest unit of its currency. */
export function worthOf(row: Invoice, share: Share): bigint {
  return isRounded(row, share) ? row.amount : (share[0] * row.amount) / share[1];
}

/** A share in the token in force: rounding leaves no invoice unpaid that is paid. */
export function tokensOf(row: Invoice, share: Share): bigint {
  const payable = row.payableAmount ?? 0n;
  const tokens = (share[0] * payable) / share[1];
  if (isTolerated(row, share)) {
    const due = (payable * (1000n - toleranceOf(row)) + 999n) / 1000n;
    if (tokens < due) return due;
  }
  if (!isRounded(row, share)) return tokens;
  const least = heldIn(row).map((one) => payable - ((one.dust - 1n) * payable) / one.payable);
  const due = [payable - payable / 100n, ...least].reduce((most, one) => (one > most ? one : most));
  return tokens < due ? due : tokens;
}

export function statusOf(row: Invoice, share: Share, tip: Instant): Invoice["status"] {
  if (isDue(row, share)) return "paid";
  if (row.canceledAt !== null) return "canceled";
  if (tip > (row.expiresAt ?? 0)) return "expired";
  return share[0] > 0n ? "partially_paid" : "open";
}

export function total(items: readonly { readonly amount: bigint }[]): bigint {
  return items.reduce((sum, { amount }) => sum + amount, 0n);
}
