// The list of invoices over HTTP on both databases: each filter, combinations of filters, the sort orders, and pages
// that end early.
import { expect } from "chai";
import { invoices, invoiceTerms } from "../../../src/features/invoices/table.ts";
import { metadataTerm } from "../../../src/kernel/search.ts";
import { examinedMax } from "../../../src/platform/database/query/facets.ts";
import { pointersOf } from "../../http/problem.ts";
import { expectStatus, type Answer, type Json, type Merchant } from "../../support/app.ts";
import { xpubs } from "../../support/merchants.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { openCounter, type Counter } from "../../support/counter.ts";

eachStore("the search for invoices", (store) => {
  store.leavesUnsound({ checks: "all", because: "a crowd of invoices is copied by SQL" });
  let counter: Counter;
  let owner: Merchant;
  let customerId: string;
  /** The invoices by name, in the order of their creation. */
  const made = new Map<string, Json>();
  let hash: string;

  const ask = (query: Record<string, string>, who = owner): Promise<Answer> =>
    counter.app.request(
      "GET",
      `/v1/organizations/${who.organizationId}/invoices?${new URLSearchParams(query).toString()}`,
      { key: who.key },
    );
  const nameOf = (invoice: Json): string =>
    [...made].find(([, { id }]) => id === invoice["id"])?.[0] ?? String(invoice["id"]);

  /** Returns the names of the listed invoices, in order. */
  async function find(query: Record<string, string>): Promise<string[]> {
    const answer = await ask(query);
    expect(answer.status, answer.text).to.equal(200);
    return (answer.body["data"] as Json[]).map(nameOf);
  }

  async function issue(name: string, input: Json): Promise<void> {
    counter.app.clock.advance(1_000);
    made.set(name, await counter.issue(owner, input));
  }

  before(async () => {
    counter = await openCounter(store);
    owner = await counter.merchant();
    const wallet = await counter.wallet(owner);
    const other = await counter.wallet(owner);
    const wallets = await counter.list(owner, "/wallets");
    const idAt = (address: string) =>
      wallets.find((each) => String(each["address"]).toLowerCase() === `0x${address}`)?.["id"];
    const customer = { name: "Ada Lovelace", email: "ada@example.com" };
    customerId = String((await counter.post(owner, "/customers", customer)).body["id"]);
    await issue("plain", { walletId: idAt(wallet), amount: "30.00" });
    await issue("described", {
      walletId: idAt(wallet),
      amount: "9.00",
      externalId: "Order-1001",
      description: "Two T-shirts, 50% off_sale (ÉTÉ)",
    });
    await issue("customer's", { walletId: idAt(other), amount: "100.00", customerId });
    await issue("marked", {
      walletId: idAt(other),
      tokenSymbol: "USDC",
      amount: "30.00",
      metadata: { channel: "web", "a:b": "c=d" },
    });
    await issue("draft", { draft: true, description: "two dozen", externalId: "order-2" });
    await issue("paid", { walletId: idAt(wallet), amount: "77.00" });
    hash = await counter.pay(wallet, 77_000_000n);
    await counter.mine(4);
  });
  after(() => counter.stop());

  it("filters by each field, and by several at once", async () => {
    const [wallet, address] = ["walletId", "walletAddress"].map((field) =>
      String(made.get("customer's")?.[field]),
    ) as [string, string];
    const otherWallet = String(made.get("paid")?.["walletId"]);
    const cases: readonly (readonly [Record<string, string>, readonly string[]])[] = [
      [{ status: "draft" }, ["draft"]],
      [{ status: "paid,draft" }, ["paid", "draft"]],
      [{ status: "paid,draft,paid" }, ["paid", "draft"]],
      [{ network: "sandbox", status: "paid" }, ["paid"]],
      [{ network: "tron" }, []],
      [{ tokenSymbol: "USDC" }, ["marked"]],
      [{ settlementCurrency: "EUR" }, []],
      [{ walletId: wallet }, ["marked", "customer's"]],
      [{ walletAddress: address }, ["marked", "customer's"]],
      [{ walletAddress: address.toLowerCase(), tokenSymbol: "USDT" }, ["customer's"]],
      [{ walletAddress: address, walletId: wallet }, ["marked", "customer's"]],
      [{ walletAddress: address, walletId: otherWallet }, []],
      [{ walletId: wallet, status: "paid" }, []],
      [{ customerId }, ["customer's"]],
      [{ customerId, status: "open", network: "sandbox" }, ["customer's"]],
      [{ externalId: "order-1001" }, []],
      [{ externalId: "Order-1001" }, ["described"]],
      [{ transactionHash: `0x${hash}` }, ["paid"]],
      [{ transactionHash: "0".repeat(64) }, []],
      [{ transactionHash: hash, status: "open" }, []],
      [{ metadataKey: "channel", metadataValue: "web" }, ["marked"]],
      [{ metadataKey: "a:b", metadataValue: "c=d" }, ["marked"]],
      [{ metadataKey: "a", metadataValue: "b:c=d" }, []],
      [{ metadataKey: "channel", metadataValue: "we" }, []],
      [{ metadataKey: "channel", metadataValue: "web", status: "paid" }, []],
    ];
    for (const [query, names] of cases) {
      expect(await find(query), JSON.stringify(query)).to.deep.equal(names);
    }
  });

  it("finds an invoice by the address that it alone has, with other filters too", async () => {
    const other = await counter.merchant();
    const wallet = { network: "sandbox", label: "Own addresses", xpub: xpubs.first };
    await expectStatus(counter.post(other, "/wallets", wallet), 201);
    const [one, two] = [await counter.issue(other, {}), await counter.issue(other, {})];
    const idsAt = async (query: Record<string, string>) => {
      const answer = await ask({ walletAddress: String(two["walletAddress"]), ...query }, other);
      return (answer.body["data"] as Json[]).map(({ id }) => id);
    };
    expect(await idsAt({})).to.deep.equal([two["id"]]);
    expect(await idsAt({ tokenSymbol: "USDT" })).to.deep.equal([two["id"]]);
    expect(await idsAt({ tokenSymbol: "USDC" })).to.deep.equal([]);
    expect(await idsAt({ walletAddress: String(one["walletAddress"]) })).to.deep.equal([one["id"]]);
    expect(await idsAt({ walletId: String(two["walletId"]) })).to.deep.equal([two["id"]]);
  });

  it("finds no draft by the address of the wallet that it names", async () => {
    const other = await counter.merchant();
    const address = await counter.wallet(other);
    const [wallet] = await counter.list(other, "/wallets");
    const issued = await counter.issue(other, {});
    const draft = await counter.issue(other, { draft: true, walletId: wallet?.["id"] });
    const found = async (query: Record<string, string>) =>
      ((await ask(query, other)).body["data"] as Json[]).map(({ id }) => id);
    expect(await found({ walletAddress: `0x${address}` })).to.deep.equal([issued["id"]]);
    expect(await found({ walletId: String(wallet?.["id"]) })).to.deep.equal([
      draft["id"],
      issued["id"],
    ]);
  });

  it("searches for beginnings of words, in any case, and treats nothing as a pattern", async () => {
    const digits = String(made.get("plain")?.["publicId"]).slice("ipub_".length);
    const reference = `${digits.slice(0, 4)}-${digits.slice(4, 8)}`.toUpperCase();
    const cases: readonly (readonly [string, readonly string[]])[] = [
      [String(made.get("plain")?.["publicId"]), ["plain"]],
      // The reference that the payer quotes, also read from a screen or heard on the phone.
      [reference, ["plain"]],
      [reference.toLowerCase().replace("-", " "), ["plain"]],
      [reference.replace("-", "").replaceAll("0", "O").replaceAll("1", "l"), ["plain"]],
      [reference.slice(0, -1), []],
      ["ORDER-1", ["described"]],
      ["order", ["draft", "described"]],
      ["two", ["draft", "described"]],
      ["shirt TW", ["described"]],
      ["été", ["described"]],
      ["irts", []],
      ["love", ["customer's"]],
      ["lovelace ada", ["customer's"]],
      ["ADA@EXAMPLE", ["customer's"]],
      ["ada grace", []],
      ["%", []],
      ["_", []],
      ["*", []],
      ["' OR 1=1 --", []],
      ["50% off", ["described"]],
      ["ö\u{1F600}", []],
    ];
    for (const [search, names] of cases) {
      expect(await find({ search }), search).to.deep.equal(names);
    }
    expect(await find({ search: "two", status: "draft" })).to.deep.equal(["draft"]);
    expect(await find({ search: "two", sort: "createdAt" })).to.deep.equal(["described", "draft"]);
  });

  it("finds a draft and a customer by their new words, and no longer by the old ones", async () => {
    const patch = (path: string, body: Json) =>
      counter.app.request("PATCH", `/v1/organizations/${owner.organizationId}${path}`, {
        key: owner.key,
        body,
      });
    const draft = String(made.get("draft")?.["id"]);
    await patch(`/invoices/${draft}`, { description: "three dozen", metadata: { box: "1" } });
    await patch(`/customers/${customerId}`, { name: "Ada King" });
    expect(await find({ search: "three" })).to.deep.equal(["draft"]);
    expect(await find({ search: "dozen two" })).to.deep.equal([]);
    expect(await find({ metadataKey: "box", metadataValue: "1" })).to.deep.equal(["draft"]);
    expect(await find({ search: "king" })).to.deep.equal(["customer's"]);
    expect(await find({ search: "lovelace" })).to.deep.equal([]);
  });

  it("sorts by creation, payment and amount, both ways", async () => {
    const newest = [...made.keys()].reverse();
    expect(await find({})).to.deep.equal(newest);
    expect(await find({ sort: "createdAt" })).to.deep.equal([...made.keys()]);
    expect(await find({ sort: "-paidAt" })).to.deep.equal(["paid"]);
    const amounts = ["customer's", "paid", "marked", "plain", "draft", "described"];
    const usd = { settlementCurrency: "USD" };
    expect(await find({ ...usd, sort: "-amount" })).to.deep.equal(amounts);
    expect(await find({ ...usd, sort: "amount" })).to.deep.equal(amounts.toReversed());
    expect(await find({ ...usd, sort: "-amount", customerId })).to.deep.equal(["customer's"]);
    const paidAt = String(
      (await counter.get(owner, `/invoices/${String(made.get("paid")?.["id"])}`))["paidAt"],
    );
    expect(await find({ paidFrom: paidAt })).to.deep.equal(["paid"]);
    expect(await find({ paidTo: paidAt })).to.deep.equal([]);
    expect(await find({ ...usd, paidFrom: paidAt, sort: "amount" })).to.deep.equal(["paid"]);
    const createdFrom = String(made.get("marked")?.["createdAt"]);
    expect(await find({ ...usd, createdFrom, sort: "amount" })).to.deep.equal([
      ...["draft", "marked", "paid"],
    ]);
  });

  it("rejects queries that it cannot serve, and names the wrong parameter", async () => {
    const cases: readonly (readonly [Record<string, string>, readonly string[]])[] = [
      [{ status: "open,nothing" }, ["?status"]],
      [{ status: "" }, ["?status"]],
      [{ sort: "amount" }, ["?sort"]],
      [{ sort: "name" }, ["?sort"]],
      [{ sort: "createdAt", paidFrom: "2026-01-01T00:00:00Z" }, ["?sort"]],
      [{ metadataKey: "channel" }, ["?metadataValue"]],
      [{ metadataValue: "web" }, ["?metadataKey"]],
      [{ transactionHash: "0x12" }, ["?transactionHash"]],
      [{ walletAddress: "0x12" }, ["?walletAddress"]],
      [{ search: " " }, ["?search"]],
      [{ search: "x".repeat(101) }, ["?search"]],
      [{ network: "" }, ["?network"]],
      [{ paidFrom: "yesterday" }, ["?paidFrom"]],
    ];
    for (const [query, parameters] of cases) {
      expect(pointersOf(await ask(query)), JSON.stringify(query)).to.deep.equal(parameters);
    }
  });

  it("accepts a cursor only with the order and filters that produced it", async () => {
    const order = { settlementCurrency: "USD", sort: "-amount", limit: "2" };
    const cursor = String((await ask(order)).body["nextCursor"]);
    expect(await find({ ...order, cursor })).to.deep.equal(["marked", "plain"]);
    for (const other of [
      { ...order, sort: "amount" },
      { ...order, sort: "-createdAt" },
      { ...order, status: "open" },
      { ...order, search: "two" },
    ]) {
      expect(pointersOf(await ask({ ...other, cursor }))).to.deep.equal(["?cursor"]);
    }
    const forged = Buffer.from(cursor, "base64url")
      .toString()
      .replace(/\d+\.inv/, "x.inv");
    const answer = await ask({ ...order, cursor: Buffer.from(forged).toString("base64url") });
    expect(pointersOf(answer)).to.deep.equal(["?cursor"]);
  });

  it("returns nothing of another organization, whatever the query", async () => {
    const stranger = await counter.merchant();
    for (const query of [
      { search: "order" },
      { transactionHash: hash },
      { metadataKey: "channel", metadataValue: "web" },
      { customerId },
      { walletAddress: String(made.get("plain")?.["walletAddress"]) },
      { search: String(made.get("plain")?.["publicId"]) },
      { search: String(made.get("plain")?.["publicId"]).slice(5, 13) },
      { settlementCurrency: "USD", sort: "amount" },
    ] as readonly Record<string, string>[]) {
      expect((await ask(query, stranger)).body["data"], JSON.stringify(query)).to.deep.equal([]);
    }
  });

  it("filters payments by status, token, transaction, sender and time", async () => {
    const [payment] = await counter.list(owner, "/payments");
    const from = String(payment?.["fromAddress"]);
    const createdAt = String(payment?.["createdAt"]);
    for (const [query, count] of [
      [{ status: "confirming,confirmed" }, 1],
      [{ status: "confirmed,confirmed" }, 1],
      [{ status: "review" }, 0],
      [{ network: "sandbox", tokenSymbol: "USDT" }, 1],
      [{ tokenSymbol: "USDC" }, 0],
      [{ transactionHash: hash }, 1],
      [{ transactionHash: hash, status: "rejected" }, 0],
      [{ transactionHash: "0".repeat(64) }, 0],
      [{ fromAddress: from }, 1],
      [{ fromAddress: String(made.get("plain")?.["walletAddress"]) }, 0],
      [{ createdFrom: createdAt }, 1],
      [{ createdTo: createdAt }, 0],
      [{ invoiceId: String(made.get("paid")?.["id"]), status: "confirmed", sort: "createdAt" }, 1],
      [{ invoiceId: String(made.get("plain")?.["id"]) }, 0],
    ] as readonly (readonly [Record<string, string>, number])[]) {
      const text = new URLSearchParams(query).toString();
      expect(await counter.list(owner, `/payments?${text}`), text).to.have.length(count);
    }
  });

  it("ends a page early if each filter matches very many, without losing or repeating any", async () => {
    const crowd = examinedMax * 3;
    const { db, ids, clock } = counter.app.app;
    const [template] = await db.find(invoices, "WHERE id = $1", [
      String(made.get("plain")?.["id"]),
    ]);
    if (template === undefined) throw new Error("there is no template");
    const add = (number: number) =>
      db.write(testContext, async (tx) => {
        const rows = Array.from({ length: number }, (_, place) => ({
          ...template,
          id: ids.next("invoice", clock.now()),
          publicId: ids.unguessable("ipub"),
          checkoutId: ids.unguessable("chk"),
          // One in fifty matches both filters.
          description: place % 50 === 7 ? "rare bird" : "common bird",
          metadata: { kind: "crowd" },
        }));
        await tx.insertMany(invoices, rows);
        const terms = rows.flatMap(({ id, organizationId, description }) =>
          [...description.split(" ").map((word) => `d:${word}`), metadataTerm("kind", "crowd")].map(
            (term) => ({ organizationId, term, invoiceId: id }),
          ),
        );
        await tx.insertMany(invoiceTerms, terms);
      });
    await add(crowd);
    const query = { search: "bird rar", metadataKey: "kind", metadataValue: "crowd", limit: "7" };
    const none = { search: "bird zebra", metadataKey: "kind", metadataValue: "crowd", limit: "7" };
    async function walked(
      asked: Record<string, string>,
    ): Promise<{ found: string[]; pages: number }> {
      const found: string[] = [];
      let cursor: string | null = null;
      let pages = 0;
      do {
        const answer = await ask(cursor === null ? asked : { ...asked, cursor });
        expect(answer.status, answer.text).to.equal(200);
        found.push(...(answer.body["data"] as Json[]).map(({ id }) => String(id)));
        cursor = answer.body["nextCursor"] as string | null;
        pages += 1;
        if (pages === 2) await add(20);
      } while (cursor !== null);
      return { found, pages };
    }
    const { found } = await walked(query);
    expect(found).to.have.length(crowd / 50);
    expect(new Set(found)).to.have.property("size", found.length);
    expect((await walked(none)).found).to.deep.equal([]);
    const early = await walked({ ...query, search: "bird", customerId });
    expect(early.found).to.deep.equal([]);
    const common = await walked({ ...query, search: "bird", status: "open", limit: "100" });
    expect(common.found.length).to.be.at.least(crowd);
    expect(new Set(common.found)).to.have.property("size", common.found.length);
  });
});
