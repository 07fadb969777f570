import { formatMoney, money, parseMoneyField, tokenAsset } from "../../../kernel/money/money.ts";
import { invalidField } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { NetworkNotEnabled } from "../../wallets/rules.ts";
import { AllocationTooLarge, TransferAllocated, TransferNotCreditable } from "../errors.ts";
import { isTaking, takenOf } from "../ledger/payment-rules.ts";
import { creditFault } from "../ledger/transfer-rules.ts";
import type { PaymentRow, TransferRow } from "../table.ts";
import type { AllocationInput, TransferView } from "./records.ts";

/** A parsed allocation, in the token's smallest unit. */
interface Part {
  readonly invoiceId: Id<"invoice">;
  readonly amount: bigint;
}

/** Returns the network of something to be decided on. 422 `network_not_enabled` if its table no longer has it. */
export function listedNetwork(networks: ReadonlyMap<string, Network>, id: string): Network {
  const network = networks.get(id);
  if (network !== undefined) return network;
  throw new NetworkNotEnabled(
    `The table of networks no longer has ${id}, so nothing of it can be decided. Ask the operator to add it again, then try again.`,
  );
}

/** The largest number of payments of a transfer, including rejected ones. */
const paymentsOfTransferMax = 200;

/** Parses the amounts; throws a 400 if an invoice is named twice. */
export function readAllocations(
  transfer: TransferRow,
  allocations: readonly AllocationInput[],
): Part[] {
  const asset = tokenAsset(transfer.token, transfer.tokenDecimals);
  const seen = new Set<Id<"invoice">>();
  return allocations.map(({ invoiceId, amount }, index) => {
    const pointer = `/allocations/${String(index)}`;
    if (seen.has(invoiceId)) {
      const message = "is already in the list: allocate one amount to it";
      throw invalidField(`${pointer}/invoiceId`, "duplicate", message);
    }
    seen.add(invoiceId);
    return { invoiceId, amount: parseMoneyField(`${pointer}/amount`, amount, asset).units };
  });
}

/** Returns the amount of a transfer that some amounts leave, as decimal text; at least 0. */
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

/** Throws if more than the rest would be allocated, or an invoice would have two payments of the transfer. */
export function requireRoom(
  transfer: TransferRow,
  ofTransfer: readonly PaymentRow[],
  given: readonly Part[],
): void {
  const taking = ofTransfer.filter(isTaking);
  const left = transfer.amount - takenOf(ofTransfer);
  const sum = given.reduce((total, { amount }) => total + amount, 0n);
  if (sum > left) {
    throw new AllocationTooLarge(
      `${shown(transfer, left)} ${transfer.token} of this transfer are left, fewer than the ${shown(transfer, sum)} to allocate. Read the transfer again, and allocate at most the rest.`,
    );
  }
  const again = given.find(({ invoiceId }) => taking.some((row) => row.invoiceId === invoiceId));
  if (again !== undefined) {
    throw new TransferAllocated(
      `${again.invoiceId} already has a payment of this transfer. Reverse it, then allocate the whole amount.`,
    );
  }
  if (ofTransfer.length + given.length > paymentsOfTransferMax) {
    throw new TransferAllocated(
      `This transfer has reached the limit of allocations, including reversed ones: ${String(paymentsOfTransferMax)}.`,
    );
  }
}

/**
 * Throws if the transfer is worthless or its token disabled. A transfer that was not dust when it was recorded stays creditable
 * after the operator has raised the dust.
 */
export function requireCreditable(
  transfer: TransferRow,
  network: Network,
  disabledTokens: readonly string[],
): void {
  switch (creditFault(transfer, network, disabledTokens)) {
    case null:
      return;
    case "worthless":
      if (!wasWorthless(transfer)) return;
      throw new TransferNotCreditable(
        "This transfer is dust, or the address sent it to itself. It cannot pay an invoice.",
      );
    case "token_disabled":
      throw new TransferNotCreditable(
        `${transfer.token} is disabled on ${network.title}: its contract does not report the configured decimals. Ask the operator.`,
      );
  }
}

/** Returns true if a transfer was dust when it was recorded, or its address sent it to itself, and nobody decided about it. */
function wasWorthless({ verification, disposition, fromAddress, toAddress }: TransferRow): boolean {
  return fromAddress === toAddress || (verification === "skipped" && disposition === "ignored");
}

/** Formats an amount of a transfer for people. */
export function shown({ token, tokenDecimals }: TransferRow, units: bigint): string {
  return formatMoney(money(units, tokenAsset(token, tokenDecimals)));
}
