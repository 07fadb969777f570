// The sort orders of the list of payments over HTTP, on both databases, for a merchant and for the platform.
import { expect } from "chai";
import type { PaymentFilters } from "../../../src/features/payments/filters.ts";
import { listPayments } from "../../../src/features/payments/listing.ts";
import { examinedMax } from "../../../src/platform/database/query/facets.ts";
import { pointersOf } from "../../api/problem.ts";
import type { Answer } from "../../support/app.ts";
import { platformKey } from "../../support/platform.ts";
import { eachStore } from "../../support/store/stores.ts";
import { openCounter, type Counter, type Json, type Merchant } from "./ledger/counter.ts";

eachStore("The list of payments", (store) => {
  let counter: Counter;
  let owner: Merchant;
  let other: Merchant;
  let platform: string;
  /** The payments in the order of their creation. */
  let payments: readonly Json[];
  const sender = "5".repeat(40);
  const token = { network: "sandbox", tokenSymbol: "USDT" };

  const ask = (query: Record<string, string>, who = owner): Promise<Answer> =>
    counter.app.request(
      "GET",
      `/v1/organizations/${who.organizationId}/payments?${new URLSearchParams(query).toString()}`,
      { key: who.key },
    );
  const askPlatform = (query: Record<string, string>): Promise<Answer> =>
    counter.app.request("GET", `/v1/admin/payments?${new URLSearchParams(query).toString()}`, {
      key: platform,
    });
  const found = (answer: Answer, field = "id"): unknown[] => {
    expect(answer.status, answer.text).to.equal(200);
    return (answer.body["data"] as Json[]).map((one) => one[field]);
  };

  async function paid(merchant: Merchant, units: bigint, from = sender): Promise<void> {
    const address = await counter.wallet(merchant);
    const amount = `${String(units / 1_000_000n)}.00`;
    await counter.issue(merchant, { amount });
    await counter.pay(address, units, { from });
    await counter.mine();
  }

  before(async function () {
    this.timeout(60_000);
    counter = await openCounter(store);
    platform = await platformKey(counter.app);
    [owner, other] = [await counter.merchant(), await counter.merchant()];
    await paid(owner, 30_000_000n);
    await paid(owner, 7_000_000n);
    await paid(owner, 100_000_000n, "6".repeat(40));
    await paid(other, 50_000_000n);
    payments = [...(await counter.list(owner, "/payments"))].reverse();
  });
  after(() => counter.stop());

  it("can be sorted by amount and by block time, in both directions", async () => {
    const amounts = ["7.00", "30.00", "100.00"];
    expect(found(await ask({ ...token, sort: "amount" }), "amount")).to.deep.equal(amounts);
    expect(found(await ask({ ...token, sort: "-amount" }), "amount")).to.deep.equal(
      [...amounts].reverse(),
    );
    const ids = payments.map(({ id }) => id);
    expect(found(await ask({ sort: "blockTime" }))).to.deep.equal(ids);
    expect(found(await ask({ sort: "-blockTime" }))).to.deep.equal([...ids].reverse());
    expect(found(await ask({ ...token, sort: "amount", status: "review" }))).to.deep.equal([]);
  });

  it("can be filtered by block time, newest first, and combines a sort order with other filters", async () => {
    const [first, second, third] = payments;
    const [from, to] = [String(second?.["blockTime"]), String(third?.["blockTime"])];
    const cases: readonly (readonly [Record<string, string>, readonly unknown[]])[] = [
      [{ paidFrom: from }, [third?.["id"], second?.["id"]]],
      [{ paidFrom: from, paidTo: to }, [second?.["id"]]],
      [{ ...token, paidTo: to, sort: "-amount" }, [first?.["id"], second?.["id"]]],
      [{ ...token, sort: "amount", invoiceId: String(first?.["invoiceId"]) }, [first?.["id"]]],
      [{ sort: "blockTime", fromAddress: `0x${sender}` }, [first?.["id"], second?.["id"]]],
      [{ sort: "blockTime", transactionHash: String(third?.["transactionHash"]) }, [third?.["id"]]],
      [
        { sort: "-blockTime", createdFrom: String(second?.["createdAt"]) },
        [third?.["id"], second?.["id"]],
      ],
      [{ invoiceId: String(first?.["invoiceId"]), fromAddress: `0x${"6".repeat(40)}` }, []],
    ];
    for (const [query, expected] of cases) {
      expect(found(await ask(query)), JSON.stringify(query)).to.deep.equal(expected);
    }
  });

  it("continues after each page in every order, and refuses a cursor of another order", async () => {
    for (const sort of ["createdAt", "-blockTime", "amount", "-amount"]) {
      const query = { ...token, sort, limit: "1" };
      const seen: unknown[] = [];
      let cursor: string | null = null;
      do {
        const answer = await ask(cursor === null ? query : { ...query, cursor });
        seen.push(...found(answer));
        cursor = answer.body["nextCursor"] as string | null;
        if (cursor === null) continue;
        const elsewhere = await ask({ ...query, sort: "blockTime", cursor });
        expect(pointersOf(elsewhere)).to.deep.equal(["?cursor"]);
      } while (cursor !== null);
      expect(new Set(seen), sort).to.have.property("size", payments.length);
      expect(seen, sort).to.have.length(payments.length);
    }
  });

  it("refuses an order without an index, and names the wrong or missing parameter", async () => {
    const time = "2026-01-01T00:00:00.000Z";
    const cases: readonly (readonly [Record<string, string>, string])[] = [
      [{ sort: "amount" }, "?sort"],
      [{ sort: "amount", network: "sandbox" }, "?sort"],
      [{ sort: "confirmedAt" }, "?sort"],
      [{ sort: "createdAt", paidFrom: time }, "?sort"],
      [{ paidTo: "yesterday" }, "?paidTo"],
    ];
    for (const [query, parameter] of cases) {
      expect(pointersOf(await ask(query)), JSON.stringify(query)).to.deep.equal([parameter]);
    }
    for (const query of [{ sort: "blockTime" }, { paidFrom: time }, { ...token, sort: "amount" }]) {
      const pointers = pointersOf(await askPlatform(query));
      expect(pointers, JSON.stringify(query)).to.deep.equal(["?organizationId"]);
    }
  });

  it("finds a sender's payments in all organizations for the platform, sorted ones in one organization", async () => {
    const all = await askPlatform({ fromAddress: `0x${sender}` });
    expect(found(all, "amount")).to.deep.equal(["50.00", "7.00", "30.00"]);
    expect(found(await askPlatform({ fromAddress: `0x${"9".repeat(40)}` }))).to.deep.equal([]);
    const { organizationId } = owner;
    const sorted = await askPlatform({ ...token, organizationId, sort: "-amount" });
    expect(found(sorted, "amount")).to.deep.equal(["100.00", "30.00", "7.00"]);
  });

  it("shows another organization only its own payments, whatever the query", async () => {
    for (const query of [
      { ...token, sort: "amount" },
      { sort: "blockTime" },
      { fromAddress: `0x${sender}` },
    ] as readonly Record<string, string>[]) {
      expect(found(await ask(query, other)), JSON.stringify(query)).to.have.length(1);
    }
  });
});

describe("A page of payments", () => {
  /** Lists payments of an organization in a store where a sender has sent some transfers. Returns the statements. */
  async function statements(filters: PaymentFilters, transfers = 1) {
    const asked: string[] = [];
    const reader = {
      dialect: "sqlite",
      all(sql: string, values: readonly unknown[]) {
        asked.push(`${sql} -- ${JSON.stringify(values)}`);
        const isSender = sql.includes("FROM transfers WHERE");
        return Promise.resolve(
          Array.from({ length: isSender ? transfers : 0 }, (_, place) => ({
            id: `trf_${String(place)}`,
          })),
        );
      },
      find: () => Promise.resolve([]),
    };
    const page = { limit: 10, fetch: 11, after: null, list: "payments", fingerprint: "" };
    await listPayments(reader as never, { organizationId: "org_1", ...filters }, page);
    return asked;
  }
  const some = (asked: readonly string[], words: string) =>
    asked.some((statement) => statement.includes(words));

  it("is read along the index of statuses, networks and tokens where no other one fits", async () => {
    const cases: readonly (readonly [PaymentFilters, isFaceted: boolean])[] = [
      [{}, false],
      [{ status: ["confirmed"] }, true],
      [{ network: "base" }, true],
      [{ tokenSymbol: "USDT" }, true],
      [{ invoiceId: "inv_1" }, false],
      [{ invoiceId: "inv_1", network: "base", tokenSymbol: "USDT", status: ["review"] }, false],
      [{ sort: "blockTime" }, true],
    ];
    for (const [filters, isFaceted] of cases) {
      const isFound = some(await statements(filters), "WITH RECURSIVE seen (upper, facet)");
      expect(isFound, JSON.stringify(filters)).to.equal(isFaceted);
    }
  });

  it("looks up a sender's payments if the sender has few transfers, and otherwise checks those in order", async () => {
    const few = await statements({ fromAddress: "aa" }, examinedMax);
    expect(few[0]).to.include(`LIMIT ${String(examinedMax + 1)}`);
    expect(some(few, "FROM payments WHERE transfer_id IN")).to.equal(true);
    expect(some(few, "its.from_address")).to.equal(false);
    const many = await statements({ fromAddress: "aa" }, examinedMax + 1);
    expect(some(many, "FROM payments WHERE transfer_id IN")).to.equal(false);
    expect(some(many, "its.from_address")).to.equal(true);
  });

  it("looks up the payments of a time of creation only if another order needs it", async () => {
    const lookedUp = async (filters: PaymentFilters) =>
      some(await statements(filters), `,${String(examinedMax + 1)},`);
    expect(await lookedUp({ createdFrom: 1 })).to.equal(false);
    expect(await lookedUp({ sort: "blockTime" })).to.equal(false);
    expect(await lookedUp({ sort: "blockTime", createdFrom: 1 })).to.equal(true);
  });
});
