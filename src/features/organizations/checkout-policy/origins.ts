import * as z from "zod";
import { parseUrl } from "../../../kernel/url.ts";

/** Maximum number of an organization's allowed origins: all of them are in a header of each page. */
export const allowedOriginsMax = 20;
const originLengthMax = 200;

/** Hosts of the developer's own machine, for which http is allowed. */
const localHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
/** Without the `*` and the separators that have a meaning in a Content Security Policy. */
const hostPattern = /^(?:[a-z0-9.-]+|\[[0-9a-f:]+\])$/;

/** Returns the origin that a text names, such as `https://shop.example`; null if it names anything more or else. */
export function parseOrigin(text: string): string | null {
  const url = /^https?:\/\/[^\s\\/?#@]+\/?$/i.test(text) ? parseUrl(text) : null;
  if (url === null || !hostPattern.test(url.hostname)) return null;
  return url.protocol === "https:" || localHosts.has(url.hostname) ? url.origin : null;
}

/** The allowed origins in a request, at most 20. */
export const originList = () =>
  z
    .array(
      z
        .string()
        .max(originLengthMax, { error: `must have at most ${String(originLengthMax)} characters` })
        .refine((text) => parseOrigin(text) !== null, {
          error:
            "must be an origin such as https://shop.example, without a path or a wildcard; http is allowed for localhost only",
        }),
    )
    .max(allowedOriginsMax, { error: `must have at most ${String(allowedOriginsMax)} origins` });

/** Returns origins in their usual notation, without duplicates. */
export function readOrigins(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.map((text) => parseOrigin(text) ?? text))];
}

/**
 * Whether payers of an organization may be sent to an address: on its allowed origins only, or anywhere while it has
 * named none.
 */
export function mayReturnTo(allowedOrigins: readonly string[], address: string): boolean {
  const origin = parseUrl(address)?.origin;
  return allowedOrigins.length === 0 || (origin !== undefined && allowedOrigins.includes(origin));
}
