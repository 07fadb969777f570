import { compactVerify, CompactSign, createLocalJWKSet, errors, type JSONWebKeySet } from "jose";
import type { z } from "zod";
import { defineProblem } from "../../kernel/errors.ts";
import {
  signingAlgorithm,
  type PublicSigningKey,
  type SigningKey,
} from "../../platform/secrets/signing-keys.ts";
import { PaymentRequestClaimsRecord, ReceiptClaimsRecord } from "./records.ts";

const SignatureRefused = defineProblem({
  code: "signature_refused",
  status: 422,
  title: "The document cannot be verified",
});

/** The kinds of signed documents, with the `typ` of their headers (RFC 8725, section 3.11) and their claims. */
const kinds = {
  receipt: { type: "till-receipt+jwt", claims: ReceiptClaimsRecord },
  payment_request: { type: "till-payment-request+jwt", claims: PaymentRequestClaimsRecord },
} as const;

export type SignedKind = keyof typeof kinds;
export type ClaimsOf<Kind extends SignedKind> = z.output<(typeof kinds)[Kind]["claims"]>;

/** A signed document whose signature is valid. */
export type Verified = {
  readonly [Kind in SignedKind]: {
    readonly kind: Kind;
    readonly keyId: string;
    readonly claims: ClaimsOf<Kind>;
  };
}[SignedKind];

/** The public keys of an instance as JSON Web Key Set (RFC 7517), the current one first. */
export interface KeySet {
  readonly keys: readonly PublicSigningKey[];
}

/** Maximum length of a signed document, in characters: that of a receipt with a thousand transactions. */
export const signedTextMax = 120_000;

/** Signs claims and returns the compact JWS (RFC 7515). */
export function signClaims<Kind extends SignedKind>(
  key: SigningKey,
  kind: Kind,
  claims: ClaimsOf<Kind>,
): Promise<string> {
  return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: signingAlgorithm, typ: kinds[kind].type, kid: key.publicKey.kid })
    .sign(key.privateKey);
}

/** The reasons for which a text is refused. */
type SignatureFault = "not_signed" | "unknown_key" | "changed";

const faults: Readonly<Record<SignatureFault, string>> = {
  not_signed:
    "This is not a signed document. Pass the whole text that begins with ey and has two dots.",
  unknown_key:
    "None of these keys signed it: it comes from another instance, was forged, or has a newer key. If the instance may have replaced its key, fetch the keys again.",
  changed: "The signature does not match the content: the document was changed, or is incomplete.",
};

/** Returns a signed document's kind and claims. Throws SignatureRefused, with the reason, unless a key of the set signed it. */
export async function verifySigned(text: string, keySet: KeySet): Promise<Verified> {
  const found = await checkSigned(text, keySet);
  if (typeof found === "string") throw new SignatureRefused(faults[found]);
  return found;
}

/** Returns a signed document's kind and claims, or the reason for which it is refused. */
export async function checkSigned(
  text: string,
  keySet: KeySet,
): Promise<Verified | SignatureFault> {
  const jws = text.trim();
  if (jws.length > signedTextMax || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(jws)) return "not_signed";
  const signed = await opened(jws, keySet);
  if (typeof signed === "string") return signed;
  const { header, payload } = signed;
  const found = Object.entries(kinds).find(([, { type }]) => type === header.typ);
  const claims = found?.[1].claims.safeParse(parsed(payload));
  if (found === undefined || claims?.success !== true) return "not_signed";
  return { kind: found[0], keyId: header.kid ?? "", claims: claims.data } as Verified;
}

/**
 * The one way to write the 64 bytes of an Ed25519 signature: the last letter has four bits that are not part of them, and
 * jose ignores these bits, so that 15 other letters would pass.
 */
const signaturePattern = /\.[\w-]{85}[AQgw]$/;

async function opened(jws: string, keySet: KeySet) {
  if (!signaturePattern.test(jws)) return "changed";
  try {
    const resolve = createLocalJWKSet(keySet as JSONWebKeySet);
    const { payload, protectedHeader } = await compactVerify(jws, resolve, {
      algorithms: [signingAlgorithm],
    });
    return { header: protectedHeader, payload: new TextDecoder().decode(payload) };
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return "unknown_key";
    if (error instanceof errors.JOSEError) return "changed";
    throw error;
  }
}

/** Returns null for a text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
