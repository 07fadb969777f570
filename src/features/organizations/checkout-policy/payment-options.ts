import * as z from "zod";
import { id, requestRecord } from "../../../api/declare/record.ts";
import { invalidField } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";

/** A token on a network in which an invoice may be paid. */
export interface PaymentOption {
  readonly network: string;
  readonly tokenSymbol: string;
  /** The requested wallet; null: the network's default wallet or a reserve. */
  readonly walletId: Id<"wallet"> | null;
}

/** An option in a request. */
export interface OptionInput {
  readonly network: string;
  readonly tokenSymbol: string;
  readonly walletId?: Id<"wallet"> | null | undefined;
}

/** The options that an invoice may offer. */
const optionsMax = 8;
const codeLengthMax = 40;
const code = () => z.string().min(1).max(codeLengthMax);

const PaymentOptionRequest = requestRecord("PaymentOptionRequest", {
  network: code().meta({ description: "The network's id, such as tron." }),
  tokenSymbol: code().meta({ description: "Such as USDT." }),
  walletId: id("wallet").nullish().meta({
    description:
      "Absent: the default wallet of the network, as it is when the payer needs it. In the payment policy, only an owner or the operator can name a wallet.",
  }),
});

/** The options in a request. */
export const paymentOptionsInput = () => z.array(PaymentOptionRequest).min(1).max(optionsMax);

export function isSameOption(
  one: Pick<PaymentOption, "network" | "tokenSymbol">,
  other: Pick<PaymentOption, "network" | "tokenSymbol">,
): boolean {
  return one.network === other.network && one.tokenSymbol === other.tokenSymbol;
}

/** Returns the options of a request; throws a 400 if two have the same network and token. */
export function distinctOptions(given: readonly OptionInput[]): readonly PaymentOption[] {
  const repeated = given.findIndex(
    (option, place) => given.findIndex((each) => isSameOption(each, option)) < place,
  );
  if (repeated !== -1) {
    throw invalidField(
      `/paymentOptions/${String(repeated)}`,
      "duplicate",
      "names the same network and token as an option before it",
    );
  }
  return given.map(({ network, tokenSymbol, walletId = null }) => ({
    network,
    tokenSymbol,
    walletId,
  }));
}
