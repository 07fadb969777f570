// The search for customers: which of them a query matches, and the candidates that the store finds for it.
import { expect } from "chai";
import type { App } from "../../../src/app.ts";
import {
  createCustomer,
  customerTerms,
  isFoundCustomer,
  searchCustomers,
  updateCustomer,
  type CustomerText,
} from "../../../src/features/customers/customers.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { searchQuery } from "../../../src/kernel/search.ts";
import type { Database, Reader } from "../../../src/platform/database/database.ts";
import { appOf } from "../../support/context.ts";
import { addOrganization } from "../../support/merchants.ts";
import { anyStore, testContext, whileBroken } from "../../support/store/stores.ts";

const at = Date.UTC(2031, 0, 31);

describe("A query for customers", () => {
  it("matches words of the name or the beginning of the e-mail address", () => {
    const customer = (name: string, email: string | null = null): CustomerText => ({
      id: "cus_1",
      name,
      email,
    });
    const grace = customer("Grace Hopper", "grace@navy.example");
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
    expect(isFoundCustomer(customer("Ada"), searchQuery("ad"))).to.equal(true);
    expect(isFoundCustomer(customer("Ada"), searchQuery("bo"))).to.equal(false);
  });
});

anyStore("The search for customers", (store) => {
  let db: Database;
  let shop: Id<"organization">;
  let app: App;
  before(async () => {
    db = await store.open();
    app = appOf({ db, clock: { now: () => at } });
  });
  beforeEach(async () => {
    shop = await addOrganization(db, app.ids, at);
  });

  const add = async (name: string, email: string | null = null, owner = shop) =>
    (await createCustomer(app, testContext, owner, { name, email })).id;
  const search = (text: string, most = 10, reader: Reader = db) =>
    searchCustomers(reader, shop, searchQuery(text), most);

  it("returns each customer once, and none that lacks a word, is another organization's or does not exist", async () => {
    const grace = await add("Grace Hopper", "grace hopper@navy.example");
    const other = await add("Hopper, Grace M.");
    const addressed = await add("Ada", "grace hopper@b.example");
    await add("Ada Hopper");
    await add("Grace Hopper", null, await addOrganization(db, app.ids, at));
    expect(await search("grace hopper")).to.have.members([grace, other, addressed]);
    const term = { organizationId: shop, term: "hopper", customerId: app.ids.next("customer", at) };
    const found = await whileBroken(
      db,
      (tx) => tx.insert(customerTerms, term),
      (reader) => search("grace hopper", 10, reader),
    );
    expect(found).to.have.length(3);
  });

  it("has no result if more customers than the limit could match, by name, by address or by both", async () => {
    for (const name of ["Anna Ada", "Anna Bo", "Anna Cy"]) await add(name);
    for (const name of ["Ada", "Bo", "Cy"]) await add(name, `kim@${name}.example`);
    await add("Eve Ada");
    await add("Eve Bo", "eve@b.example");
    await add("Cy", "eve@c.example");
    for (const text of ["anna", "kim@", "eve"]) {
      expect(await search(text, 3), text).to.have.length(3);
      expect(await search(text, 2), text).to.equal(null);
    }
  });

  it("compares a query without words with addresses only", async () => {
    await add("Grace", "grace@navy.example");
    expect(await search("@")).to.deep.equal([]);
  });

  it("knows the words of a customer's present name, and keeps those of the others", async () => {
    await add("Grace");
    const id = await add("Grace Hopper");
    const words = async () => {
      const rows = await db.find(customerTerms, "WHERE customer_id = $1 ORDER BY term", [id]);
      return rows.map(({ term }) => term);
    };
    const rename = (name: string) =>
      updateCustomer(app, testContext, shop, id, { name }, () => undefined);
    expect(await words()).to.deep.equal(["grace", "hopper"]);
    await rename("Grace");
    expect(await words()).to.deep.equal(["grace"]);
    await updateCustomer(app, testContext, shop, id, { email: "g@b.example" }, () => undefined);
    expect(await words()).to.deep.equal(["grace"]);
    await rename("-");
    expect(await words()).to.deep.equal([]);
    expect(await search("grace")).to.have.length(1);
  });
});
