import { expect } from "chai";
import { readOptionList } from "../../../../src/features/organizations/option-list.ts";

describe("payment options as people write them", () => {
  it("are separated by spaces and commas, and may name a wallet", () => {
    expect(readOptionList(" tron/USDT, ethereum/USDC/wal_1\nbase\n")).to.deep.equal([
      { network: "tron", tokenSymbol: "USDT" },
      { network: "ethereum", tokenSymbol: "USDC", walletId: "wal_1" },
      { network: "base", tokenSymbol: "" },
    ]);
  });
});
