import { expect } from "chai";
import fc from "fast-check";
import {
  formatAddress,
  isAddress,
  parseAddress,
  type AddressForm,
} from "../../../../src/platform/chain/evm/address.ts";

const usdt = {
  tron: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
  hex: "a614f803b6fd780986a42c78ec9c7f77e6ded13c",
};
const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

const addresses = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => Buffer.from(bytes).toString("hex"))
  .filter((hex) => !/^0+$/.test(hex));

function faultOf(form: AddressForm, text: string): string {
  const parsed = parseAddress(form, text);
  return parsed.ok ? parsed.address : parsed.fault;
}

describe("addresses", () => {
  it("are parsed and formatted in the notation of their network", () => {
    expect(faultOf("tron", usdt.tron)).to.equal(usdt.hex);
    expect(formatAddress("tron", usdt.hex)).to.equal(usdt.tron);
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
      const address = faultOf("evm", text);
      expect(address).to.equal(text.slice(2).toLowerCase());
      expect(formatAddress("evm", address)).to.equal(text);
    }
  });

  it("survive a round trip through the notation of every network", () => {
    fc.assert(
      fc.property(addresses, fc.constantFrom<AddressForm>("tron", "evm"), (address, form) => {
        expect(parseAddress(form, ` ${formatAddress(form, address)}\n`)).to.deep.equal({
          ok: true,
          address,
        });
      }),
    );
  });

  it("of TRON are rejected if any single letter is changed", () => {
    fc.assert(
      fc.property(
        addresses,
        fc.integer({ min: 0, max: 33 }),
        fc.constantFrom(...Array.from(base58)),
        (address, place, letter) => {
          const text = formatAddress("tron", address);
          fc.pre(text.charAt(place) !== letter);
          const changed = text.slice(0, place) + letter + text.slice(place + 1);
          expect(faultOf("tron", changed)).to.equal(place === 0 ? "malformed" : "checksum");
        },
      ),
    );
  });

  it("of EVM networks may be all lower or all upper case, and are rejected if one letter's case is changed", () => {
    fc.assert(
      fc.property(addresses, fc.nat(39), (address, place) => {
        const digits = formatAddress("evm", address).slice(2);
        expect(faultOf("evm", `0x${address}`)).to.equal(address);
        expect(faultOf("evm", `0x${address.toUpperCase()}`)).to.equal(address);
        const letter = digits.charAt(place);
        const other = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
        const changed = digits.slice(0, place) + other + digits.slice(place + 1);
        fc.pre(![digits, digits.toLowerCase(), digits.toUpperCase()].includes(changed));
        expect(faultOf("evm", `0x${changed}`)).to.equal("checksum");
      }),
    );
  });

  it("of another network, the zero address and malformed text are rejected with different faults", () => {
    const evm = formatAddress("evm", usdt.hex);
    expect(faultOf("tron", evm)).to.equal("wrong_network");
    expect(faultOf("evm", usdt.tron)).to.equal("wrong_network");
    expect(faultOf("tron", "T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb")).to.equal("zero_address");
    expect(faultOf("evm", `0x${"0".repeat(40)}`)).to.equal("zero_address");
    for (const text of [
      "",
      "0x",
      usdt.hex,
      `0X${usdt.hex}`,
      `${evm}0`,
      "1BoatSLRHtKNngkdXEeobR76b53LETtpyT",
    ]) {
      expect(faultOf("evm", text)).to.equal("malformed");
    }
    for (const text of [
      "",
      usdt.hex,
      `41${usdt.hex}`,
      usdt.tron.slice(1),
      `${usdt.tron}t`,
      "T".repeat(9_000),
    ]) {
      expect(faultOf("tron", text)).to.equal("malformed");
    }
  });

  it("are canonical only as 40 lower-case hexadecimal digits", () => {
    expect(isAddress(usdt.hex)).to.equal(true);
    expect(isAddress(usdt.hex.toUpperCase())).to.equal(false);
    expect(() => formatAddress("evm", `0x${usdt.hex}`)).to.throw(TypeError);
  });
});

describe("a secret pasted instead of an address", () => {
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

  for (const [name, secret] of Object.entries(secrets)) {
    it(`is recognized and not repeated: ${name}`, () => {
      for (const form of ["tron", "evm"] as const) {
        const parsed = parseAddress(form, secret);
        if (parsed.ok) throw new Error("was taken for an address");
        expect(parsed.fault).to.equal("secret");
        expect(parsed.message)
          .to.contain("private key or a seed phrase")
          .and.not.contain(secret.slice(0, 12));
      }
    });
  }

  it("is never suspected in an address", () => {
    fc.assert(
      fc.property(addresses, fc.constantFrom<AddressForm>("tron", "evm"), (address, form) => {
        expect(parseAddress(form, formatAddress(form, address)).ok).to.equal(true);
      }),
    );
  });
});
