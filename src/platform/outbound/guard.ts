import { judgeAddress, parseRange, type PinnedAddress } from "./address.ts";
import { createOwnServices } from "./own-services.ts";
import type { Resolve } from "./resolve.ts";
import { isRefused, parseTarget, refuse, type Refused, type Target } from "./target.ts";

export interface GuardParts {
  /** The operator's ranges (`10.0.0.0/8`), never a tenant's: private receivers, and plain http, only inside them. */
  readonly allowCidrs: readonly string[];
  readonly resolve: Resolve;
  /**
   * URLs of the operator's own services, this server and the chain nodes: never a receiver, though an allowed range
   * holds them. Asked at each check, since a server learns its port late.
   */
  readonly ownServices?: () => readonly string[];
  /** How long one resolution may take. */
  readonly dnsMs?: number;
}

export interface AllowedUrl {
  readonly allowed: true;
  /** The URL in its normal spelling: store this one. */
  readonly url: string;
  /** What it resolved to now; a connection is vetted again. */
  readonly addresses: readonly PinnedAddress[];
}

export interface AllowedAddresses {
  readonly allowed: true;
  /** At least one. */
  readonly addresses: readonly [PinnedAddress, ...PinnedAddress[]];
}

export interface RefusedAddresses extends Refused {
  /** For the sender: a name that cannot be resolved may be tried again, a blocked one may not. */
  readonly reason: "unresolved" | "blocked";
}

export interface Guard {
  /** For creating and updating: the form of the URL and every address that its host has now. Never throws. */
  vetUrl(text: string): Promise<AllowedUrl | Refused>;
  /** For connecting: resolves once and vets every address; connect to those given, and to nothing else. */
  vetAddresses(target: Target): Promise<AllowedAddresses | RefusedAddresses>;
}

const dnsMsDefault = 3_000;

const httpNotAllowed = refuse(
  "http_not_allowed",
  "Use https. Plain http works only for receivers inside the address ranges that this server's operator allows.",
);

const addressNotAllowed = refuse(
  "host_not_allowed",
  "This address is not on the public internet. Use a public one, or ask this server's operator to allow it.",
);

/** One text for a name that does not exist and for one that is private, so that nobody maps the inside with it. */
const nameNotAllowed = refuse(
  "host_not_allowed",
  "The host name has no address on the public internet. Check its spelling and its DNS records; " +
    "a private receiver works only after this server's operator has allowed it.",
);

/**
 * Decides where Till may send requests that merchants asked for, so that no merchant reaches what only this machine can
 * reach. A host is refused when any one of its addresses is.
 * @throws Error when an allowed range is malformed.
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
      return await within(dnsMs, resolve(target.host));
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

/** What a merchant is told, whatever the reason. */
function refusalOf(target: Target): Refused {
  if (!target.secure) return httpNotAllowed;
  return target.literal ? addressNotAllowed : nameNotAllowed;
}

/** Gives up waiting after a time; what was asked may still run to its own end. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`No answer within ${String(ms)} ms.`));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
