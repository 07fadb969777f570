import ipaddr from "ipaddr.js";
import type { AddressRange } from "../platform/outbound/address.ts";

/**
 * The address of the client: the socket's, or, where that is a trusted proxy's, the last address of X-Forwarded-For
 * that is not. What a client writes into the header itself stands further left and is never believed.
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

/** How many proxies a request may have come through. */
const hopsMax = 16;

/** Whether a request comes from this machine itself. */
export function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
}

function plainAddress(text: string): string | null {
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
 * What limits count an address by: an IPv4 address by itself, an IPv6 address by its /64, which is what one customer of
 * a provider is given to choose from.
 */
export function addressGroup(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parts = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${parts.map((part) => part.toString(16)).join(":")}::/64`;
}
