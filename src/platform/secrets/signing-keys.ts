import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { calculateJwkThumbprint, exportJWK } from "jose";
import { deriveKey, type ServerSecret } from "./server-secret.ts";

/** The algorithm of signed documents, by its name in JOSE (RFC 8037). */
export const signingAlgorithm = "EdDSA";

/** A public key as JSON Web Key (RFC 7517, RFC 8037). */
export interface PublicSigningKey {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  /** The 32 bytes of the key, in base64url. */
  readonly x: string;
  /** The key's thumbprint (RFC 7638). */
  readonly kid: string;
  readonly alg: typeof signingAlgorithm;
  readonly use: "sig";
}

export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: PublicSigningKey;
}

/** The beginning of an Ed25519 private key in PKCS #8 (RFC 8410, section 7); the 32 bytes of the seed follow. */
const pkcs8Prefix = Buffer.from("302e020100300506032b657004220420", "hex");

/** Derives the Ed25519 key of a generation, counted from 1. The same secret gives the same keys. */
export async function deriveSigningKey(
  secret: ServerSecret,
  generation: number,
): Promise<SigningKey> {
  const seed = deriveKey(secret, "receipts", generation);
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, seed]),
    format: "der",
    type: "pkcs8",
  });
  const { x = "" } = await exportJWK(createPublicKey(privateKey));
  const bare = { kty: "OKP", crv: "Ed25519", x } as const;
  const kid = await calculateJwkThumbprint(bare);
  return { privateKey, publicKey: { ...bare, kid, alg: signingAlgorithm, use: "sig" } };
}
