import { z } from "zod";
import { defaultPageLimit, maxPageLimit } from "../kernel/page.ts";
import { formatAddress, parseAddress, type AddressForm } from "../platform/chain/address.ts";
import type { Address } from "../platform/chain/client.ts";
import { parseTransactionHash } from "../platform/chain/transaction-hash.ts";
import { instant } from "./record.ts";

/** How many items a page has. A query is text, which `parsePage` reads; a client sends a number. */
export const limitParameter = z.string().optional().meta({
  type: "integer",
  minimum: 1,
  maximum: maxPageLimit,
  default: defaultPageLimit,
  description: "Items a page.",
});

/** What every list takes in its query; `parsePage` reads it, and `mapPage` presents the answer. */
export const pageParameters = {
  limit: limitParameter,
  cursor: z
    .string()
    .optional()
    .meta({ description: "The `nextCursor` of the page before, with the same filters." }),
};

/** One or several of some values, separated by commas: `status=open,paid`. One that is given twice counts once. */
export function oneOrMore<const V extends string>(values: readonly V[]) {
  const any = `(${values.join("|")})`;
  return z
    .string()
    .regex(new RegExp(`^${any}(,${any}){0,${String(values.length - 1)}}$`), {
      error: `must be one or more of ${values.join(", ")}, separated by commas`,
    })
    .meta({ description: "One of these, or several separated by commas." })
    .transform((text) => [...new Set(text.split(","))] as V[]);
}

/** A symbol, code or name that is compared as a whole. */
export const exactly = (description: string) =>
  z.string().min(1).max(exactLengthMax).meta({ description });
const exactLengthMax = 50;

const momentFrom = () => instant().meta({ description: "From this moment on." });
const momentBefore = () => instant().meta({ description: "Before this moment." });

/** Every list names the time that it filters by. */
export const createdTimes = {
  createdFrom: momentFrom().optional(),
  createdTo: momentBefore().optional(),
};
export const paidTimes = { paidFrom: momentFrom().optional(), paidTo: momentBefore().optional() };

/** The moment of a time in a query. */
export function momentOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

/** A transaction's hash as explorers show it, or their link; read as 64 lower-case hex digits. */
export const transactionHash = () =>
  z
    .string()
    .max(hashTextMax)
    .refine((text) => parseTransactionHash(text) !== null, {
      error: "must be a transaction's hash: 64 hex digits, with or without 0x",
    })
    .meta({ description: "As an explorer shows it." })
    .transform((text) => parseTransactionHash(text) ?? "");
const hashTextMax = 200;

export interface FoundAddress {
  readonly address: Address;
  /** In the network's form. */
  readonly shown: string;
}

/** An address of any network. */
export const anyAddress = () =>
  z
    .string()
    .max(addressLengthMax)
    .refine((text) => readAddress(text) !== null, {
      error: "must be an address as its network writes it, such as T… or 0x…",
    })
    .meta({ description: "As its network writes it." })
    .transform((text) => readAddress(text) ?? noAddress);
const addressLengthMax = 100;
const noAddress: FoundAddress = { address: "", shown: "" };

function readAddress(text: string): FoundAddress | null {
  for (const form of ["tron", "evm"] as const satisfies readonly AddressForm[]) {
    const parsed = parseAddress(form, text);
    if (parsed.ok) return { address: parsed.address, shown: formatAddress(form, parsed.address) };
  }
  return null;
}
