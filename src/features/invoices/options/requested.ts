import type { InTx } from "../../../app.ts";
import { invalidField } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { NoWallet } from "../errors.ts";
import { readTerms, type InvoiceTerms, type TermsInput } from "../issuing/terms.ts";
import { requireWallet } from "../issuing/plan.ts";
import {
  distinctOptions,
  type OptionInput,
  type PaymentOption,
} from "../../organizations/checkout-policy/payment-options.ts";

/** The fields of a request that name one option, or several. */
export interface OptionFields {
  readonly network?: string | undefined;
  readonly tokenSymbol?: string | undefined;
  readonly walletId?: Id<"wallet"> | null | undefined;
  readonly paymentOptions?: readonly OptionInput[] | undefined;
}

/** The money fields of an invoice that do not depend on its option. */
type Priced = Omit<TermsInput, "network" | "tokenSymbol">;

/** The options of an invoice, with the terms of the first one. */
export interface OfferedTerms extends InvoiceTerms {
  /** At least one. */
  readonly options: readonly PaymentOption[];
  /** The wallet that the first option names. */
  readonly walletId: Id<"wallet"> | null;
}

/** True if a request names no option, so that those of the organization apply. */
export function namesNoOption({ network, tokenSymbol, paymentOptions }: OptionFields): boolean {
  return network === undefined && tokenSymbol === undefined && paymentOptions === undefined;
}

/**
 * Parses the terms of a request for each of its options. `usual` are the organization's options, for a request that names
 * none. A malformed field, or options that contradict each other, are a 400; an unavailable network, token or currency
 * is a 422.
 */
export function readOffer(
  app: InTx,
  input: OptionFields & Priced,
  usual: readonly PaymentOption[] | null = null,
): OfferedTerms {
  const options = requestedOptions(input, usual);
  const { amount, settlementCurrency, underpaymentTolerance, enteredAtLink } = input;
  const priced = { amount, settlementCurrency, underpaymentTolerance, enteredAtLink };
  const [terms] = options.map(({ network, tokenSymbol }) =>
    readTerms(app, { ...priced, network, tokenSymbol }),
  );
  if (terms === undefined) throw noOption("network");
  return { ...terms, options, walletId: options[0]?.walletId ?? null };
}

function requestedOptions(
  input: OptionFields,
  usual: readonly PaymentOption[] | null,
): readonly PaymentOption[] {
  const { network, tokenSymbol, walletId, paymentOptions } = input;
  if (paymentOptions !== undefined) {
    if (network !== undefined || tokenSymbol !== undefined || walletId != null) {
      throw invalidField(
        "/paymentOptions",
        "conflict",
        "cannot be combined with network, tokenSymbol or walletId: name them in the options",
      );
    }
    return distinctOptions(paymentOptions);
  }
  if (network !== undefined && tokenSymbol !== undefined) {
    return [{ network, tokenSymbol, walletId: walletId ?? null }];
  }
  if (usual === null || !namesNoOption(input)) {
    throw noOption(network === undefined ? "network" : "tokenSymbol");
  }
  if (walletId == null) return usual;
  throw invalidField("/walletId", "conflict", "requires network and tokenSymbol");
}

function noOption(field: "network" | "tokenSymbol") {
  return invalidField(
    `/${field}`,
    "required",
    "is required: send network and tokenSymbol, or paymentOptions, or set the organization's paymentOptions in its payment policy",
  );
}

/** Throws unless the wallets that options name are the organization's; of several options also unless they fit. */
export async function requireWallets(
  reader: Reader,
  organizationId: Id<"organization">,
  options: readonly PaymentOption[],
): Promise<void> {
  for (const { walletId, network } of options) {
    if (walletId === null) continue;
    const wallet = await requireWallet(reader, organizationId, walletId);
    if (options.length === 1 || (wallet.network === network && wallet.status === "active"))
      continue;
    throw new NoWallet(
      `The wallet ${walletId} is not an active wallet of ${network}. Choose another wallet for this option, or omit its walletId.`,
    );
  }
}
