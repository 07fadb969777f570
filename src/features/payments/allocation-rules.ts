import { tokenAsset } from "../../kernel/asset.ts";
import { invalidField } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { formatMoney, money, parseMoneyField } from "../../kernel/money.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { AllocationTooLarge, TransferAllocated, TransferNotCreditable } from "./errors.ts";
import { creditFault, takenOf } from "./rules.ts";
import type { PaymentRow, TransferRow } from "./table.ts";
import type { TransferView } from "./transfer-present.ts";

/** What of a transfer is to be an invoice's. */
export interface Allocation {
  readonly invoiceId: Id<"invoice">;
  /** In the transfer's token, as decimal text. */
  readonly amount: string;
}

/** The same, understood: in the token's smallest unit. */
interface Part {
  readonly invoiceId: Id<"invoice">;
  readonly amount: bigint;
}

/** How often a transfer may be allocated in all, reversed allocations too. */
const paymentsOfTransferMax = 200;

/** Reads the amounts; an invoice that is named twice is a 400. */
export function readAllocations(transfer: TransferRow, allocations: readonly Allocation[]): Part[] {
  const asset = tokenAsset(transfer.token, transfer.tokenDecimals);
  const seen = new Set<Id<"invoice">>();
  return allocations.map(({ invoiceId, amount }, place) => {
    const pointer = `/allocations/${String(place)}`;
    if (seen.has(invoiceId)) {
      const message = "is in the list already: give it one amount";
      throw invalidField(`${pointer}/invoiceId`, "duplicate", message);
    }
    seen.add(invoiceId);
    return { invoiceId, amount: parseMoneyField(`${pointer}/amount`, amount, asset).units };
  });
}

/** What is left of a transfer beside some amounts, as text; nothing where those are more. */
export function restOf(
  { transfer, payments }: Pick<TransferView, "transfer" | "payments">,
  amounts: readonly string[],
): string {
  const asset = tokenAsset(transfer.token, transfer.tokenDecimals);
  const given = amounts.reduce(
    (sum, amount) => sum + parseMoneyField("/allocations", amount, asset).units,
    0n,
  );
  const rest = transfer.amount - takenOf(payments) - given;
  return shown(transfer, rest > 0n ? rest : 0n);
}

/** More than is left is never allocated, and an invoice has one payment of a transfer at a time. */
export function requireRoom(
  transfer: TransferRow,
  claiming: readonly PaymentRow[],
  given: readonly Part[],
): void {
  const taking = claiming.filter((payment) => takenOf([payment]) > 0n);
  const left = transfer.amount - takenOf(taking);
  const sum = given.reduce((total, { amount }) => total + amount, 0n);
  if (sum > left) {
    throw new AllocationTooLarge(
      `${shown(transfer, left)} ${transfer.token} of this transfer are left, and ${shown(transfer, sum)} were to be allocated. Read it again, and allocate no more than is left.`,
    );
  }
  const again = given.find(({ invoiceId }) => taking.some((row) => row.invoiceId === invoiceId));
  if (again !== undefined) {
    throw new TransferAllocated(
      `${again.invoiceId} has a payment of this transfer. Reverse that one, then allocate the whole amount.`,
    );
  }
  if (claiming.length + given.length > paymentsOfTransferMax) {
    throw new TransferAllocated(
      `This transfer was allocated and reversed as often as it may be: ${String(paymentsOfTransferMax)} times.`,
    );
  }
}

/** Refuses to credit what is worthless, or of a token that is switched off. */
export function requireCreditable(
  transfer: TransferRow,
  network: Network,
  disabledTokens: readonly string[],
): void {
  switch (creditFault(transfer, network, disabledTokens)) {
    case null:
      return;
    case "worthless":
      throw new TransferNotCreditable(
        "This is dust, or money that its address sent to itself: it pays for nothing.",
      );
    case "token_disabled":
      throw new TransferNotCreditable(
        `${transfer.token} is switched off on ${network.title}: its contract does not count as configured. Ask the operator.`,
      );
  }
}

/** An amount of a transfer as people read it. */
export function shown({ token, tokenDecimals }: TransferRow, units: bigint): string {
  return formatMoney(money(units, tokenAsset(token, tokenDecimals)));
}
