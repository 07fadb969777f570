import { notFound } from "../../kernel/errors.ts";
import { idPattern } from "../../kernel/id.ts";
import type { Exchange } from "./exchange.ts";
import { pathParameters } from "../declare/operation.ts";

/** Formats of the path parameters that are not ids. */
const wordPatterns: Partial<Record<keyof typeof pathParameters, RegExp>> = {
  checkoutId: /^chk_[0-9a-z]{26,64}$/,
  queue: /^[\w-]{1,64}$/,
};

/** Returns a path parameter. A malformed one is a 404, like an unknown id. */
export function pathParameter(ctx: Exchange, name: keyof typeof pathParameters): string {
  const value = ctx.params?.[name] ?? "";
  const kind = pathParameters[name];
  const pattern = kind === null ? wordPatterns[name] : idPattern(kind);
  const fits = pattern?.test(value) === true;
  if (!fits) throw notFound();
  return value;
}
