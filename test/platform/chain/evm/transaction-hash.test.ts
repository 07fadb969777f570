import { expect } from "chai";
import fc from "fast-check";
import {
  formatBareHash,
  formatHash,
  parseTransactionHash,
} from "../../../../src/platform/chain/evm/addresses.ts";

const hash = "5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060";

describe("transaction hashes", () => {
  it("are parsed bare, with 0x, in any case, and from an explorer's link", () => {
    for (const text of [
      hash,
      `0x${hash}`,
      `0X${hash.toUpperCase()}`,
      ` ${hash}\n`,
      `\u2066${hash.slice(0, 9)}\u200b${hash.slice(9)}\u2069`,
      `https://tronscan.org/#/transaction/${hash}`,
      `https://etherscan.io/tx/0x${hash}#eventlog`,
      `https://bscscan.com/tx/0x${hash.toUpperCase()}?a=0x${hash}`,
      `etherscan.io/tx/0x${hash}`,
    ]) {
      expect(parseTransactionHash(text), text).to.equal(hash);
    }
  });

  it("are not parsed from any other text", () => {
    const other = hash.replaceAll("5", "6");
    for (const text of [
      "",
      hash.slice(1),
      `${hash}0`,
      `0x0x${hash}`,
      `hash ${hash}`,
      `g${hash.slice(1)}`,
      `https://etherscan.io/tx/0x${hash}/0x${other}`,
      `https://etherscan.io/tx/0x${hash}00`,
      `https://etherscan.io/tx/ 0x${hash}`,
      `https://etherscan.io/${"a".repeat(3_000)}/${hash}`,
    ]) {
      expect(parseTransactionHash(text), text).to.equal(null);
    }
  });

  it("survive a round trip through the notation of their network", () => {
    const hashes = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes) => Buffer.from(bytes).toString("hex"));
    fc.assert(
      fc.property(hashes, fc.constantFrom(formatBareHash, formatHash), (some, format) => {
        expect(parseTransactionHash(format(some))).to.equal(some);
      }),
    );
    expect(formatBareHash(hash)).to.equal(hash);
    expect(formatHash(hash)).to.equal(`0x${hash}`);
    expect(() => formatHash(`0x${hash}`)).to.throw(TypeError);
  });
});
