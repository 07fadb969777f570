import { expect } from "chai";
import { evmKind } from "../../../../src/platform/chain/evm/kind.ts";
import { tronKind } from "../../../../src/platform/chain/tron/kind.ts";

const to = "f39fd6e51aad88f6f4ce6ab8827279cfffb92266";

describe("a payment's QR code", () => {
  it("is EIP-681 on EVM networks, with amounts of any size", () => {
    const contract = "55d398326f99059ff775485246999027b3197955";
    expect(
      evmKind.paymentUri({ chainId: 56, contract, to, amount: 25_000_100_000_000_000_000n }),
    ).to.equal(
      "ethereum:0x55d398326f99059fF775485246999027B3197955@56/transfer" +
        "?address=0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266&uint256=25000100000000000000",
    );
  });

  it("is the bare address on TRON", () => {
    const contract = "a614f803b6fd780986a42c78ec9c7f77e6ded13c";
    expect(tronKind.paymentUri({ chainId: 728126428, contract, to, amount: 1n })).to.equal(
      "TYBNgWfhGuNzdLtjKtxXTfskAhTbMcqbaG",
    );
  });
});

describe("the transfer that a browser's wallet is asked for", () => {
  const request = {
    contract: "a614f803b6fd780986a42c78ec9c7f77e6ded13c",
    to,
    amount: 25_000_100_000_000_000_000n,
  };
  const data = `0xa9059cbb${to.padStart(64, "0")}${request.amount.toString(16).padStart(64, "0")}`;

  it("is a call of the token's contract, with addresses as the network writes them", () => {
    expect(evmKind.browserWallets?.transfer({ ...request, chainId: 56 })).to.deep.equal({
      walletStandard: "eip-6963",
      chainId: "0x38",
      tokenContract: "0xa614f803B6FD780986A42c78Ec9c7f77e6DeD13C",
      recipient: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
      units: "25000100000000000000",
      data,
    });
    expect(tronKind.browserWallets?.transfer({ ...request, chainId: 728126428 })).to.deep.equal({
      walletStandard: "tip-6963",
      chainId: "0x2b6653dc",
      tokenContract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
      recipient: "TYBNgWfhGuNzdLtjKtxXTfskAhTbMcqbaG",
      units: "25000100000000000000",
      data,
    });
  });
});
