import { once } from "node:events";
import { isIP } from "node:net";
import { connect, type PeerCertificate, type TLSSocket } from "node:tls";
import { within, type Instant } from "../../kernel/clock.ts";

/** The certificate that a server presents. */
export interface PresentedCertificate {
  readonly validFrom: Instant;
  readonly validTo: Instant;
  /** Why clients do not trust it, as a code of Node such as `DEPTH_ZERO_SELF_SIGNED_CERT`; null if they do. */
  readonly distrust: string | null;
}

const httpsPort = 443;

/**
 * Reads the TLS certificate of an https URL, without sending a request. Null if the server cannot be reached within the
 * time limit.
 * @param limitMs milliseconds
 */
export async function readCertificate(
  url: string,
  limitMs: number,
): Promise<PresentedCertificate | null> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = connect({
    host,
    port: port === "" ? httpsPort : Number(port),
    // A name is sent only if it is one.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    // The certificate is read, not relied on: nothing is sent.
    rejectUnauthorized: false,
  });
  socket.unref();
  const presented = once(socket, "secureConnect").then(
    () => certificateOf(socket),
    () => null,
  );
  try {
    return await within(limitMs, presented, () => null);
  } finally {
    socket.destroy();
  }
}

function certificateOf(socket: TLSSocket): PresentedCertificate | null {
  // The type leaves out that there may be none.
  const { valid_from: from, valid_to: to } =
    socket.getPeerCertificate() as Partial<PeerCertificate>;
  if (from === undefined || to === undefined) return null;
  const distrust = socket.authorized ? null : String(socket.authorizationError);
  return { validFrom: Date.parse(from), validTo: Date.parse(to), distrust };
}
