import { NotFound, notFound, type Problem } from "../../kernel/errors.ts";
import { idPattern, idPrefixes } from "../../kernel/id.ts";
import type { Exchange } from "./exchange.ts";
import { pathParameters } from "../declare/operation.ts";

type ParameterName = keyof typeof pathParameters;

/** Formats of the path parameters that are not ids. */
const wordPatterns: Partial<Record<ParameterName, RegExp>> = {
  checkoutId: /^chk_[0-9a-z]{26,64}$/,
  queue: /^[\w-]{1,64}$/,
  network: /^[\w-]{1,40}$/,
};

const patterns: ReadonlyMap<string, RegExp | undefined> = new Map(
  Object.entries(pathParameters).map(([name, kind]) => [
    name,
    kind === null ? wordPatterns[name as ParameterName] : idPattern(kind),
  ]),
);

/** Returns a path parameter. A malformed one is a 404, like an unknown id. */
export function pathParameter(ctx: Exchange, name: ParameterName): string {
  const value = ctx.params?.[name] ?? "";
  if (patterns.get(name)?.test(value) === true) return value;
  throw name === "invoiceId" && !value.startsWith(invoicePrefix) ? noInvoiceId() : notFound();
}

const invoicePrefix = `${idPrefixes.invoice}_`;

/** Creates the response for a path with another text than an invoice's id, such as the merchant's own `externalId`. */
function noInvoiceId(): Problem {
  return new NotFound(
    `The invoiceId in the path is not the id of an invoice, which begins with ${invoicePrefix}. To find invoices by your externalId, list those of the organization with ?externalId=; by a publicId, with ?search=.`,
  );
}
