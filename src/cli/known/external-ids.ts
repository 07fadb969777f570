import type { Command } from "../../api/declare/command.ts";
import { defineProblem } from "../../kernel/errors.ts";
import { idPattern } from "../../kernel/id.ts";
import type { Reader } from "../../platform/database/database.ts";
import { propertyOf } from "../command-call.ts";
import { kindOf } from "./kinds.ts";

const InvoiceNeeded = defineProblem({
  code: "invoice_needed",
  status: 400,
  title: "Name an invoice",
});

/** The number of invoices that an error lists. */
const listedMax = 10;

/** The arguments and flags of a call, of which some name invoices. */
interface Given {
  readonly arguments: Record<string, string | undefined>;
  /** By property name. */
  readonly flags: Record<string, string | boolean | undefined>;
}

/**
 * Puts the ids of invoices in the place of their externalIds. A text that can be an id is one, and an unknown
 * text stays as it is. Throws an error that lists the invoices if several organizations have one.
 * @param owner returns the id of the chosen organization; null if none is chosen
 */
export async function resolveExternalIds(
  reader: Reader,
  { arguments: declared, flags }: Pick<Command, "arguments" | "flags">,
  given: Given,
  owner: () => Promise<string | null>,
): Promise<void> {
  const idOf = async (text: string) =>
    isId(text) ? text : ((await findInvoice(reader, text, await owner())) ?? text);
  for (const { name, takes, isMany } of declared) {
    const text = given.arguments[name];
    if (text === undefined || !takesInvoice(name, takes)) continue;
    given.arguments[name] = isMany === true ? await inWords(text, idOf) : await idOf(text);
  }
  for (const { flags: written, takes } of flags) {
    const property = propertyOf(written.split(" ")[0]?.slice("--".length) ?? "");
    const text = given.flags[property];
    if (typeof text !== "string" || !takesInvoice(property, takes)) continue;
    given.flags[property] = await idOf(text);
  }
}

/** Returns true for a whole id of any kind: `inv_1042` is none, and may be an order's number. */
function isId(text: string): boolean {
  const kind = kindOf(text);
  return kind !== null && idPattern(kind).test(text);
}

function takesInvoice(name: string, takes: Command["arguments"][number]["takes"]): boolean {
  return takes === undefined ? name === "invoiceId" : takes.includes("invoice");
}

/** Resolves every word of a list such as `order-7=20.00 order-8`. */
async function inWords(text: string, idOf: (text: string) => Promise<string>): Promise<string> {
  const words = text.split(" ").map(async (word) => {
    const [, name = "", rest = ""] = /^(.*?)(=[^=]*)?$/.exec(word) ?? [];
    return (await idOf(name)) + rest;
  });
  return (await Promise.all(words)).join(" ");
}

/** Returns the id of the invoice with an externalId: in the chosen organization, or in the only one that has it. */
async function findInvoice(
  reader: Reader,
  externalId: string,
  organizationId: string | null,
): Promise<string | null> {
  const chosen = organizationId === null ? "" : "WHERE organizations.id = $3";
  // From the organizations, because the index of externalIds begins with them.
  const found = await reader.all<{ id: string; name: string }>(
    `SELECT invoices.id AS "id", organizations.name AS "name" FROM organizations
     JOIN invoices ON invoices.organization_id = organizations.id
       AND lower(invoices.external_id) = lower($1) AND invoices.external_id = $1
     ${chosen} ORDER BY organizations.id LIMIT $2`,
    [externalId, listedMax + 1, ...(organizationId === null ? [] : [organizationId])],
  );
  if (found.length < 2) return found[0]?.id ?? null;
  const lines = found.slice(0, listedMax).map(({ id, name }) => `  ${id} of ${name}`);
  const more = found.length > listedMax ? ["  …"] : [];
  throw new InvoiceNeeded(
    `Several organizations have an invoice with the externalId ${JSON.stringify(externalId)}. Give the id of one, or set TILL_ORGANIZATION:\n${[...lines, ...more].join("\n")}`,
  );
}
