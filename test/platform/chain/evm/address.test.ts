import { expect } from "chai";
import fc from "fast-check";
import { isAddress } from "../../../../src/platform/chain/evm/addresses.ts";
import { evmKind } from "../../../../src/platform/chain/evm/kind.ts";
import type { NetworkKind } from "../../../../src/platform/chain/networks.ts";
import { tronKind } from "../../../../src/platform/chain/tron/kind.ts";

const usdt = {
  tron: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
  hex: "a614f803b6fd780986a42c78ec9c7f77e6ded13c",
};
const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

const addresses = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => Buffer.from(bytes).toString("hex"))
  .filter((hex) => !/^0+$/.test(hex));

function faultOf(kind: NetworkKind, text: string): string {
  const parsed = kind.parseAddress(text);
  return parsed.ok ? parsed.address : parsed.fault;
}

describe("addresses", () => {
  it("are parsed and formatted in the notation of their network", () => {
    expect(faultOf(tronKind, usdt.tron)).to.equal(usdt.hex);
    expect(tronKind.formatAddress(usdt.hex)).to.equal(usdt.tron);
    // The test vectors of EIP-55.
    for (const text of [
      "0x52908400098527886E0F7030069857D2E4169EE7",
      "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
      "0xde709f2102306220921060314715629080e2fb77",
      "0x27b1fdb04752bbc536007a920d24acb045561c26",
      "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
      "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
      "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ]) {
      const address = faultOf(evmKind, text);
      expect(address).to.equal(text.slice(2).toLowerCase());
      expect(evmKind.formatAddress(address)).to.equal(text);
    }
  });

  it("survive a round trip through the notation of every network", () => {
    fc.assert(
      fc.property(addresses, fc.constantFrom(tronKind, evmKind), (address, kind) => {
        expect(kind.parseAddress(` ${kind.formatAddress(address)}\n`)).to.deep.equal({
          ok: true,
          address,
        });
      }),
    );
  });

  it("are parsed with invisible characters anywhere, which messengers add", () => {
    const invisible = ["\u200b", "\u200e", "\u2069", "\ufeff", "\u00ad", "\u2060", "\u180e"];
    fc.assert(
      fc.property(
        addresses,
        fc.constantFrom(tronKind, evmKind),
        fc.constantFrom(...invisible),
        fc.nat(42),
        (address, kind, letter, place) => {
          const text = kind.formatAddress(address);
          const pasted = `${letter}${text.slice(0, place)}${letter}${text.slice(place)} ${letter}`;
          expect(faultOf(kind, pasted)).to.equal(address);
        },
      ),
    );
  });

  it("of TRON are rejected if any single letter is changed", () => {
    fc.assert(
      fc.property(
        addresses,
        fc.integer({ min: 0, max: 33 }),
        fc.constantFrom(...Array.from(base58)),
        (address, place, letter) => {
          const text = tronKind.formatAddress(address);
          fc.pre(text.charAt(place) !== letter);
          const changed = text.slice(0, place) + letter + text.slice(place + 1);
          expect(faultOf(tronKind, changed)).to.equal(place === 0 ? "malformed" : "checksum");
        },
      ),
    );
  });

  it("of EVM networks may be all lower or all upper case, and are rejected if one letter's case is changed", () => {
    fc.assert(
      fc.property(addresses, fc.nat(39), (address, place) => {
        const digits = evmKind.formatAddress(address).slice(2);
        expect(faultOf(evmKind, `0x${address}`)).to.equal(address);
        expect(faultOf(evmKind, `0x${address.toUpperCase()}`)).to.equal(address);
        const letter = digits.charAt(place);
        const other = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
        const changed = digits.slice(0, place) + other + digits.slice(place + 1);
        fc.pre(![digits, digits.toLowerCase(), digits.toUpperCase()].includes(changed));
        expect(faultOf(evmKind, `0x${changed}`)).to.equal("checksum");
      }),
    );
  });

  it("are rejected with different faults if they are the zero address or malformed", () => {
    const evm = evmKind.formatAddress(usdt.hex);
    expect(faultOf(tronKind, "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb")).to.equal("zero_address");
    expect(faultOf(evmKind, `0x${"0".repeat(40)}`)).to.equal("zero_address");
    for (const text of [
      "",
      "0x",
      usdt.hex,
      usdt.tron,
      `0X${usdt.hex}`,
      `${evm}0`,
      "1BoatSLRHtKNngkdXEeobR76b53LETtpyT",
    ]) {
      expect(faultOf(evmKind, text)).to.equal("malformed");
    }
    for (const text of [
      "",
      usdt.hex,
      evm,
      `41${usdt.hex}`,
      usdt.tron.slice(1),
      `${usdt.tron}t`,
      "T".repeat(9_000),
    ]) {
      expect(faultOf(tronKind, text)).to.equal("malformed");
    }
  });

  it("are canonical only as 40 lower-case hexadecimal digits", () => {
    expect(isAddress(usdt.hex)).to.equal(true);
    expect(isAddress(usdt.hex.toUpperCase())).to.equal(false);
    expect(() => evmKind.formatAddress(`0x${usdt.hex}`)).to.throw(TypeError);
  });
});
