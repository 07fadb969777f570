import { expect } from "chai";
import {
  customerTexts,
  isFoundCustomer,
  searchCustomers,
  writeCustomerTerms,
  type CustomerText,
} from "../../../src/features/customers/search.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { searchQuery } from "../../../src/kernel/search.ts";
import type { Reader, Tx } from "../../../src/platform/database/index.ts";

const customer = (id: string, name: string, email: string | null = null): CustomerText => ({
  id: id as Id<"customer">,
  name,
  email,
});

/** A reader with customers by a word of their name, by their address, and with texts. */
function readerOf(
  named: readonly string[],
  addressed: readonly string[],
  texts: readonly CustomerText[],
) {
  const asked: string[] = [];
  const limits: unknown[] = [];
  const all = (sql: string, values: readonly unknown[]) => {
    const isOf = (part: string) => sql.includes(part);
    const kind = isOf("customer_terms") ? "named" : isOf("email >=") ? "addressed" : "texts";
    asked.push(kind);
    if (kind === "texts") return Promise.resolve(texts);
    limits.push(values.at(-1));
    return Promise.resolve((kind === "named" ? named : addressed).map((id) => ({ id })));
  };
  return { reader: { dialect: "sqlite", all } as unknown as Reader, asked, limits };
}

describe("The search for customers", () => {
  it("finds them by words of the name or the beginning of the e-mail address", () => {
    const grace = customer("cus_1", "Grace Hopper", "grace@navy.example");
    for (const [text, isFound] of [
      ["hop gra", true],
      ["grace@navy", true],
      ["GRACE@navy.example", true],
      ["navy", false],
      ["hopper ada", false],
      ["@", false],
    ] as const) {
      expect(isFoundCustomer(grace, searchQuery(text)), text).to.equal(isFound);
    }
    expect(isFoundCustomer(customer("cus_2", "Ada"), searchQuery("ad"))).to.equal(true);
    expect(isFoundCustomer(customer("cus_2", "Ada"), searchQuery("bo"))).to.equal(false);
  });

  it("checks each candidate once, and leaves out those that do not match or are gone", async () => {
    const texts = [customer("cus_1", "Grace Hopper"), customer("cus_2", "Ada", "grace@b.example")];
    const { reader, limits } = readerOf(
      ["cus_1", "cus_4"],
      ["cus_2", "cus_1", "cus_3"],
      [...texts, customer("cus_3", "Bo")],
    );
    const found = await searchCustomers(reader, "org_1", searchQuery("grace"), 10);
    expect(found).to.deep.equal(["cus_1", "cus_2"]);
    // One more than is looked at, to know whether there are more.
    expect(limits).to.deep.equal([11, 11]);
  });

  it("has no result if there are more candidates than are looked at", async () => {
    const texts = ["1", "2", "3"].map((id) => customer(id, "Grace"));
    const search = (most: number) =>
      searchCustomers(
        readerOf(["1", "2"], ["2", "3"], texts).reader,
        "org_1",
        searchQuery("grace"),
        most,
      );
    expect(await search(3)).to.have.length(3);
    expect(await search(2)).to.equal(null);
  });

  it("looks for no word if the query has none, and for no texts without candidates", async () => {
    const { reader, asked } = readerOf([], [], []);
    expect(await searchCustomers(reader, "org_1", searchQuery("@"), 3)).to.deep.equal([]);
    expect(asked).to.deep.equal(["addressed"]);
    expect(await customerTexts(reader, [])).to.deep.equal(new Map());
    expect(asked).to.have.length(1);
  });

  it("stores the words of a name that has changed", async () => {
    const done: string[] = [];
    const tx = {
      dialect: "sqlite",
      run: (_sql: string, values: readonly unknown[]) =>
        Promise.resolve(done.push(`- ${String(values[2])}`)),
      insertMany: (_table: unknown, rows: readonly { readonly term: string }[]) =>
        Promise.resolve(done.push(`+ ${rows.map(({ term }) => term).join()}`)),
    } as unknown as Tx;
    const write = async (name: string, before: string | null) => {
      const row = { organizationId: "org_1", id: "cus_1", name } as const;
      await writeCustomerTerms(tx, row, before);
      return done.splice(0);
    };
    expect(await write("Grace Hopper", null)).to.deep.equal(["+ grace,hopper"]);
    expect(await write("Grace", "Grace Hopper")).to.deep.equal(['- ["grace","hopper"]', "+ grace"]);
    expect(await write("Grace", "Grace")).to.deep.equal([]);
    expect(await write("-", "Grace")).to.deep.equal(['- ["grace"]']);
  });
});
