import { cleanPasted } from "../../../../kernel/text.ts";
import { parseAnyAddress } from "../../../../platform/chain/kinds.ts";
import type { Catalogue } from "../catalogue.ts";

/** The text that says what is wrong with a transaction's ID. */
export type HashProblem = keyof Pick<
  Catalogue,
  "hashTooShort" | "hashTooLong" | "hashWrongCharacter" | "hashNotInLink" | "hashIsAddress"
>;

/** The digits of an ID, without 0x. */
const idLength = 64;

/** Returns what is wrong with a text in which no transaction's ID was found. */
export function findHashProblem(text: string): HashProblem {
  const pasted = cleanPasted(text);
  if (pasted.includes("/")) return "hashNotInLink";
  if (parseAnyAddress(pasted) !== null) return "hashIsAddress";
  const digits = pasted.replace(/^0x/i, "");
  if (!/^[0-9a-f]*$/i.test(digits)) return "hashWrongCharacter";
  return digits.length < idLength ? "hashTooShort" : "hashTooLong";
}
