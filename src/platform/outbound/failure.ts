/** The reasons why a request got no response. */
export const failureKinds = [
  "dns",
  "connect",
  "tls",
  "timeout",
  "blocked",
  "invalid_url",
  "reset",
  "protocol",
] as const;
export type FailureKind = (typeof failureKinds)[number];

/** The phase that a request had reached. */
export type Phase = "dns" | "connect" | "tls" | "exchange";

export interface Failure {
  readonly kind: FailureKind;
  /** Shown to the merchant. Always one of the texts below, because Node's messages contain addresses. */
  readonly message: string;
}

const connectMessages: Readonly<Record<string, string>> = {
  ECONNREFUSED: "The receiver refused the connection: nothing listens on this port.",
  EHOSTUNREACH: "There is no network route to the receiver.",
  ENETUNREACH: "There is no network route to the receiver.",
  ETIMEDOUT: "The receiver did not accept a connection.",
};

const untrusted =
  "The receiver's certificate is not signed by an authority that this server trusts";

const tlsMessages: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "The receiver's certificate has expired.",
  CERT_NOT_YET_VALID: "The receiver's certificate is not valid yet.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The receiver's certificate is for another host name.",
  DEPTH_ZERO_SELF_SIGNED_CERT: `${untrusted}: it is self-signed.`,
  SELF_SIGNED_CERT_IN_CHAIN: `${untrusted}.`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `${untrusted}: its intermediate certificate may be missing.`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `${untrusted}: its intermediate certificate may be missing.`,
};

const oddities: Readonly<Record<string, string>> = {
  HPE_CR_EXPECTED: "A line of its head does not end with CR and LF.",
  HPE_LF_EXPECTED: "A line of its head does not end with CR and LF.",
  HPE_STRICT: "A line of its head does not end with CR and LF.",
  HPE_UNEXPECTED_CONTENT_LENGTH: "It has two Content-Length headers.",
  HPE_INVALID_TRANSFER_ENCODING: "It has both Content-Length and Transfer-Encoding.",
  HPE_INVALID_CONTENT_LENGTH: "Its Content-Length is not valid.",
  HPE_INVALID_CHUNK_SIZE: "Its body is not in valid chunks.",
  HPE_HEADER_OVERFLOW: "Its headers are too long.",
};

/** Returns what the HTTP parser refused about a response; null if the error is not the parser's. */
export function oddityOf(error: Error): string | null {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (!code.startsWith("HPE_")) return null;
  return oddities[code] ?? "It is not valid HTTP.";
}

/** Classifies an error of the socket or the HTTP parser by the phase in which it occurred. */
export function describeFailure(phase: Phase, error: Error): Failure {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  switch (phase) {
    case "dns":
      return { kind: "dns", message: "The host name could not be resolved." };
    case "connect":
      return { kind: "connect", message: connectMessages[code] ?? "The connection failed." };
    case "tls":
      return { kind: "tls", message: tlsMessages[code] ?? "The TLS handshake failed." };
    case "exchange":
      if (code === "HPE_HEADER_OVERFLOW") {
        return {
          kind: "protocol",
          message: "The receiver's response headers are too long.",
        };
      }
      if (code.startsWith("HPE_")) {
        return { kind: "protocol", message: "The receiver's response is not valid HTTP." };
      }
      return {
        kind: "reset",
        message: "The receiver closed the connection before its response was complete.",
      };
  }
}
