import { isIP } from "node:net";
import { parseUrl } from "../../kernel/url.ts";

/** Why a URL was refused, for programs. */
export type RefusalCode =
  | "url_malformed"
  | "url_scheme_not_allowed"
  | "url_credentials_not_allowed"
  | "url_fragment_not_allowed"
  | "http_not_allowed"
  | "host_not_allowed";

export interface Refused {
  readonly allowed: false;
  readonly code: RefusalCode;
  /** For the merchant: what to change. It never tells what a name resolved to. */
  readonly message: string;
}

/** A URL whose form is in order; its addresses are not vetted yet. */
export interface Target {
  readonly url: URL;
  /** The host without an IPv6 address's brackets. */
  readonly host: string;
  /** The host is an address, not a name. */
  readonly literal: boolean;
  /** https. */
  readonly secure: boolean;
  readonly port: number;
}

const urlLengthMax = 2_048;
const hostLengthMax = 253;
const labelPattern = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

export function refuse(code: RefusalCode, message: string): Refused {
  return { allowed: false, code, message };
}

export function isRefused(result: object): result is Refused {
  return "allowed" in result && result.allowed === false;
}

/**
 * Checks the form of a receiver's URL. The parser folds every spelling of an IPv4 address (decimal, hexadecimal, octal,
 * short, percent-encoded, other scripts' digits) into dotted decimal, so its host is what the guard looks at, never the
 * text.
 */
export function parseTarget(text: string): Target | Refused {
  const malformed = refuse(
    "url_malformed",
    "Give a whole URL such as https://example.com/webhooks.",
  );
  if (text.length > urlLengthMax) {
    return refuse("url_malformed", `Give a URL of at most ${String(urlLengthMax)} characters.`);
  }
  // The parser drops tabs and line ends and takes a backslash for a slash: what it would read is not what was written.
  if (/[\s\\\p{Cc}]/u.test(text)) return malformed;
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return malformed;
  if (scheme !== "https" && scheme !== "http") {
    return refuse("url_scheme_not_allowed", "Use a URL that begins with https://.");
  }
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined || parseUrl(text) === null) return malformed;
  if (authority.includes("@")) {
    return refuse(
      "url_credentials_not_allowed",
      "Remove the user name and password: deliveries are signed instead.",
    );
  }
  if (text.includes("#"))
    return refuse("url_fragment_not_allowed", "Remove the part from # on: it is never sent.");
  const url = new URL(text);
  // One trailing dot only says that a name is complete.
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const literal = isIP(host) !== 0;
  const secure = url.protocol === "https:";
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  if ((!literal && !isName(host)) || port === 0) return malformed;
  return { url, host, literal, secure, port };
}

function isName(host: string): boolean {
  return host.length <= hostLengthMax && host.split(".").every((label) => labelPattern.test(label));
}
