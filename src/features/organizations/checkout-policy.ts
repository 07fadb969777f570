import * as z from "zod";
import { id, requestRecord } from "../../http/declare/record.ts";
import { invalidField } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parseUrl } from "../../kernel/url.ts";

/** A token on a network in which an invoice may be paid. */
export interface PaymentOption {
  readonly network: string;
  readonly tokenSymbol: string;
  /** The requested wallet; null: the network's default wallet or a reserve. */
  readonly walletId: Id<"wallet"> | null;
}

/** An option in a request. */
export interface OptionInput {
  readonly network: string;
  readonly tokenSymbol: string;
  readonly walletId?: Id<"wallet"> | null | undefined;
}

/** The options that an invoice may offer. */
const optionsMax = 8;
const codeLengthMax = 40;
const code = () => z.string().min(1).max(codeLengthMax);

const PaymentOptionRequest = requestRecord("PaymentOptionRequest", {
  network: code().meta({ description: "The network's id, such as tron." }),
  tokenSymbol: code().meta({ description: "Such as USDT." }),
  walletId: id("wallet").nullish().meta({
    description:
      "Absent: the default wallet of the network, as it is when the payer needs it. In the payment policy, only an owner or the operator can name a wallet.",
  }),
});

/** The options in a request. */
export const paymentOptionsInput = () => z.array(PaymentOptionRequest).min(1).max(optionsMax);

export function isSameOption(
  one: Pick<PaymentOption, "network" | "tokenSymbol">,
  other: Pick<PaymentOption, "network" | "tokenSymbol">,
): boolean {
  return one.network === other.network && one.tokenSymbol === other.tokenSymbol;
}

/** Returns the options of a request; throws a 400 if two have the same network and token. */
export function distinctOptions(given: readonly OptionInput[]): readonly PaymentOption[] {
  const repeated = given.findIndex(
    (option, index) => given.findIndex((each) => isSameOption(each, option)) < index,
  );
  if (repeated !== -1) {
    throw invalidField(
      `/paymentOptions/${String(repeated)}`,
      "duplicate",
      "names the same network and token as an option before it",
    );
  }
  return given.map(({ network, tokenSymbol, walletId = null }) => ({
    network,
    tokenSymbol,
    walletId,
  }));
}

/** Maximum number of an organization's allowed origins: all of them are in a header of each page. */
const allowedOriginsMax = 20;
const originLengthMax = 200;

/** Hosts of the developer's own machine, for which http is allowed. */
const localHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
/** Without the `*` and the separators that have a meaning in a Content Security Policy. */
const hostPattern = /^(?:[a-z0-9.-]+|\[[0-9a-f:]+\])$/;

/** Returns the origin that a text names, such as `https://shop.example`; null if it names anything more or else. */
function parseOrigin(text: string): string | null {
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
