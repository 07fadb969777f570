import { judgeAddress, parseRange, type PinnedAddress } from "./address.ts";
import { createOwnServices } from "./own-services.ts";
import type { Resolve } from "./resolve.ts";
import { isRefused, parseTarget, refuse, type Refused, type Target } from "./target.ts";

export interface GuardParts {
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

export interface AllowedUrl {
  readonly allowed: true;
  /** The normalized URL, to be stored. */
  readonly url: string;
  /** The current addresses of the host; each connection vets them again. */
  readonly addresses: readonly PinnedAddress[];
}

export interface AllowedAddresses {
  readonly allowed: true;
  /** At least one address. */
  readonly addresses: readonly [PinnedAddress, ...PinnedAddress[]];
}

export interface RefusedAddresses extends Refused {
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

/** Returns the merchant's message, which does not depend on the reason. */
function refusalOf(target: Target): Refused {
  if (!target.secure) return httpNotAllowed;
  return target.literal ? addressNotAllowed : nameNotAllowed;
}

/** Stops waiting after a time; the work itself may continue. */
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
