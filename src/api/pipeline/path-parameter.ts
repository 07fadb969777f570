import { notFound } from "../../kernel/errors.ts";
import { idPattern } from "../../kernel/id.ts";
import type { Exchange } from "./exchange.ts";
import { pathParameters } from "../declare/operation.ts";

type ParameterName = keyof typeof pathParameters;

/** Formats of the path parameters that are not ids. */
const wordPatterns: Partial<Record<ParameterName, RegExp>> = {
  checkoutId: /^chk_[0-9a-z]{26,64}$/,
  queue: /^[\w-]{1,64}$/,
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
  if (patterns.get(name)?.test(value) !== true) throw notFound();
  return value;
}
