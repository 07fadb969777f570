import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { once } from "../../kernel/memo.ts";

type Parsed = ipaddr.IPv4 | ipaddr.IPv6;

/** An address range, created by `parseRange`. */
export interface AddressRange {
  readonly start: Parsed;
  /** The number of leading bits that an address shares with `start`. */
  readonly bits: number;
}

/** An address in the normalized spelling that is both judged and connected to. */
export interface PinnedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** `public`: on the public internet. `listed`: in the operator's allow-list. `blocked`: everything else. */
type AddressVerdict = "public" | "listed" | "blocked";

interface JudgedAddress {
  readonly verdict: AddressVerdict;
  readonly pinned: PinnedAddress;
}

/** The ranges, parsed when the first address is judged: settings are read without them, which a command saves. */
const ranges = once(() => ({
  /** IPv4 ranges that no merchant's receiver on the public internet uses. */
  blockedIPv4: [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    // Link-local: the metadata services of most clouds.
    "169.254.0.0/16",
    // Azure's metadata service: it looks public but is reachable only from inside.
    "168.63.129.16/32",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
  ].map(parseRange),
  /** The only IPv6 range that is routed on the public internet; loopback, local, multicast and NAT64 are outside. */
  globalIPv6: parseRange("2000::/3"),
  /** The exceptions inside it: protocol assignments with Teredo, documentation, 6to4. */
  blockedIPv6: ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"].map(parseRange),
  /** IPv6 ranges that a gateway translates to the embedded IPv4 address, with the byte offset of that address. */
  carriers: [
    { range: parseRange("64:ff9b::/96"), offset: 12 },
    { range: parseRange("64:ff9b:1::/48"), offset: 12 },
    { range: parseRange("2002::/16"), offset: 2 },
    { range: parseRange("::ffff:0:0:0/96"), offset: 12 },
  ],
}));

/**
 * Parses `10.0.0.0/8`, `fd00::/8`, or a single address.
 * @throws Error if the text is not a range
 */
export function parseRange(text: string): AddressRange {
  const [address = "", prefix, ...rest] = text.trim().split("/");
  const family = isIP(address);
  const bitsMax = family === 4 ? 32 : 128;
  const bits = prefix === undefined ? bitsMax : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
  if (family === 0 || address.includes("%") || rest.length > 0 || bits < 0 || bits > bitsMax) {
    throw new Error(
      `"${text}" is not an address range. Write it like 10.0.0.0/8, fd00::/8 or 192.168.1.20.`,
    );
  }
  return { start: ipaddr.parse(address), bits };
}

/**
 * Judges an address from a resolver. An IPv4-mapped IPv6 address is judged, and pinned, as the IPv4 address that the
 * operating system would connect to. If a gateway would translate an address, both must be allowed.
 */
export function judgeAddress(text: string, allowed: readonly AddressRange[]): JudgedAddress {
  // A zone identifies an interface of this machine; such an address never belongs to a receiver.
  if (isIP(text) === 0 || text.includes("%")) {
    return { verdict: "blocked", pinned: { address: "0.0.0.0", family: 4 } };
  }
  const parsed = unwrapMapped(ipaddr.parse(text));
  return {
    verdict: judge(parsed, allowed),
    pinned: { address: parsed.toString(), family: parsed.kind() === "ipv4" ? 4 : 6 },
  };
}

/** True if two spellings denote the same address. */
export function sameAddress(a: string, b: string): boolean {
  return canonical(a) === canonical(b);
}

function canonical(text: string): string {
  return isIP(text) === 0 ? text : unwrapMapped(ipaddr.parse(text)).toString();
}

function judge(address: Parsed, allowed: readonly AddressRange[]): AddressVerdict {
  const own = judgeAlone(address, allowed);
  if (address.kind() === "ipv4") return own;
  for (const { range, offset } of ranges().carriers) {
    if (!contains(range, address)) continue;
    const carried = ipaddr.fromByteArray(address.toByteArray().slice(offset, offset + 4));
    if (judgeAlone(carried, allowed) === "blocked") return "blocked";
  }
  return own;
}

function judgeAlone(address: Parsed, allowed: readonly AddressRange[]): AddressVerdict {
  if (allowed.some((range) => contains(range, address))) return "listed";
  return isPublic(address) ? "public" : "blocked";
}

function isPublic(address: Parsed): boolean {
  const { blockedIPv4, globalIPv6, blockedIPv6 } = ranges();
  if (address.kind() === "ipv4") return !blockedIPv4.some((range) => contains(range, address));
  return contains(globalIPv6, address) && !blockedIPv6.some((range) => contains(range, address));
}

function contains(range: AddressRange, address: Parsed): boolean {
  return range.start.kind() === address.kind() && address.match(range.start, range.bits);
}

function unwrapMapped(address: Parsed): Parsed {
  if (!(address instanceof ipaddr.IPv6) || !address.isIPv4MappedAddress()) return address;
  return address.toIPv4Address();
}
