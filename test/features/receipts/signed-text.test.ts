import { createSecretKey } from "node:crypto";
import { expect } from "chai";
import { CompactSign, UnsecuredJWT, base64url } from "jose";
import {
  signClaims,
  signedTextMax,
  verifySigned,
} from "../../../src/features/receipts/signed-text.ts";
import { deriveSigningKey } from "../../../src/platform/secrets/signing-keys.ts";
import { serverSecret } from "../../support/secret.ts";
import { receiptClaims } from "./documents.ts";

const key = await deriveSigningKey(serverSecret, 1);
const published = { keys: [key.publicKey] };
const jws = await signClaims(key, "receipt", receiptClaims);

async function refusal(text: string, keySet = published): Promise<string> {
  const problem: unknown = await verifySigned(text, keySet).then(
    () => null,
    (error: unknown) => error,
  );
  expect(problem).to.include({ code: "signature_refused", status: 422 });
  return (problem as Error).message;
}

/** Signs with the real key what Till would not sign. */
function signedWith(header: Readonly<Record<string, string>>, payload: string): Promise<string> {
  return new CompactSign(new TextEncoder().encode(payload))
    .setProtectedHeader({ alg: "EdDSA", kid: key.publicKey.kid, ...header })
    .sign(key.privateKey);
}

describe("signed receipts and payment requests", () => {
  it("are verified with the published key alone, and show what was signed", async () => {
    expect(await verifySigned(`\n ${jws} \n`, published)).to.deep.equal({
      kind: "receipt",
      keyId: key.publicKey.kid,
      claims: receiptClaims,
    });
  });

  it("are refused if a character is changed, wherever it is", async () => {
    const places = Array.from({ length: Math.floor(jws.length / 7) }, (_, count) => count * 7);
    for (const place of places) {
      if (jws[place] === ".") continue;
      const other = jws[place] === "A" ? "B" : "A";
      await refusal(jws.slice(0, place) + other + jws.slice(place + 1));
    }
    // The last letter has bits that are not part of the signature's bytes.
    for (const last of "ABCDQRSTghijwxyz") {
      if (jws.endsWith(last)) continue;
      expect(await refusal(jws.slice(0, -1) + last)).to.contain("changed");
    }
  });

  it("are refused if they are incomplete, too long or something else", async () => {
    for (const text of [
      "",
      "hello",
      jws.slice(0, -10),
      jws.split(".").slice(0, 2).join("."),
      `${jws}.x`,
    ]) {
      await refusal(text);
    }
    const ofLength = (length: number) => "a.".repeat(2) + "a".repeat(length - 4);
    expect(await refusal(ofLength(signedTextMax))).to.contain("The signature does not match");
    expect(await refusal(ofLength(signedTextMax + 1))).to.contain("not a signed");
  });

  it("are refused if another instance or an unknown key signed them", async () => {
    const foreign = await deriveSigningKey(createSecretKey(Buffer.alloc(32, 7)), 1);
    expect(await refusal(await signClaims(foreign, "receipt", receiptClaims))).to.contain(
      "another instance",
    );
    // A forger may name the known key.
    const named = { ...foreign, publicKey: { ...foreign.publicKey, kid: key.publicKey.kid } };
    expect(await refusal(await signClaims(named, "receipt", receiptClaims))).to.contain("changed");
  });

  it("are refused without a signature, or with one that the public key makes", async () => {
    const payload = JSON.stringify(receiptClaims);
    await refusal(new UnsecuredJWT({ ...receiptClaims }).encode());
    const header = base64url.encode(JSON.stringify({ alg: "none", kid: key.publicKey.kid }));
    await refusal(`${header}.${base64url.encode(payload)}.AA`);
    const confused = await new CompactSign(new TextEncoder().encode(payload))
      .setProtectedHeader({ alg: "HS256", typ: "till-receipt+jwt", kid: key.publicKey.kid })
      .sign(Buffer.from(key.publicKey.x, "base64url"));
    await refusal(confused);
  });

  it("are refused if the key signed something else", async () => {
    const payload = JSON.stringify(receiptClaims);
    expect(await refusal(await signedWith({ typ: "at+jwt" }, payload))).to.contain("not a signed");
    expect(
      await refusal(await signedWith({ typ: "till-payment-request+jwt" }, payload)),
    ).to.contain("not a signed");
    await refusal(await signedWith({ typ: "till-receipt+jwt" }, '{"amount":"25.00"}'));
    await refusal(await signedWith({ typ: "till-receipt+jwt" }, "not JSON"));
  });
});
