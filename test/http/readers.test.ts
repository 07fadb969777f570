import { expect } from "chai";
import { allOperations } from "../../src/features/index.ts";
import { keyOf } from "../support/app.ts";
import { eachStore } from "../support/store/stores.ts";
import { openEstate, type Estate } from "./estate.ts";
import { callExample, exampleOf } from "./examples.ts";

const reads = allOperations.filter(
  ({ method, access }) => method === "GET" && access.kind === "organization",
);

eachStore("a key that makes no invoices", (store) => {
  let estate: Estate;
  /** The paths of the issued invoice, and of the event of its issue. */
  let issued: readonly string[];
  before(async () => {
    estate = await openEstate(store);
    const { id } = await estate.post("/invoices", {
      amount: "25.00",
      settlementCurrency: "USD",
      tokenSymbol: "USDT",
      network: "sandbox",
      metadata: { checkoutId: "mine" },
    });
    const home = estate.owner.path;
    // The example of a list of events has them relayed.
    const listing = allOperations.find((operation) => operation.id === "listEvents");
    if (listing !== undefined) await exampleOf(listing, estate);
    const events = await estate.counter.list(estate.owner, "/events?limit=100");
    const made = events.find(({ data }) => (data as { readonly id?: string }).id === id);
    issued = [`${home}/invoices/${String(id)}`, `${home}/events/${String(made?.["id"])}`];
  });
  after(() => estate.stop());

  /** Returns the answers to every read of the organization's as text, by operation; refusals are left out. */
  async function readAll(key: string): Promise<Map<string, string>> {
    const answers = new Map<string, string>();
    for (const operation of reads) {
      const example = await exampleOf(operation, estate);
      const answer = await callExample(operation, estate, example, { credential: { key } });
      if (answer.status === 200) answers.set(operation.id, answer.text);
    }
    for (const path of issued) {
      const answer = await estate.app.request("GET", path, { key });
      expect(answer.status, path).to.equal(200);
      answers.set(path, answer.text);
    }
    return answers;
  }

  const showing = (answers: ReadonlyMap<string, string>) =>
    [...answers].filter(([, text]) => /chk_/.test(text)).map(([id]) => id);

  it("learns the id of no checkout, in any record, list, event or export", async () => {
    const { app, owner } = estate;
    const shown = showing(await readAll(await keyOf(app, owner, "write")));
    expect(shown).to.include.members([...issued, "listInvoices", "listEvents"]);
    for (const scopes of [["read"], ["read", "webhooks", "payments:decide", "refunds"]]) {
      const answers = await readAll(await keyOf(app, owner, ...scopes));
      expect([...answers.keys()]).to.include.members(shown);
      expect(showing(answers), scopes.join()).to.deep.equal([]);
    }
  });

  it("sees the merchant's own fields of these names", async () => {
    const { app, owner } = estate;
    const path = `${owner.path}/invoices?limit=1`;
    const key = await keyOf(app, owner, "read");
    const { body } = await app.request("GET", path, { key });
    expect((body["data"] as object[])[0]).to.deep.include({
      checkoutId: null,
      checkoutUrl: null,
      metadata: { checkoutId: "mine" },
    });
  });

  it("is unlike a shop's key and a person, who see the page that they send payers to", async () => {
    const { app, owner } = estate;
    const path = `${owner.path}/invoices?limit=1`;
    for (const credential of [
      { key: await keyOf(app, owner, "shop") },
      { key: await keyOf(app, owner, "invoices") },
      { token: owner.token },
    ]) {
      const { body } = await app.request("GET", path, credential);
      const [invoice] = body["data"] as { readonly checkoutUrl: string }[];
      expect(invoice?.checkoutUrl).to.match(/\/pay\/chk_/);
    }
  });
});
