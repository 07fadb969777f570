import { expect } from "chai";
import { addressTopic, bareAddress, encodeCall, eventTopic, mappingSlot } from "./abi.ts";

const address = "0xA614f803B6FD780986A42c78Ec9c7f77e6DeD13C";
const word = "000000000000000000000000a614f803b6fd780986a42c78ec9c7f77e6ded13c";

describe("calldata", () => {
  it("has the selectors and topics of the real token", () => {
    expect(encodeCall("decimals()", [])).to.equal("0x313ce567");
    expect(encodeCall("transfer(address,uint256)", [address, 255n])).to.equal(
      `0xa9059cbb${word}${"ff".padStart(64, "0")}`,
    );
    expect(eventTopic("Transfer(address,address,uint256)")).to.equal(
      "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
    );
    expect(addressTopic(address)).to.equal(`0x${word}`);
  });

  it("encodes arrays after the heads, each preceded by its length", () => {
    const data = encodeCall("pay(address,address[],uint256[])", [address, [address], [1n, 2n]]);
    const words = data.slice(10).match(/.{64}/g) ?? [];
    expect(words.map((value) => (value === word ? "address" : Number(`0x${value}`)))).to.deep.equal(
      ["address", 0x60, 0xa0, 1, "address", 2, 1, 2],
    );
  });

  it("computes the storage slot of a mapping's value", () => {
    expect(mappingSlot(`0x${"0".repeat(40)}`, 0n)).to.equal(
      "0xad3228b676f7d3cd4284a5443f17f1962b36e491b30a40b2405849e597ba5fb5",
    );
  });

  it("refuses text that is not an address", () => {
    expect(() => bareAddress("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t")).to.throw("hexadecimal");
  });
});
