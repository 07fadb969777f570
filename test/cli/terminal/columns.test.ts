import { expect } from "chai";
import type { Column } from "../../../src/http/declare/command.ts";
import { cellsOf, titleOf } from "../../../src/cli/terminal/columns.ts";

interface Item {
  readonly amount: string | null;
  readonly tokenSymbol: string;
  readonly paidAt: string | null;
  readonly isWatched: boolean;
  readonly scopes: readonly string[];
  readonly count: number;
  readonly wallet: { readonly id: string };
}

const item: Item = {
  amount: "24.00",
  tokenSymbol: "USDT",
  paidAt: null,
  isWatched: true,
  scopes: ["read", "write"],
  count: 3,
  wallet: { id: "wal_1" },
};

const shown = (column: Column<Item>, one = item, separator = ", ") =>
  cellsOf(column, [one], separator)[0];

describe("a column's title", () => {
  it("is the field's name in words, without the word that only says what kind of value it is", () => {
    const titles: Readonly<Record<string, string>> = {
      id: "ID",
      url: "URL",
      status: "Status",
      lastUsedAt: "Last used",
      organizationId: "Organization",
      tokenSymbol: "Token",
      transactionHashes: "Transactions",
      paidInvoiceCount: "Paid invoices",
      count: "Count",
      isInUse: "In use",
      issuedAt: "Issued",
      durationMs: "Duration ms",
      "paidAmount settlementCurrency": "Paid",
    };
    for (const [field, title] of Object.entries(titles)) expect(titleOf(field)).to.equal(title);
  });

  it("is the declared one if there is one, and empty for a bar", () => {
    expect(titleOf(["createdAt", "When"])).to.equal("When");
    expect(titleOf({ title: "Rate", value: () => null })).to.equal("Rate");
    expect(titleOf({ bar: "volume" })).to.equal("");
  });
});

describe("a column's cell", () => {
  it("shows null and empty values as a dash, booleans as yes or no, and lists with commas", () => {
    expect(shown("paidAt")).to.equal("-");
    expect(shown("scopes", { ...item, scopes: [] })).to.equal("-");
    expect(shown("isWatched")).to.equal("yes");
    expect(shown("isWatched", { ...item, isWatched: false })).to.equal("no");
    expect(shown("count")).to.equal("3");
    expect(shown("scopes")).to.equal("read, write");
    expect(shown("scopes", item, ",")).to.equal("read,write");
  });

  it("shows an amount with its unit, and a missing amount as a dash", () => {
    expect(shown("amount tokenSymbol")).to.equal("24.00 USDT");
    expect(shown(["amount tokenSymbol", "Total"])).to.equal("24.00 USDT");
    expect(shown("amount tokenSymbol", { ...item, amount: null })).to.equal("-");
  });

  it("replaces control characters and line breaks, also within a list", () => {
    const hostile = { ...item, tokenSymbol: "a\u001b[2J\nb", scopes: ["x\ny", "\u202ez"] };
    expect(shown("tokenSymbol", hostile)).to.equal("a\ufffd[2J b");
    expect(shown("scopes", hostile)).to.equal("x y, \ufffdz");
  });

  it("can only name a field that the record has and a column can show", () => {
    // @ts-expect-error -- the record has no such field
    const misspelled: Column<Item> = "amonut";
    // @ts-expect-error -- a record within the record is not a value
    const nested: Column<Item> = "wallet";
    // @ts-expect-error -- the second field must be a unit
    const pair: Column<Item> = "amount paidAt";
    expect([misspelled, nested, pair]).to.have.lengthOf(3);
  });
});
