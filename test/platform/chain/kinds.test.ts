// The rules that every kind of network follows. A kind added to src/platform/chain/kinds.ts is tested by being there.
import { expect } from "chai";
import fc from "fast-check";
import { readFileSync } from "node:fs";
import { looksLikeAnySecret, networkKinds } from "../../../src/platform/chain/kinds.ts";
import { parseNetworks } from "../../../src/platform/chain/network-table.ts";
import { shortAddress, type NetworkKind } from "../../../src/platform/chain/networks.ts";

const phrase = "test test test test test test test test test test test junk";
const key = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const secrets = {
  "a private key": key,
  "a private key with 0x": `0x${key.toUpperCase()}`,
  "a private key in a sentence": `my key: 0x${key} `,
  "a seed": key + key,
  "an extended private key":
    "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
  "a zprv with a letter missing":
    "zprvAWgYBBk7JR8Gjrh4UJQ2uJdG1r3WNRRfURiABBE3RvMXYSrRJL62XuezvGdPvG6GFBZduosCc1YP5wixPox7zhZLfiUm8",
  "twelve words": phrase,
  "twelve words on lines of their own": phrase.replaceAll(" ", "\r\n"),
  "twelve numbered words": phrase
    .split(" ")
    .map((word, place) => `${String(place + 1)}. ${word}`)
    .join(", "),
  "twenty-four words": `${phrase} ${phrase.toUpperCase()}`,
  "twelve words of Japanese": Array(12).fill("あいこくしん").join("\u3000"),
};

const shipped = parseNetworks(
  readFileSync(new URL("../../../config/networks.yaml", import.meta.url), "utf8"),
);

/** Addresses on the shipped networks of a kind: those of the tokens' contracts. */
function addressesOf(kind: NetworkKind): string[] {
  if (!shipped.ok) throw new Error("config/networks.yaml is wrong");
  return shipped.value
    .filter((network) => network.kind === kind)
    .flatMap(({ tokens }) => tokens.map(({ contract }) => contract));
}

for (const [name, kind] of Object.entries(networkKinds)) {
  describe(`the kind of network ${name}`, () => {
    for (const [what, secret] of Object.entries(secrets)) {
      it(`recognizes ${what} as a secret, and accepts it nowhere`, () => {
        expect(kind.looksLikeSecret(secret)).to.equal(true);
        expect(kind.parseAddress(secret).ok).to.equal(false);
        const address = kind.parseAddress(secret);
        if (!address.ok) expect(address.message).not.to.contain(secret.slice(0, 12));
        const key = kind.extendedKeys?.parse(secret);
        expect(key?.ok ?? false).to.equal(false);
        if (key?.ok === false) expect(key.message).not.to.contain(secret.slice(0, 12));
      });
    }

    it("parses the addresses that it formats, and suspects none of them to be a secret of any kind", () => {
      const addresses = addressesOf(kind);
      expect(addresses).not.to.have.length(0);
      for (const address of addresses) {
        const shown = kind.formatAddress(address);
        expect(kind.parseAddress(` ${shown}\n`)).to.deep.equal({ ok: true, address });
        expect(looksLikeAnySecret(shown)).to.equal(false);
      }
      expect(() => kind.formatAddress(" not canonical ")).to.throw();
    });

    it("shortens an address to at least 4 characters after its prefix and 8 at its end", () => {
      for (const address of addressesOf(kind)) {
        const shown = kind.formatAddress(address);
        expect(shown.startsWith(kind.addressPrefix)).to.equal(true);
        const [first = "", last = ""] = shortAddress(kind, address).split("…");
        expect(shown.startsWith(first) && shown.endsWith(last)).to.equal(true);
        expect([first.length - kind.addressPrefix.length, last.length]).to.deep.equal([4, 8]);
      }
    });

    it("parses the transaction hashes that it formats, in every text that it accepts as any kind does", () => {
      const hashes = fc
        .uint8Array({ minLength: 32, maxLength: 32 })
        .map((bytes) => Buffer.from(bytes).toString("hex"));
      fc.assert(
        fc.property(hashes, (some) => {
          const hash = kind.parseTransactionHash(some);
          fc.pre(hash !== null);
          const shown = kind.formatTransactionHash(hash);
          for (const other of Object.values(networkKinds)) {
            expect(other.parseTransactionHash(shown)).to.be.oneOf([hash, null]);
          }
          expect(kind.parseTransactionHash(shown)).to.equal(hash);
        }),
      );
    });

    it("asks for a payment to the receiver, and to nobody else", () => {
      const [to = "", contract = to] = addressesOf(kind);
      const uri = kind.paymentUri({ chainId: 1, contract, to, amount: 25n });
      expect(uri).to.contain(kind.formatAddress(to));
    });
  });
}
