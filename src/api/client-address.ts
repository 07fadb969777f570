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
    const before = plainAddress(hops.pop()?.trim() ?? "");
    if (before === null) break;
    address = before;
  }
  return address;
}

/** Maximum number of proxies evaluated in X-Forwarded-For. */
const hopsMax = 16;

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
  if (isIPv4(address)) return address;
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parts = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${parts.map((part) => part.toString(16)).join(":")}::/64`;
}
