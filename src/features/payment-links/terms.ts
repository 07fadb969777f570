import { Problem, invalidField } from "../../kernel/errors.ts";
import { cleanPasted } from "../../kernel/text.ts";
import type { Id } from "../../kernel/id.ts";
import { formatMoney, type Money } from "../../kernel/money/money.ts";
import {
  integer,
  json,
  table,
  text,
  time,
  type RowOf,
} from "../../platform/database/schema/table.ts";
import type { InvoiceInput } from "../invoices/issuing/create.ts";
import type { CreatePaymentLinkInput } from "./records.ts";

export const paymentLinks = table(
  "payment_links",
  {
    id: text<Id<"paymentLink">>(),
    organizationId: text<Id<"organization">>(),
    status: text<"active" | "disabled">(),
    /** The amount of each invoice, in the settlement currency; null: the payer enters it. */
    amount: text().nullable(),
    /** The bounds of an entered amount. */
    minAmount: text().nullable(),
    maxAmount: text().nullable(),
    /** All other fields of the invoices, as in a request for one. */
    terms: json<LinkTerms>(),
    version: integer(),
    /** When `payment_link.limited` was last raised because everybody was refused; null: never. */
    limitedAt: time().nullable(),
    /** When it was last raised because a range of client addresses was refused; null: never. */
    rangeLimitedAt: time().nullable(),
    createdAt: time(),
    updatedAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [{ name: "payment_links_organization", columns: ["organizationId", "id"] }],
  },
);

export type PaymentLinkRow = RowOf<typeof paymentLinks>;

/** The fields of a link's invoices apart from the amount. */
export type LinkTerms = Omit<
  InvoiceInput,
  "amount" | "enteredAtLink" | "startedAtLink" | "startedFrom"
>;

/** The amounts of a link, in the notation of records; null for none. */
interface LinkAmounts {
  readonly amount: string | null;
  readonly minAmount: string | null;
  readonly maxAmount: string | null;
}

/** Parses an amount with which an invoice of the link could be issued; throws the problems of such an invoice. */
type ReadAmount = (amount: string) => Promise<Money>;

/** Any amount, to validate terms that have none. */
const anyAmount = "100";

/** Parses and validates the amounts of a new link together with its terms. */
export async function readAmounts(
  input: Pick<CreatePaymentLinkInput, keyof LinkAmounts>,
  read: ReadAmount,
): Promise<LinkAmounts> {
  const { amount = null, minAmount = null, maxAmount = null } = input;
  if (amount !== null && (minAmount !== null || maxAmount !== null)) {
    throw invalidField(
      "/amount",
      "invalid_value",
      "cannot be combined with minAmount and maxAmount, which are for amounts that the payer enters",
    );
  }
  await read(amount ?? anyAmount);
  const [fixed, least, most] = await Promise.all([
    amount === null ? null : read(amount),
    minAmount === null ? null : readBound("/minAmount", minAmount, read),
    maxAmount === null ? null : readBound("/maxAmount", maxAmount, read),
  ]);
  if (least !== null && most !== null && least.units > most.units) {
    throw invalidField("/maxAmount", "invalid_value", "must not be less than minAmount");
  }
  const shown = (money: Money | null) => (money === null ? null : formatMoney(money));
  return { amount: shown(fixed), minAmount: shown(least), maxAmount: shown(most) };
}

/** Names the field of a bound that cannot be the amount of an invoice. */
async function readBound(pointer: string, text: string, read: ReadAmount): Promise<Money> {
  try {
    return await read(text);
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    throw invalidField(
      pointer,
      "invalid_value",
      `cannot be the amount of an invoice: ${error.message}`,
    );
  }
}

/** The largest text of an entered amount, in characters. */
const enteredLengthMax = 40;

/** Returns an amount as payers type it in the notation of requests: `12,50` is `12.50`. */
export function normalizeEntered(text: string): string {
  const bare = cleanPasted(text.slice(0, enteredLengthMax)).replace(/\s/g, "");
  return bare.includes(".") ? bare : bare.replace(",", ".");
}

/** The metadata by which an invoice names its link. */
export function linkMetadata(id: Id<"paymentLink">): Readonly<Record<string, string>> {
  return { paymentLink: id };
}
