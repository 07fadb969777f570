import { expect } from "chai";
import fc from "fast-check";
import { createHash, pbkdf2Sync } from "node:crypto";
import { createBase58check } from "@scure/base";
import { HDKey } from "@scure/bip32";
import { evmKind } from "../../../../src/platform/chain/evm/kind.ts";
import { tronKind } from "../../../../src/platform/chain/tron/kind.ts";
import {
  deriveAddress,
  fingerprintForm,
  makeExtendedKeys,
  xpubIdentity,
} from "../../../../src/platform/chain/evm/addresses.ts";

const junk = "test test test test test test test test test test test junk";
const about =
  "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";

const base58check = createBase58check((bytes: Uint8Array) =>
  createHash("sha256").update(bytes).digest(),
);

/** The BIP-39 seed of a phrase. */
function keyOf(phrase: string, path: string): HDKey {
  return HDKey.fromMasterSeed(pbkdf2Sync(phrase, "mnemonic", 2_048, 64, "sha512")).derive(path);
}

function xpubOf(phrase: string, path: string): string {
  return keyOf(phrase, path).publicExtendedKey;
}

const evmKeys = makeExtendedKeys("m/44'/60'/0'");

function faultOf(text: string): string {
  const parsed = evmKeys.parse(text);
  return parsed.ok ? "ok" : parsed.fault;
}

describe("extended public keys", () => {
  const evm = xpubOf(junk, "m/44'/60'/0'");
  const tron = xpubOf(junk, "m/44'/195'/0'");

  it("derive the same addresses as wallets", () => {
    const shown = (kind: "evm" | "tron", xpub: string, index: number) =>
      (kind === "tron" ? tronKind : evmKind).formatAddress(deriveAddress(xpub, index));
    expect([0, 1, 2].map((index) => shown("evm", evm, index))).to.deep.equal([
      "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
      "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
    ]);
    expect([0, 1].map((index) => shown("tron", tron, index))).to.deep.equal([
      "TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6",
      "TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C",
    ]);
    expect(shown("evm", xpubOf(about, "m/44'/60'/0'"), 0)).to.equal(
      "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
    );
    expect(shown("tron", xpubOf(about, "m/44'/195'/0'"), 0)).to.equal(
      "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH",
    );
  });

  it("reject an invalid index", () => {
    for (const index of [-1, 0.5, 2 ** 31]) expect(() => deriveAddress(evm, index)).to.throw();
  });

  it("are accepted only at the depth of an account", () => {
    expect(evmKeys.parse(` ${evm}\n`)).to.deep.equal({ ok: true, xpub: evm });
    for (const path of ["m", "m/44'/60'", "m/44'/60'/0'/0", "m/44'/60'/0"]) {
      expect(faultOf(xpubOf(junk, path)), path).to.equal("depth");
    }
  });

  it("at another depth are rejected with the account's path on the network", () => {
    const deep = xpubOf(junk, "m/44'/195'/0'/0");
    expect(tronKind.extendedKeys?.parse(deep)).to.deep.include({ ok: false, fault: "depth" });
    expect(JSON.stringify(tronKind.extendedKeys?.parse(deep))).to.contain("m/44'/195'/0'.");
    expect(JSON.stringify(evmKeys.parse(deep))).to.contain("m/44'/60'/0'.");
  });

  it("are rejected if they are private, and never repeated", () => {
    const xprv = keyOf(junk, "m/44'/60'/0'").privateExtendedKey;
    const parsed = evmKeys.parse(xprv);
    if (parsed.ok) throw new Error("was taken");
    expect(parsed.message).not.to.contain(xprv.slice(4, 12));
    expect(faultOf(junk)).to.equal("malformed");
  });

  it("of other kinds of wallets, and malformed text, are rejected with different faults", () => {
    const zpub = Uint8Array.from(base58check.decode(evm));
    zpub.set([0x04, 0xb2, 0x47, 0x46]);
    expect(faultOf(base58check.encode(zpub))).to.equal("wrong_kind");
    const noPoint = Uint8Array.from(base58check.decode(evm));
    noPoint.fill(0xff, 46);
    expect(faultOf(base58check.encode(noPoint))).to.equal("malformed");
    expect(faultOf(evm.slice(0, -1))).to.equal("checksum");
    for (const text of ["", "xpub", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", evm + evm]) {
      expect(faultOf(text)).to.equal("malformed");
    }
  });

  it("are rejected if any single letter is changed", () => {
    const letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    fc.assert(
      fc.property(
        fc.integer({ min: 4, max: evm.length - 1 }),
        fc.constantFrom(...Array.from(letters)),
        (place, letter) => {
          fc.pre(evm.charAt(place) !== letter);
          expect(faultOf(evm.slice(0, place) + letter + evm.slice(place + 1))).to.equal("checksum");
        },
      ),
    );
  });

  it("are shown in a short form that does not reveal the key", () => {
    expect(fingerprintForm(evm)).to.match(/^xpub:[0-9a-f]{8}…[1-9A-HJ-NP-Za-km-z]{6}$/);
    expect(fingerprintForm(evm)).not.to.equal(fingerprintForm(tron));
  });

  it("are the same key regardless of the position in the tree that their text states", () => {
    const moved = Uint8Array.from(base58check.decode(evm));
    moved.set([1, 2, 3, 4], 5);
    const text = base58check.encode(moved);
    expect(text).not.to.equal(evm);
    expect(faultOf(text)).to.equal("ok");
    expect(xpubIdentity(text))
      .to.equal(xpubIdentity(evm))
      .and.match(/^[0-9a-f]{64}$/);
    expect(xpubIdentity(tron)).not.to.equal(xpubIdentity(evm));
  });
});
