import * as z from "zod";
import { defaultPageLimit, maxPageLimit } from "../../kernel/page.ts";
import {
  parseAnyAddress,
  parseAnyTransactionHash,
  type FoundAddress,
} from "../../platform/chain/kinds.ts";
import { instant } from "./record.ts";

/** The page size. The query holds text, which `parsePage` converts; the OpenAPI document says integer. */
export const limitParameter = z.string().optional().meta({
  type: "integer",
  minimum: 1,
  maximum: maxPageLimit,
  default: defaultPageLimit,
  description: "Items per page.",
});

/** The query parameters of every list; `parsePage` reads them and `mapPage` presents the page. */
export const pageParameters = {
  limit: limitParameter,
  cursor: z
    .string()
    .optional()
    .meta({ description: "The `nextCursor` of the previous page, with the same filters." }),
};

/** One or more of the given values, separated by commas: `status=open,paid`. Duplicates are ignored. */
export function oneOrMore<const V extends string>(values: readonly V[]) {
  const any = `(${values.join("|").replaceAll(".", "\\.")})`;
  return z
    .string()
    .regex(new RegExp(`^${any}(,${any}){0,${String(values.length - 1)}}$`), {
      error: `must be one or more of ${values.join(", ")}, separated by commas`,
    })
    .meta({ description: "One value, or several separated by commas." })
    .transform((text) => [...new Set(text.split(","))] as V[]);
}

/** A symbol, code or name that must match exactly. */
export const exactly = (description: string) =>
  z.string().min(1).max(exactLengthMax).meta({ description });
const exactLengthMax = 50;

const momentFrom = (event: string) =>
  instant()
    .meta({ description: `${event} at or after this time.` })
    .optional();
const momentBefore = (event: string) =>
  instant()
    .meta({ description: `${event} before this time.` })
    .optional();

/** Time filters of a list are named after the time they compare. */
export const createdTimes = {
  createdFrom: momentFrom("Created"),
  createdTo: momentBefore("Created"),
};
export const paidTimes = { paidFrom: momentFrom("Paid"), paidTo: momentBefore("Paid") };

/** Converts a time from a query to epoch milliseconds. */
export function momentOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

/** A transaction hash as explorers show it, or a link to it; parsed to its canonical form. */
export const transactionHash = () =>
  z
    .string()
    .max(hashTextMax)
    .refine((text) => parseAnyTransactionHash(text) !== null, {
      error: "must be a transaction hash as a block explorer shows it",
    })
    .meta({ description: "As a block explorer shows it." })
    .transform((text) => parseAnyTransactionHash(text) ?? "");
const hashTextMax = 200;

/** An address on any network. */
export const anyAddress = () =>
  z
    .string()
    .max(addressLengthMax)
    .refine((text) => parseAnyAddress(text) !== null, {
      error: "must be an address in its network's notation, such as T… or 0x…",
    })
    .meta({ description: "In its network's notation." })
    .transform((text) => parseAnyAddress(text) ?? noAddress);
const addressLengthMax = 100;
const noAddress: FoundAddress = { address: "", shown: "" };
