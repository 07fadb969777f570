import { notFound } from "../kernel/errors.ts";
import { idPattern } from "../kernel/id.ts";
import type { Exchange } from "./exchange.ts";
import { pathParameters } from "./operation.ts";

/** The parameters that are no id of a kind. */
const wordPatterns: Partial<Record<keyof typeof pathParameters, RegExp>> = {
  checkoutId: /^chk_[0-9a-z]{26,64}$/,
  queue: /^[\w-]{1,64}$/,
};

/** A parameter of the path; one that has not the form of its kind is a 404, like an id of nothing. */
export function pathParameter(ctx: Exchange, name: keyof typeof pathParameters): string {
  const value = ctx.params?.[name] ?? "";
  const kind = pathParameters[name];
  const pattern = kind === null ? wordPatterns[name] : idPattern(kind);
  const fits = pattern?.test(value) === true;
  if (!fits) throw notFound();
  return value;
}
