// Two servers on one store issue invoices at the same time, and want the same amounts.
import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { formatAddress } from "../../../src/platform/chain/evm/addresses.ts";
import { approvedMerchant, startApp, type TestApp } from "../../support/app.ts";
import { describeOnPostgres } from "../../support/store/describe-on-postgres.ts";
import { dropDatabase, freshDatabase } from "../../support/store/postgres.ts";
import { expectSoundPlace } from "../../support/store/expect-store-is-consistent.ts";

/** The number of invoices by each server and of each kind of price. */
const each = 40;

describeOnPostgres("invoices that two servers issue at the same time", () => {
  let url: string;
  let servers: readonly TestApp[];
  let key: string;
  let path: string;

  beforeEach(async () => {
    url = await freshDatabase();
    const place = { url };
    const settings = { TILL_SANDBOX_BLOCK_MS: "1000" };
    servers = [await startApp({ place, settings }), await startApp({ place, settings })];
    const [first] = servers;
    if (first === undefined) throw new Error("no server");
    const merchant = await approvedMerchant(first);
    ({ key, path } = merchant);
    const address = formatAddress("1234567890abcdef1234567890abcdef12345678");
    await merchant.addWallet({ address });
    await merchant.issue({ amount: "7.00" });
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await expectSoundPlace({ url });
    await dropDatabase(url);
  });

  const create = (server: TestApp, amount: string, idempotencyKey: string) =>
    server.request("POST", `${path}/invoices`, {
      key,
      headers: { "idempotency-key": idempotencyKey },
      body: { amount, settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" },
    });

  it("have different amounts, the bare price once, and each answer is repeated exactly", async () => {
    const requests = servers.flatMap((_, place) =>
      Array.from({ length: each }, (__, index) => [
        { place, amount: "25.00", idempotencyKey: randomUUID() },
        { place, amount: `${String(100 + index)}.00`, idempotencyKey: randomUUID() },
      ]).flat(),
    );
    const send = (request: (typeof requests)[number], of = request.place) =>
      create(servers[of] as TestApp, request.amount, request.idempotencyKey);
    const answers = await Promise.all(requests.map((request) => send(request)));
    expect(answers.map(({ status }) => status)).to.deep.equal(requests.map(() => 201));
    const asked = answers.map(({ body }) => String(body["payableAmount"]));
    expect(new Set(asked).size).to.equal(requests.length);
    expect(asked.filter((amount) => amount === "25.00")).to.have.length(1);
    // The other server gives the same answers.
    const again = await Promise.all(requests.map((request) => send(request, 1 - request.place)));
    expect(again.map(({ text }) => text)).to.deep.equal(answers.map(({ text }) => text));
  });

  it("have different amounts if batches and single requests of both servers want the same ones", async () => {
    const priced = { settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" };
    // Batches that go through the prices in opposite directions.
    const prices = Array.from({ length: 20 }, (_, place) => `${String(25 * (place + 1))}.00`);
    const batchOf = (amounts: readonly string[]) => ({
      invoices: amounts.map((amount) => ({ ...priced, amount, externalId: randomUUID() })),
    });
    const answers = await Promise.all(
      servers.flatMap((server, place) => [
        ...[prices, prices.toReversed(), prices.map(() => "25.00")].map((amounts) =>
          server.request("POST", `${path}/invoices/batch`, { key, body: batchOf(amounts) }),
        ),
        ...prices.map((amount) => create(server, amount, `${String(place)} ${amount}`)),
      ]),
    );
    const created = answers.flatMap(({ body }) =>
      "results" in body
        ? (body["results"] as { readonly invoice: Record<string, unknown> | null }[]).map(
            ({ invoice }) => invoice,
          )
        : [body],
    );
    const asked = created.map((invoice) => invoice?.["payableAmount"]);
    expect(asked.filter((amount) => typeof amount === "string")).to.have.length(160);
    expect(new Set(asked).size).to.equal(160);
    for (const price of prices) {
      expect(asked.filter((amount) => amount === price)).to.have.length(1);
    }
  });
});
