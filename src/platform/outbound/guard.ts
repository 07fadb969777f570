import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { within } from "../../kernel/clock.ts";
import { parseUrl } from "../../kernel/url.ts";
import { judgeAddress, parseRange, sameAddress, type PinnedAddress } from "./address.ts";

interface GuardParts {
  /**
   * Address ranges that the operator, never a tenant, allows (`10.0.0.0/8`): private receivers and plain http are
   * possible only in them.
   */
  readonly allowCidrs: readonly string[];
  readonly resolve: Resolve;
  /**
   * URLs of the operator's own services (this server, the chain nodes), which are never receivers even in an allowed
   * range. Read at each check, because a server learns its port only after it has started.
   */
  readonly ownServices?: () => readonly string[];
  /** The time limit of a name resolution, in milliseconds. */
  readonly dnsMs?: number;
}

interface AllowedUrl {
  readonly allowed: true;
  /** The normalized URL, to be stored. */
  readonly url: string;
  /** The current addresses of the host; each connection vets them again. */
  readonly addresses: readonly PinnedAddress[];
}

interface AllowedAddresses {
  readonly allowed: true;
  /** At least one address. */
  readonly addresses: readonly [PinnedAddress, ...PinnedAddress[]];
}

interface RefusedAddresses extends Refused {
  /** For the sender: an unresolved name may be retried, a blocked one may not. */
  readonly reason: "unresolved" | "blocked";
}

export interface Guard {
  /**
   * Vets a URL when an endpoint is created or updated: its form, and all current addresses of its host. Never throws.
   */
  vetUrl(text: string): Promise<AllowedUrl | Refused>;
  /** Resolves the host once before connecting and vets all of its addresses. Connect to the returned addresses only. */
  vetAddresses(target: Target): Promise<AllowedAddresses | RefusedAddresses>;
}

const dnsMsDefault = 3_000;

const httpNotAllowed = refuse(
  "http_not_allowed",
  "Use https. Plain http works only for receivers inside the address ranges that this server's operator allows (TILL_WEBHOOK_ALLOW_CIDRS).",
);

const addressNotAllowed = refuse(
  "host_not_allowed",
  "This address is not on the public internet. Use a public one, or ask this server's operator to allow it (TILL_WEBHOOK_ALLOW_CIDRS).",
);

/**
 * The same text for a name that does not exist and for a private one, so that it cannot be used to map the internal
 * network.
 */
const nameNotAllowed = refuse(
  "host_not_allowed",
  "The host name has no address on the public internet. Check its spelling and its DNS records; " +
    "a private receiver works only after this server's operator has allowed it (TILL_WEBHOOK_ALLOW_CIDRS).",
);

/**
 * Creates the guard, which decides where requests on behalf of merchants may go, so that no merchant reaches services
 * that only this machine can reach (SSRF). A host is refused if any of its addresses is.
 * @throws Error if an allowed range is malformed
 */
export function createGuard({
  allowCidrs,
  resolve,
  ownServices,
  dnsMs = dnsMsDefault,
}: GuardParts): Guard {
  const allowed = allowCidrs.map(parseRange);
  const own = createOwnServices(ownServices ?? (() => []), resolve);

  async function addressesOf(target: Target): Promise<readonly string[]> {
    if (target.literal) return [target.host];
    try {
      return await within(dnsMs, resolve(target.host), () => []);
    } catch {
      return [];
    }
  }

  const guard: Guard = {
    async vetUrl(text) {
      const target = parseTarget(text);
      if (isRefused(target)) return target;
      const vetted = await guard.vetAddresses(target);
      if (!vetted.allowed) return { allowed: false, code: vetted.code, message: vetted.message };
      return { allowed: true, url: target.url.href, addresses: vetted.addresses };
    },

    async vetAddresses(target) {
      const refusal = refusalOf(target);
      const blocked: RefusedAddresses = { ...refusal, reason: "blocked" };
      if (!target.secure && allowed.length === 0) return blocked;
      const addresses = await addressesOf(target);
      const pins: PinnedAddress[] = [];
      for (const address of addresses) {
        const { verdict, pinned } = judgeAddress(address, allowed);
        if (verdict === "blocked" || (verdict === "public" && !target.secure)) return blocked;
        const isOwn = verdict === "listed" && (await own.include(pinned.address, target.port));
        if (isOwn) return blocked;
        pins.push(pinned);
      }
      const [first, ...others] = pins;
      if (first === undefined) return { ...refusal, reason: "unresolved" };
      return { allowed: true, addresses: [first, ...others] };
    },
  };
  return guard;
}

/** Returns the merchant's message, which does not depend on the reason. */
function refusalOf(target: Target): Refused {
  if (!target.secure) return httpNotAllowed;
  return target.literal ? addressNotAllowed : nameNotAllowed;
}

interface OwnServices {
  /** True if one of the services listens on this address and port. */
  include(address: string, port: number): Promise<boolean>;
}

const loopback = ["127.0.0.0/8", "::1/128"].map(parseRange);
const everyInterface = ["0.0.0.0", "::"];

/**
 * Recognizes the operator's own services by their URLs. Only addresses in allowed private ranges are checked, where
 * such services may be next to a merchant's receivers.
 */
function createOwnServices(urls: () => readonly string[], resolve: Resolve): OwnServices {
  async function isService(service: URL, address: string): Promise<boolean> {
    const host = service.hostname.replace(/^\[(.*)\]$/, "$1");
    if (everyInterface.includes(host)) return isThisMachine(address);
    if (sameAddress(host, address)) return true;
    const isLocal = host === "localhost" || isLoopback(host);
    if (isLocal) return isLoopback(address);
    // If the name of a service does not resolve, the service cannot be reached either.
    const resolved = await resolve(host).catch(() => []);
    return resolved.some((candidate) => sameAddress(candidate, address));
  }

  return {
    async include(address, port) {
      for (const service of urls()
        .map((text) => parseUrl(text))
        .filter((url) => url !== null)) {
        if (portOf(service) === port && (await isService(service, address))) return true;
      }
      return false;
    },
  };
}

const defaultPorts: Readonly<Record<string, number>> = { "https:": 443, "postgres:": 5_432 };

function portOf({ port, protocol }: URL): number {
  return port === "" ? (defaultPorts[protocol] ?? 80) : Number(port);
}

function isLoopback(address: string): boolean {
  return judgeAddress(address, loopback).verdict === "listed";
}

function isThisMachine(address: string): boolean {
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return (
    isLoopback(address) || interfaces.some((candidate) => sameAddress(candidate.address, address))
  );
}

/** Returns all IPv4 and IPv6 addresses of a host name as text. Rejects, or returns an empty list, if it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

interface ResolveParts {
  /** Name servers (`127.0.0.1:5353`) that replace the system's. */
  readonly servers?: readonly string[];
  /** The timeout of the first query to a server, in milliseconds; the query is sent twice. */
  readonly timeoutMs?: number;
}

/**
 * The maximum number of concurrent lookups by the operating system; each occupies one of libuv's few worker threads.
 */
const systemLookupsMax = 2;
const queryTimeoutMs = 1_000;
const queryTries = 2;

/**
 * Creates a resolver that queries the name servers directly, both address families at once. It occupies no worker
 * thread, so a slow name server delays nothing else. Names that they do not know (in the hosts file, of containers,
 * short names) are looked up by the operating system, at most two at a time.
 */
export function createResolve({ servers, timeoutMs = queryTimeoutMs }: ResolveParts = {}): Resolve {
  const line = createLine(systemLookupsMax);
  return async (host) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: queryTries });
    if (servers !== undefined) resolver.setServers(servers);
    const replies = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const addresses = replies.flatMap((reply) => (reply.status === "fulfilled" ? reply.value : []));
    if (addresses.length > 0) return addresses;
    const silent = replies.some(
      (reply) => reply.status === "rejected" && errorCode(reply.reason) === "ETIMEOUT",
    );
    if (silent) throw new Error("The name servers did not answer in time.");
    return line(async () => (await lookup(host, { all: true })).map(({ address }) => address));
  };
}

function errorCode(reason: unknown): unknown {
  return reason instanceof Error && "code" in reason ? reason.code : undefined;
}

/** Runs at most `activeMax` tasks at once; the others wait in order of arrival. */
function createLine(activeMax: number): <T>(work: () => Promise<T>) => Promise<T> {
  let active = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (active >= activeMax) await new Promise<void>((go) => waiting.push(go));
    else active += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) active -= 1;
      else next();
    }
  };
}

/** The reason for which a URL was refused. */
type RefusalCode =
  | "url_malformed"
  | "url_scheme_not_allowed"
  | "url_credentials_not_allowed"
  | "url_fragment_not_allowed"
  | "http_not_allowed"
  | "host_not_allowed";

interface Refused {
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

function refuse(code: RefusalCode, message: string): Refused {
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
