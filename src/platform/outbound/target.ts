import { isIP } from "node:net";
import { parseUrl } from "../../kernel/url.ts";

/** The reason for which a URL was refused. */
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
  /** Tells the merchant what to change. It never reveals the addresses of a name. */
  readonly message: string;
}

/** A URL in valid form; its addresses are not vetted yet. */
export interface Target {
  readonly url: URL;
  /** The host, without the brackets of an IPv6 address. */
  readonly host: string;
  /** True if the host is an IP address. */
  readonly literal: boolean;
  /** True for https. */
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
 * Checks the form of a receiver's URL. The parser normalizes every spelling of an IPv4 address (decimal, hexadecimal,
 * octal, short, percent-encoded, digits of other scripts) to dotted decimal, so the guard judges the parsed host, never
 * the text.
 */
export function parseTarget(text: string): Target | Refused {
  const malformed = refuse(
    "url_malformed",
    "Enter a complete URL such as https://example.com/webhooks.",
  );
  if (text.length > urlLengthMax) {
    return refuse("url_malformed", `Enter a URL of at most ${String(urlLengthMax)} characters.`);
  }
  // The parser drops tabs and line breaks and reads a backslash as a slash, so the result would differ from the text.
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
    return refuse(
      "url_fragment_not_allowed",
      "Remove the fragment (# and everything after it): it is never sent.",
    );
  const url = new URL(text);
  // A single trailing dot only marks a fully qualified name.
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
