import { expect } from "chai";
import fc from "fast-check";
import {
  hashToken,
  isSameSecret,
  newToken,
  parseToken,
  refreshSuccessor,
  systemRandom,
  tokenPrefixes,
  type TokenKind,
} from "../../../src/platform/secrets/tokens.ts";

const kinds = Object.keys(tokenPrefixes) as TokenKind[];
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

describe("opaque tokens", () => {
  it("have a prefix, 43 digits and a checksum, and are recognized by kind", () => {
    for (const kind of kinds) {
      const token = newToken(kind, systemRandom);
      expect(token).to.match(new RegExp(`^${tokenPrefixes[kind]}_[0-9A-Za-z]{49}$`));
      expect(parseToken(token, ...kinds)).to.equal(kind);
      expect(parseToken(token, ...kinds.filter((other) => other !== kind))).to.equal(null);
    }
  });

  it("contain all of their 256 bits, including the smallest and the largest value", () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(bytes, bytes, (one, other) => {
        const first = newToken("liveKey", () => one);
        expect(parseToken(first, "liveKey")).to.equal("liveKey");
        const second = newToken("liveKey", () => other);
        expect(first === second).to.equal(Buffer.from(one).equals(other));
      }),
    );
    const zeros = newToken("liveKey", () => new Uint8Array(32));
    expect(zeros.startsWith(`till_live_${"0".repeat(43)}`)).to.equal(true);
    const ones = newToken("liveKey", () => new Uint8Array(32).fill(255));
    expect(parseToken(ones, "liveKey")).to.equal("liveKey");
    expect(() => newToken("liveKey", () => new Uint8Array(31))).to.throw();
  });

  it("are refused with any one character changed, without reading the store", () => {
    const token = newToken("liveKey", systemRandom);
    for (let place = 0; place < token.length; place += 1) {
      const digit = alphabet.charAt((alphabet.indexOf(token.charAt(place)) + 1) % 62);
      const changed = token.slice(0, place) + digit + token.slice(place + 1);
      expect(parseToken(changed, "liveKey", "testKey"), changed).to.equal(null);
    }
  });

  it("are refused if truncated, padded, of another kind, or no token", () => {
    const token = newToken("liveKey", systemRandom);
    const others = [
      "",
      "till_live_",
      token.slice(0, -1),
      `${token} `,
      `${token}\n`,
      ` ${token}`,
      `${token}0`,
      token.toUpperCase(),
      token.replace("live", "test"),
      token.replace("till_live_", ""),
      "x".repeat(1_000_000),
    ];
    for (const text of others) expect(parseToken(text, "liveKey", "testKey")).to.equal(null);
  });

  it("are stored as SHA-256 in hexadecimal", () => {
    expect(hashToken("abc")).to.equal(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  });
});

describe("a refresh token's successor", () => {
  const key = new Uint8Array(32).fill(1);

  it("depends only on its predecessor and the key", () => {
    const first = newToken("refresh", systemRandom);
    const second = refreshSuccessor(key, first);
    expect(parseToken(second, "refresh")).to.equal("refresh");
    expect(refreshSuccessor(key, first)).to.equal(second);
    expect(refreshSuccessor(new Uint8Array(32).fill(2), first)).to.not.equal(second);
    expect(refreshSuccessor(key, newToken("refresh", systemRandom))).to.not.equal(second);
    expect(refreshSuccessor(key, second)).to.not.be.oneOf([first, second]);
  });
});

describe("comparing secrets", () => {
  it("distinguishes equal from different texts of any length", () => {
    expect(isSameSecret("abc", "abc")).to.equal(true);
    expect(isSameSecret("", "")).to.equal(true);
    expect(isSameSecret("abc", "abd")).to.equal(false);
    expect(isSameSecret("abc", "abcd")).to.equal(false);
    expect(isSameSecret("", "a")).to.equal(false);
  });
});
