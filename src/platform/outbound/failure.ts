/** Why a request got no answer. */
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

/** How far a request had come. */
export type Phase = "dns" | "connect" | "tls" | "exchange";

export interface Failure {
  readonly kind: FailureKind;
  /** For the merchant. It is one of our own sentences: Node's texts name addresses. */
  readonly message: string;
}

const connectMessages: Readonly<Record<string, string>> = {
  ECONNREFUSED: "The receiver refused the connection: nothing listens on this port.",
  EHOSTUNREACH: "No route leads to the receiver.",
  ENETUNREACH: "No route leads to the receiver.",
  ETIMEDOUT: "The receiver did not accept a connection.",
};

const untrusted =
  "The receiver's certificate is not signed by an authority that this server trusts";

const tlsMessages: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "The receiver's certificate has expired.",
  CERT_NOT_YET_VALID: "The receiver's certificate is not valid yet.",
  ERR_TLS_CERT_ALTNAME_INVALID: "The receiver's certificate is for another host name.",
  DEPTH_ZERO_SELF_SIGNED_CERT: `${untrusted}: it signed itself.`,
  SELF_SIGNED_CERT_IN_CHAIN: `${untrusted}.`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `${untrusted}: its intermediate certificate may be missing.`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `${untrusted}: its intermediate certificate may be missing.`,
};

/** Sorts a socket's or the parser's error by what had been reached when it came. */
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
          message: "The receiver's answer has headers that are too long.",
        };
      }
      if (code.startsWith("HPE_")) {
        return { kind: "protocol", message: "The receiver's answer is not HTTP." };
      }
      return {
        kind: "reset",
        message: "The receiver closed the connection before its answer was complete.",
      };
  }
}
