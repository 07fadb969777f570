import { expect } from "chai";
import fc from "fast-check";
import {
  open,
  openWithPhrase,
  seal,
  SealBroken,
  sealWithPhrase,
} from "../../../src/platform/secrets/encryption.ts";

const key = new Uint8Array(32).fill(7);
const otherKey = new Uint8Array(32).fill(8);
const place = "webhook_endpoints:wep_1:secret";

/** Returns every variant of a sealed text with one bit changed, and truncated ones. */
function damaged(sealed: string): string[] {
  const bytes = Buffer.from(sealed, "base64url");
  const flipped = Array.from({ length: bytes.byteLength }, (_, at) => {
    const copy = Buffer.from(bytes);
    copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
    return copy.toString("base64url");
  });
  const cut = Array.from({ length: bytes.byteLength }, (_, end) =>
    bytes.subarray(0, end).toString("base64url"),
  );
  return [...flipped, ...cut];
}

describe("sealed texts", () => {
  it("open with their key and associated data", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (text, where) => {
        expect(open(key, seal(key, text, where), where)).to.equal(text);
      }),
    );
  });

  it("do not open with other associated data, another key, or any change", () => {
    const sealed = seal(key, "whsec_abc", place);
    expect(() => open(key, sealed, "webhook_endpoints:wep_2:secret")).to.throw(SealBroken);
    expect(() => open(key, sealed, "")).to.throw(SealBroken);
    expect(() => open(otherKey, sealed, place)).to.throw(SealBroken);
    for (const text of damaged(sealed)) expect(() => open(key, text, place)).to.throw(SealBroken);
  });

  it("do not contain the text, and differ each time", () => {
    const sealed = Array.from({ length: 100 }, () => seal(key, "whsec_abc", place));
    expect(new Set(sealed).size).to.equal(100);
    expect(sealed[0]).to.match(/^[\w-]+$/);
    expect(Buffer.from(sealed[0] ?? "", "base64url").toString("latin1")).to.not.contain("whsec");
  });
});

describe("texts sealed with a phrase", () => {
  it("open with the phrase and, if given, the associated data", () => {
    const sealed = sealWithPhrase("0b3c-key", '{"secret":"till_live_…"}');
    expect(openWithPhrase("0b3c-key", sealed)).to.equal('{"secret":"till_live_…"}');
    const placed = sealWithPhrase("0b3c-key", "text", place);
    expect(openWithPhrase("0b3c-key", placed, place)).to.equal("text");
    expect(() => openWithPhrase("0b3c-key", placed)).to.throw(SealBroken);
  });

  it("do not open with another phrase or any change", () => {
    const sealed = sealWithPhrase("0b3c-key", "text");
    expect(() => openWithPhrase("0b3c-kez", sealed)).to.throw(SealBroken);
    expect(() => openWithPhrase("", sealed)).to.throw(SealBroken);
    for (const text of damaged(sealed)) {
      expect(() => openWithPhrase("0b3c-key", text)).to.throw(SealBroken);
    }
  });

  it("cannot be opened with a key, nor texts sealed with a key by a phrase", () => {
    expect(() => open(key, sealWithPhrase("phrase", "text"), "")).to.throw(SealBroken);
    expect(() => openWithPhrase("phrase", seal(key, "text", ""))).to.throw(SealBroken);
  });
});
