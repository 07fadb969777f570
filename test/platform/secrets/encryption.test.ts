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

/** Every sealed text that differs in one bit, and those that are cut. */
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
  it("open with their key in their place", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string(), (text, where) => {
        expect(open(key, seal(key, text, where), where)).to.equal(text);
      }),
    );
  });

  it("do not open in another place, with another key, or altered", () => {
    const sealed = seal(key, "whsec_abc", place);
    expect(() => open(key, sealed, "webhook_endpoints:wep_2:secret")).to.throw(SealBroken);
    expect(() => open(key, sealed, "")).to.throw(SealBroken);
    expect(() => open(otherKey, sealed, place)).to.throw(SealBroken);
    for (const text of damaged(sealed)) expect(() => open(key, text, place)).to.throw(SealBroken);
  });

  it("hide their text and never repeat", () => {
    const sealed = Array.from({ length: 100 }, () => seal(key, "whsec_abc", place));
    expect(new Set(sealed).size).to.equal(100);
    expect(sealed[0]).to.match(/^[\w-]+$/);
    expect(Buffer.from(sealed[0] ?? "", "base64url").toString("latin1")).to.not.contain("whsec");
  });
});

describe("texts sealed with a phrase", () => {
  it("open with the phrase, and in their place where one is named", () => {
    const sealed = sealWithPhrase("0b3c-key", '{"secret":"till_live_…"}');
    expect(openWithPhrase("0b3c-key", sealed)).to.equal('{"secret":"till_live_…"}');
    const placed = sealWithPhrase("0b3c-key", "text", place);
    expect(openWithPhrase("0b3c-key", placed, place)).to.equal("text");
    expect(() => openWithPhrase("0b3c-key", placed)).to.throw(SealBroken);
  });

  it("do not open with another phrase or altered", () => {
    const sealed = sealWithPhrase("0b3c-key", "text");
    expect(() => openWithPhrase("0b3c-kez", sealed)).to.throw(SealBroken);
    expect(() => openWithPhrase("", sealed)).to.throw(SealBroken);
    for (const text of damaged(sealed)) {
      expect(() => openWithPhrase("0b3c-key", text)).to.throw(SealBroken);
    }
  });

  it("and with a key are two kinds, which never stand for each other", () => {
    expect(() => open(key, sealWithPhrase("phrase", "text"), "")).to.throw(SealBroken);
    expect(() => openWithPhrase("phrase", seal(key, "text", ""))).to.throw(SealBroken);
  });
});
