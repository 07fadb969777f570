// Batches of invoices over HTTP: every invoice has its own result, and a batch can be repeated.
import { expect } from "chai";
import { waitingMax } from "../../../../src/features/invoices/batches/batch.ts";
import {
  approvedMerchant,
  eachServed,
  expectStatus,
  keyOf,
  register,
  type Answer,
  type Merchant,
} from "../../../support/app.ts";
import { xpubs } from "../../../support/merchants.ts";
import { takeTurns, testContext } from "../../../support/store/stores.ts";

const priced = { settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" };
const callers = 64;

interface Result {
  readonly index: number;
  readonly externalId: string | null;
  readonly outcome: "created" | "existing" | "refused";
  readonly invoice: Record<string, unknown> | null;
  readonly problem: {
    readonly code: string;
    readonly status: number;
    readonly requestId: string;
    readonly errors: readonly { readonly pointer: string }[];
  } | null;
}

let made = 0;
const order = (externalId: string, more: object = {}) => ({
  amount: "25.00",
  ...priced,
  externalId,
  ...more,
});
const orders = (count: number, name = "order", more: object = {}) =>
  Array.from({ length: count }, (_, place) => order(`${name}-${String(place)}`, more));

eachServed("batches of invoices", (served) => {
  const it = takeTurns(served.store);
  let shop: Merchant;
  let path: string;
  let ownWallet: string;

  beforeEach(async () => {
    shop = await approvedMerchant(served.app);
    ({ path } = shop);
    made += 1;
    const address = `0x${made.toString(16).padStart(40, "b")}`;
    ownWallet = String((await shop.addWallet({ address }))["id"]);
    await shop.issue(order("scanned", { draft: false }));
  });

  const create = (body: object): Promise<Answer> => shop.post("/invoices", body);
  const post = (invoices: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    served.app.request("POST", `${path}/invoices/batch`, {
      key: shop.key,
      headers,
      body: { invoices },
    });
  async function batch(invoices: unknown, headers?: Record<string, string>): Promise<Result[]> {
    const { body } = await expectStatus(post(invoices, headers), 200);
    return body["results"] as Result[];
  }
  const outcomes = (results: readonly Result[]) =>
    results.map(({ outcome, problem }) => problem?.code ?? outcome);
  async function stored(): Promise<number> {
    const [row] = await served.app.app.db.all<{ count: number }>(
      `SELECT COUNT(*) AS "count" FROM invoices WHERE organization_id = $1 AND external_id <> 'scanned'`,
      [shop.organizationId],
    );
    return row?.count ?? 0;
  }

  it.onBoth(
    "create a hundred invoices in the order of the request, each with its own amount and checkout",
    async () => {
      const results = await batch(orders(100));
      expect(results.map(({ index }) => index)).to.deep.equal([...results.keys()]);
      expect(new Set(outcomes(results))).to.deep.equal(new Set(["created"]));
      const invoices = results.map(({ invoice }) => invoice ?? {});
      expect(invoices.map(({ externalId }) => externalId)).to.deep.equal(
        orders(100).map(({ externalId }) => externalId),
      );
      expect(new Set(invoices.map(({ payableAmount }) => payableAmount)).size).to.equal(100);
      expect(new Set(invoices.map(({ checkoutId }) => checkoutId)).size).to.equal(100);
      expect(invoices.map(({ id }) => String(id))).to.deep.equal(
        invoices.map(({ id }) => String(id)).sort(),
      );
      const [first] = invoices;
      const read = await served.app.request("GET", `${path}/invoices/${String(first?.["id"])}`, {
        key: shop.key,
      });
      expect(read.body).to.deep.equal(first);
      const entries = await served.app.app.db.all(
        "SELECT id FROM audit_logs WHERE organization_id = $1 AND action = 'invoice.created'",
        [shop.organizationId],
      );
      expect(entries).to.have.length(101);
    },
  );

  it.onBoth("refuse each invoice for its own reason and create the others", async () => {
    const results = await batch([
      order("good"),
      order("large", { amount: "1000000000000.01" }),
      order("decimals", { amount: "1.001" }),
      order("token", { tokenSymbol: "XYZ" }),
      { ...priced, amount: "5.00" },
      order("unknown field", { colour: "red" }),
      "not an object",
      order("customer", { customerId: "cus_01kq3v5m8w2f6n9r4t7x0z1c3e" }),
      order("wallet", { walletId: "wal_01kq3v5m8w2f6n9r4t7x0z1c3e" }),
      order("draft", { draft: true }),
      order("good"),
      order("good", { amount: "26.00" }),
      order("scanned", { amount: "26.00" }),
    ]);
    expect(outcomes(results)).to.deep.equal([
      ...["created", "amount_too_large", "invalid_request", "token_not_enabled"],
      ...["invalid_request", "invalid_request", "invalid_request", "not_found", "not_found"],
      ...["created", "existing", "external_id_conflict", "external_id_conflict"],
    ]);
    const pointers = results.map(({ problem }) => problem?.errors[0]?.pointer);
    expect(pointers.slice(2, 7)).to.deep.equal([
      ...["/amount", undefined, "/externalId", "/colour", ""],
    ]);
    expect(results.map(({ externalId }) => externalId).slice(4, 7)).to.deep.equal([
      ...[null, "unknown field", null],
    ]);
    expect(results[10]?.invoice).to.deep.equal(results[0]?.invoice);
    expect(results[9]?.invoice).to.include({ status: "draft", checkoutUrl: null });
    expect(await stored()).to.equal(2);
  });

  it.onBoth("refuse text and names that no field may have only for their own invoice", async () => {
    const named = (text: string) => JSON.parse(text) as object;
    const asked = [
      order("nul", { description: "a\u0000b" }),
      order("surrogate", { description: "a\ud800" }),
      order("prototype", named('{"__proto__": {"draft": true}}')),
      order("deep prototype", { metadata: named('{"__proto__": "x", "a\\u0000": "y"}') }),
      order("a\ud800"),
      "a\u0000",
      order("good"),
    ];
    const headers = { "idempotency-key": "strange text" };
    const results = await batch(asked, headers);
    expect(outcomes(results)).to.deep.equal([
      ...Array<string>(6).fill("invalid_request"),
      "created",
    ]);
    expect(results.map(({ externalId }) => externalId)).to.deep.equal([
      ...["nul", "surrogate", "prototype", "deep prototype", null, null, "good"],
    ]);
    const pointers = results.map(({ problem }) => problem?.errors[0]?.pointer);
    expect(pointers.slice(0, 3)).to.deep.equal(["/description", "/description", "/__proto__"]);
    expect(await batch(asked, headers)).to.deep.equal(results);
    expect(Object.keys(Object.prototype)).to.deep.equal([]);
    const outside = await served.app.request("POST", `${path}/invoices/batch`, {
      key: shop.key,
      body: named('{"invoices": [], "__proto__": {}}'),
    });
    expect(outside).to.have.nested.property("body.errors[0].pointer", "/__proto__");
    let deep: unknown = "x";
    for (let level = 0; level < 1_000; level += 1) deep = [deep];
    expect(await post([deep])).to.have.nested.property("body.errors[0].code", "too_deep");
    expect(await stored()).to.equal(1);
  });

  it("say that an earlier invoice of the batch has the externalId, even if that one was refused", async () => {
    const unknown = { customerId: "cus_01kq3v5m8w2f6n9r4t7x0z1c3e" };
    const results = await batch([order("same", unknown), order("same"), order("same", unknown)]);
    expect(outcomes(results)).to.deep.equal(["not_found", "external_id_conflict", "not_found"]);
    expect(results[1]?.problem).to.have.property("detail").that.includes("index 0 of this batch");
  });

  it("refuse a request without invoices, with more than a hundred, or with a body that is too large", async () => {
    expect(await post([])).to.have.property("status", 400);
    const many = await post(orders(101));
    expect(many).to.have.property("status", 400);
    expect(many.body["errors"]).to.have.nested.property("[0].pointer", "/invoices");
    const metadata = { note: "x".repeat(500), other: "y".repeat(500), third: "z".repeat(500) };
    const long = { metadata, description: "d".repeat(2_000) };
    expect(await post(orders(100, "large", long))).to.have.property("status", 413);
    expect(await stored()).to.equal(0);
  });

  it("require the permission to write invoices, and hide other organizations", async () => {
    const body = { invoices: orders(1) };
    const call = (caller: object) =>
      served.app.request("POST", `${path}/invoices/batch`, { body, ...caller });
    const stranger = await register(served.app);
    expect(await call({ token: stranger.token })).to.have.property("status", 404);
    expect(await call({})).to.have.property("status", 401);
    const reader = await keyOf(served.app, shop, "read");
    expect(await call({ key: reader })).to.have.property("status", 403);
    expect(await call({ token: shop.token })).to.have.property("status", 200);
  });

  it("answer every invoice of an unapproved organization with the reason, except drafts", async () => {
    const person = await register(served.app);
    const target = `${person.path}/invoices/batch`;
    const body = { invoices: [order("a"), order("b", { draft: true }), order("c")] };
    const answer = await served.app.request("POST", target, { token: person.token, body });
    const results = answer.body["results"] as Result[];
    expect(outcomes(results)).to.deep.equal([
      ...["organization_not_verified", "created", "organization_not_verified"],
    ]);
  });

  it.onBoth("replay the whole response for an Idempotency-Key, byte for byte", async () => {
    const headers = { "idempotency-key": "batch one" };
    const asked = [...orders(3), order("large", { amount: "1000000000000.01" })];
    const first = await expectStatus(post(asked, headers), 200);
    const second = await expectStatus(post(asked, headers), 200);
    expect(second.text).to.equal(first.text);
    expect(second.headers.get("Idempotent-Replayed")).to.equal("true");
    expect(first.headers.get("Idempotent-Replayed")).to.equal(null);
    const other = await post(orders(2), headers);
    expect([other.status, other.body["code"]]).to.deep.equal([422, "idempotency_key_reused"]);
    expect(await stored()).to.equal(3);
  });

  it.onBoth(
    "return the existing invoices when they are repeated without the key, or as single requests",
    async () => {
      const single = await expectStatus(create(order("order-1")), 201);
      const first = await batch(orders(3));
      expect(outcomes(first)).to.deep.equal(["created", "existing", "created"]);
      expect(first[1]?.invoice).to.deep.equal(single.body);
      const again = await batch(orders(4));
      expect(outcomes(again)).to.deep.equal(["existing", "existing", "existing", "created"]);
      expect(again.slice(0, 3).map(({ invoice }) => invoice)).to.deep.equal(
        first.map(({ invoice }) => invoice),
      );
      const replayed = await expectStatus(create(order("order-2")), 201);
      expect(replayed.headers.get("Idempotent-Replayed")).to.equal("true");
      expect(replayed.body).to.deep.equal(first[2]?.invoice);
    },
  );

  it.onBoth(
    `create each invoice once for ${String(callers)} callers, as many at a time as may wait`,
    async () => {
      // Each batch shares half of its invoices with the next one, in the opposite order.
      const waiting = [...Array(callers).keys()];
      const answers: Result[][] = [];
      const send = (caller: number) => {
        if (caller % 8 === 7) return batch(orders(1, `shared-${String(caller % 4)}`));
        const own = orders(5, `own-${String(caller)}`);
        const shared = orders(5, `shared-${String(caller % 4)}`);
        return batch(caller % 2 === 0 ? [...own, ...shared] : [...shared.reverse(), ...own]);
      };
      const sender = async () => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          answers.push(await send(next));
        }
      };
      // One runs and the others wait; a further one would be refused.
      await Promise.all(Array.from({ length: 1 + waitingMax }, sender));
      const results = answers.flat();
      expect(results.filter(({ outcome }) => outcome === "refused")).to.deep.equal([]);
      const created = results.filter(({ outcome }) => outcome === "created");
      const ids = new Map(created.map(({ externalId, invoice }) => [externalId, invoice?.["id"]]));
      expect(ids.size).to.equal(created.length);
      expect(await stored()).to.equal(created.length);
      for (const { externalId, invoice } of results) {
        expect(invoice?.["id"]).to.equal(ids.get(externalId));
      }
    },
  );

  it("refuse batches at once while eight of the organization are waiting, and create nothing for them", async () => {
    const others = await approvedMerchant(served.app);
    const answers = await Promise.all([
      ...Array.from({ length: 64 }, (_, place) => post(orders(1, `crowd-${String(place)}`))),
      others.post("/invoices/batch", { invoices: [order("a", { draft: true })] }),
    ]);
    expect(answers.pop()).to.have.property("status", 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).not.to.have.length(0);
    for (const { headers, body } of refused) {
      expect([body["code"], headers.get("Retry-After")]).to.deep.equal(["rate_limited", "1"]);
    }
    expect(await stored()).to.equal(64 - refused.length);
    expect(await stored()).to.be.at.least(9);
    expect(outcomes(await batch(orders(1, "later")))).to.deep.equal(["created"]);
  });

  it.onBoth(
    "give a batch and single requests that run at the same time distinct amounts",
    async () => {
      const singles = Array.from({ length: 20 }, (_, place) =>
        expectStatus(create(order(`single-${String(place)}`)), 201),
      );
      const batches = Array.from({ length: 3 }, (_, place) =>
        batch(orders(20, `b${String(place)}`)),
      );
      const amounts = [
        ...(await Promise.all(singles)).map(({ body }) => body["payableAmount"]),
        ...(await Promise.all(batches)).flat().map(({ invoice }) => invoice?.["payableAmount"]),
      ];
      expect(new Set(amounts).size).to.equal(80);
    },
  );

  it("answer the invoices for which the wallet has no free amount, and create the others", async () => {
    const few = (count: number, name: string) => orders(count, name, { amount: "0.02" });
    // At this price the wallet can tell few invoices apart.
    const results = (
      await Promise.all([batch(few(100, "f0")), batch(few(100, "f1")), batch(few(100, "f2"))])
    ).flat();
    const full = results.filter(({ problem }) => problem?.code === "wallet_capacity_exhausted");
    expect(full).not.to.have.length(0);
    const created = results.filter(({ outcome }) => outcome === "created");
    // 1 % of the price in the token's smallest unit, and the price itself.
    expect(created).to.have.length(201);
    expect(full).to.have.length(99);
    expect(await stored()).to.equal(created.length);
    expect(outcomes(await batch([...few(1, "g"), order("other price")]))).to.deep.equal([
      ...["wallet_capacity_exhausted", "created"],
    ]);
  });

  it.onBoth(
    "take the last addresses of an extended key, and the amounts of another wallet for the rest",
    async () => {
      const { id: walletId } = await shop.addWallet({ xpub: xpubs.first });
      await expectStatus(
        served.app.request("PUT", `${path}/default-wallets/sandbox`, {
          token: shop.token,
          body: { walletId, reserveWalletIds: [ownWallet] },
        }),
        200,
      );
      // An extended key has 2^31 addresses.
      await served.app.app.db.write(testContext, (tx) =>
        tx.run(
          "UPDATE wallet_claims SET next_index = 2147483646 WHERE kind = 'xpub' AND organization_id = $1",
          [shop.organizationId],
        ),
      );
      const results = await batch(orders(5));
      expect(outcomes(results)).to.deep.equal(Array<string>(5).fill("created"));
      const invoices = results.map(({ invoice }) => invoice ?? {});
      const isAtKey = (invoice: Record<string, unknown>) => invoice["walletId"] === walletId;
      expect(invoices.map(isAtKey)).to.deep.equal([true, true, false, false, false]);
      expect(new Set(invoices.map(({ walletAddress }) => walletAddress)).size).to.equal(3);
      const atKey = { walletId };
      expect(outcomes(await batch(orders(2, "late", atKey)))).to.deep.equal([
        ...["wallet_capacity_exhausted", "wallet_capacity_exhausted"],
      ]);
      const single = await create(order("single", atKey));
      expect(single.body).to.have.property("code", "wallet_capacity_exhausted");
    },
  );
});
