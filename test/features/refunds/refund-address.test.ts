import { expect } from "chai";
import { readRefundAddress } from "../../../src/features/refunds/refund-address.ts";
import { openLedger, refusal, type Ledger } from "../../support/ledger.ts";
import { anyStore } from "../../support/store/stores.ts";

anyStore("The address of a refund", (store) => {
  const [payer, paidTo, own, foreign] = ["1", "2", "3", "4"].map((digit) => digit.repeat(40));
  let shop: Ledger;
  before(async () => {
    shop = await openLedger(await store.open(), "ethereum", "bsc", "tron");
    await shop.addWallet("ethereum", { address: `0x${String(own)}` });
    const owner = await shop.addOrganization();
    await shop.addWallet("ethereum", { address: `0x${String(foreign)}` }, owner);
  });

  /** Reads an address for a payment of the shop on Ethereum. */
  function read(text: string): Promise<string> {
    const { app, db, networks, organizationId } = shop;
    const ethereum = networks.get("ethereum");
    if (ethereum === undefined || paidTo === undefined) throw new Error("there is no network");
    return readRefundAddress(db, app, ethereum, organizationId, { text, paidTo });
  }

  it("is one of the payer, even if another merchant has it", async () => {
    for (const address of [payer, foreign]) {
      expect(await read(`0x${String(address)}`)).to.equal(address);
    }
  });

  it("is not one that the merchant was paid to, or has in a wallet, nor a contract or the zero address", async () => {
    const contracts = ["ethereum", "bsc"].map((id) => shop.networks.get(id)?.tokens[0]?.contract);
    expect(new Set(contracts).size).to.equal(2);
    for (const address of [paidTo, own, ...contracts, "0".repeat(40)]) {
      const { code } = await refusal(read(`0x${String(address)}`));
      expect(code, String(address)).to.equal("refund_address_refused");
    }
  });

  for (const [what, text, code, words] of [
    ["a private key", "ab".repeat(32), "secret", "private key"],
    [
      "an address of another network",
      "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
      "wrong_network",
      "another network",
    ],
    ["a mistyped address", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed", "checksum", ""],
    ["something else", "nobody", "malformed", ""],
  ] as const) {
    it(`is not ${what}, which the refusal does not repeat`, async () => {
      const problem = await refusal(read(text));
      expect(problem.status).to.equal(400);
      const [fault] = problem.errors;
      expect(fault).to.include({ pointer: "/address", code });
      expect(fault?.message).to.contain(words).and.not.to.contain(text);
      expect(fault?.message.includes("another network")).to.equal(code === "wrong_network");
    });
  }
});
