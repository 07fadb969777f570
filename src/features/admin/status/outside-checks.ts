import { perApp } from "../../../app.ts";
import {
  day,
  hour,
  minute,
  second,
  toIso,
  type Clock,
  type Instant,
} from "../../../kernel/clock.ts";
import type { Network, NetworkKind } from "../../../platform/chain/networks.ts";
import { networkStates, type NetworkState } from "../../../platform/chain/state/network-state.ts";
import type { Reader } from "../../../platform/database/database.ts";
import {
  readCertificate,
  type PresentedCertificate,
} from "../../../platform/outbound/certificate.ts";
import type { Check } from "./health.ts";

/** Renewal is usual 30 days before the end. */
const renewalLate = 14 * day;
/** Time limit of a connection, in milliseconds. */
const connectMs = 3 * second;
const readAgainAfter = { found: 1 * hour, notFound: 5 * minute };
/** The most by which an honest block is ahead of a right clock. */
const aheadMax = 30 * second;

/** Returns the check of the certificate at a URL, read at most once in some minutes; null unless it is https. */
export function makeCertificateCheck(
  baseUrl: string | null,
  clock: Clock,
  read = readCertificate,
): () => Promise<Check | null> {
  if (baseUrl === null || !baseUrl.startsWith("https:")) return () => Promise.resolve(null);
  const { host } = new URL(baseUrl);
  let known: { readonly check: Check; readonly until: Instant } | null = null;
  return async () => {
    const now = clock.now();
    if (known !== null && now < known.until) return known.check;
    const found = await read(baseUrl, connectMs);
    known = {
      check: certificateCheck(host, found, now),
      until: now + (found === null ? readAgainAfter.notFound : readAgainAfter.found),
    };
    return known.check;
  };
}

/** Returns the check of the certificate of the public URL. */
export const certificateCheckOf = perApp(({ config, clock }) =>
  makeCertificateCheck(config.baseUrl, clock),
);

/** Checks that a certificate is trusted and does not end soon. A server that cannot be reached from here is not bad. */
export function certificateCheck(
  host: string,
  certificate: PresentedCertificate | null,
  now: Instant,
): Check {
  if (certificate === null) {
    return { status: "ok", message: `Not checked: ${host} cannot be reached from this server.` };
  }
  const { validFrom, validTo, distrust } = certificate;
  if (validTo <= now) {
    return { status: "down", message: `The certificate of ${host} ended at ${toIso(validTo)}.` };
  }
  if (validFrom > now) {
    return {
      status: "down",
      message: `The certificate of ${host} is valid from ${toIso(validFrom)}. Check this server's clock.`,
    };
  }
  const days = `${String(Math.floor((validTo - now) / day))} days`;
  if (distrust !== null) {
    return {
      status: "degraded",
      message: `Browsers do not trust the certificate of ${host}: ${distrust}.`,
    };
  }
  return {
    status: validTo - now < renewalLate ? "degraded" : "ok",
    message: `The certificate of ${host} is valid for ${days}.`,
  };
}

/** Compares the clock with the newest blocks in the store; null if no real network was read. */
export async function clockCheck(
  reader: Reader,
  networks: readonly Network[],
): Promise<Check | null> {
  return clockCheckOf(await networkStates(reader), networks);
}

/** A block is never from the future, so one that was ahead of the clock shows that the clock is behind. */
export function clockCheckOf(
  states: ReadonlyMap<string, Pick<NetworkState, "tipTime" | "scannedAt">>,
  networks: readonly (Pick<Network, "id" | "title"> & {
    readonly kind: Pick<NetworkKind, "isSimulated">;
  })[],
): Check | null {
  const seen = networks.flatMap(({ id, title, kind }) => {
    const state = kind.isSimulated ? undefined : states.get(id);
    return state === undefined ? [] : [{ title, ahead: state.tipTime - state.scannedAt }];
  });
  const [most] = seen.toSorted((one, other) => other.ahead - one.ahead);
  if (most === undefined) return null;
  if (most.ahead > aheadMax) {
    return {
      status: "degraded",
      message: `The clock is at least ${String(Math.floor(most.ahead / second))} s behind ${most.title}. Check the time service.`,
    };
  }
  return { status: "ok", message: `The clock agrees with the newest block of ${most.title}.` };
}
