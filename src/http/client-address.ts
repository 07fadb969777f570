import { isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";
import type { AddressRange } from "../platform/outbound/address.ts";

/**
 * Returns the client's address: the socket's address or, if that belongs to a trusted proxy, the last address in
 * X-Forwarded-For that does not. Entries that a client writes into the header itself are further left and never used.
 */
export function clientAddress(
  socketAddress: string,
  forwardedFor: string,
  trustedProxies: readonly AddressRange[],
): string {
  let address = plainAddress(socketAddress) ?? socketAddress;
  if (trustedProxies.length === 0) return address;
  const hops = forwardedFor.split(",").slice(-hopsMax);
  while (isTrusted(address, trustedProxies)) {
    const before = plainAddress(hopAddress(hops.pop() ?? ""));
    if (before === null) break;
    address = before;
  }
  return address;
}

/** Maximum number of proxies evaluated in X-Forwarded-For. */
const hopsMax = 16;

/** An address with what some proxies add: quotes, brackets around IPv6, an interface and a port. */
const hopForm =
  /^"?(?:\[([^\]%]+)(?:%[^\]]*)?\](?::\d{1,5})?|([\d.]+):\d{1,5}|([^"%]*)(?:%[^"]*)?)"?$/;

/** Returns the bare address of an entry of X-Forwarded-For: otherwise all clients would share that of the proxy. */
function hopAddress(entry: string): string {
  const [, bracketed, withPort, plain = ""] = hopForm.exec(entry.trim()) ?? [];
  return bracketed ?? withPort ?? plain;
}

/** Whether the address belongs to this machine. */
export function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
}

function plainAddress(text: string): string | null {
  // The usual case, without a parser.
  if (isIPv4(text)) return text;
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : null;
}

function isTrusted(address: string, trustedProxies: readonly AddressRange[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return trustedProxies.some(
    ({ start, bits }) => start.kind() === parsed.kind() && parsed.match([start, bits] as never),
  );
}

/**
 * Returns the key by which rate limits count an address: an IPv4 address as it is, an IPv6 address by its /64, the
 * range that a provider typically assigns to one customer.
 */
export function addressGroup(address: string): string {
  return addressGroups(address)[0];
}

/**
 * Returns the ranges that an address belongs to, the smallest first, as keys. One client may have
 * all addresses of a larger one: an IPv6 address is in its /64, /56 and /48, which providers assign to homes and firms, and an IPv4 address in
 * its /24. Any other text is its own range.
 */
export function addressGroups(address: string): readonly [string, ...string[]] {
  if (isIPv4(address)) return [address, `${address.slice(0, address.lastIndexOf("."))}.0/24`];
  if (!ipaddr.IPv6.isValid(address)) return [address];
  const [first = 0, second = 0, third = 0, fourth = 0] = ipaddr.IPv6.parse(address).parts;
  const start = [first, second, third].map((part) => part.toString(16)).join(":");
  const home = (fourth & 0xff00).toString(16);
  return [`${start}:${fourth.toString(16)}::/64`, `${start}:${home}::/56`, `${start}::/48`];
}
