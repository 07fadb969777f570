import { expect } from "chai";
import {
  claimableNetworks,
  claimableTerms,
} from "../../../../src/features/invoices/holds/claimable.ts";
import { holds } from "../../../../src/features/invoices/table.ts";
import type { Reader } from "../../../../src/platform/database/index.ts";

interface Held {
  readonly address: string;
  readonly token: string;
  readonly endsAt: number;
}

/** A reader that finds one invoice, and these holds of it. */
function readerOf(invoice: object | null, held: readonly Held[] = []) {
  const find = (table: unknown) => Promise.resolve(table === holds ? held : [invoice]);
  return { find, findOne: () => Promise.resolve(invoice) } as unknown as Reader;
}

const quote = {
  exchangeRate: "1",
  walletAddress: "a",
  payableAmount: "10",
  askedAmount: null,
  remainingAmount: "10",
  remainingAfter: "0",
  seen: "0",
  confirmed: "0",
};
/** USDT on Base is in force; USDC there and USDT on TRON were chosen before, and USDC on TRON never. */
const invoice = {
  id: "inv_1",
  issuedAt: 5,
  status: "open",
  network: "base",
  tokenSymbol: "USDT",
  exchangeRate: "1",
  walletAddress: "a",
  payableAmount: 10n,
  paymentOptions: [
    { network: "base", tokenSymbol: "USDT", quote },
    { network: "base", tokenSymbol: "USDC", quote },
    { network: "tron", tokenSymbol: "USDT", quote },
    { network: "tron", tokenSymbol: "USDC", quote: null },
  ],
};

describe("The terms of a transaction that a payer claims", () => {
  it("are the addresses of the invoice's holds, each with the tokens that it may be paid in there", async () => {
    const reader = readerOf(invoice, [
      { address: "a", token: "USDT", endsAt: 90 },
      { address: "b", token: "*", endsAt: 70 },
      { address: "c", token: "DAI", endsAt: 80 },
    ]);
    const terms = await claimableTerms(reader, "inv_1", "base");
    expect(terms).to.deep.equal({
      targets: [
        { address: "a", token: "USDT" },
        { address: "b", token: "USDT" },
        { address: "b", token: "USDC" },
      ],
      issuedAt: 5,
      endsAt: 90,
    });
  });

  it("are none of a draft, of an unknown invoice, or without a hold", async () => {
    const held = [{ address: "a", token: "USDT", endsAt: 90 }];
    expect(await claimableTerms(readerOf(invoice), "inv_1", "base")).to.equal(null);
    expect(await claimableTerms(readerOf(null, held), "inv_1", "base")).to.equal(null);
    const draft = { ...invoice, issuedAt: null };
    expect(await claimableTerms(readerOf(draft, held), "inv_1", "base")).to.equal(null);
    expect(await claimableNetworks(readerOf(null), "inv_1")).to.deep.equal([]);
    expect(await claimableNetworks(readerOf(invoice), "inv_1")).to.deep.equal(["base", "tron"]);
  });
});
