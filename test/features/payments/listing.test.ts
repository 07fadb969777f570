// The sort orders of the list of payments over HTTP, and its pages, on both databases, for a merchant and for the platform.
import { expect } from "chai";
import type { PaymentFilters } from "../../../src/features/payments/filters.ts";
import { isAlongFacets, findPayments } from "../../../src/features/payments/payments.ts";
import {
  payments as paymentTable,
  transfers,
  type PaymentRow,
  type TransferRow,
} from "../../../src/features/payments/table.ts";
import type { Reader } from "../../../src/platform/database/database.ts";
import { examinedMax } from "../../../src/platform/database/query/facets.ts";
import { pointersOf } from "../../http/problem.ts";
import { newIds } from "../../support/context.ts";
import {
  expectStatus,
  type Answer,
  platformKey,
  type Json,
  type Merchant,
} from "../../support/app.ts";
import { xpubOf } from "../../support/merchants.ts";
import { eachStore, testContext, whileBroken } from "../../support/store/stores.ts";
import { openCounter, type Counter } from "../../support/counter.ts";

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

  before(async () => {
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

  it("can be filtered by the wallet that received the transfer, whichever invoice it pays", async () => {
    const merchant = await counter.merchant();
    const address = await counter.wallet(merchant);
    const wallets = async () => (await counter.list(merchant, "/wallets")).map(({ id }) => id);
    const [atAddress = ""] = (await wallets()) as string[];
    await counter.issue(merchant, { amount: "25.00" });
    await counter.pay(address, 25_000_000n);
    const key = { label: "Key", network: "sandbox", xpub: xpubOf(61) };
    const made = await expectStatus(counter.post(merchant, "/wallets", key), 201);
    const atKey = String(made.body["id"]);
    const ofKey = await counter.issue(merchant, { amount: "26.00", walletId: atKey });
    await counter.pay(String(ofKey["walletAddress"]).slice(2).toLowerCase(), 26_000_000n);
    // Money at the address of the first wallet, allocated to an invoice of the other one.
    await counter.pay(address, 4_000_000n);
    await counter.mine(3);
    const [waiting = {}] = await counter.list(merchant, "/transfers?status=unmatched");
    const later = await counter.issue(merchant, { amount: "8.00", walletId: atKey });
    const allocations = [{ invoiceId: later["id"], amount: "4.00" }];
    const path = `/transfers/${String(waiting["id"])}/allocate`;
    await expectStatus(counter.post(merchant, path, { allocations }), 200);

    const amounts = async (query: Record<string, string>) =>
      found(await ask(query, merchant), "amount");
    expect(await amounts({ walletId: atAddress })).to.deep.equal(["4.00", "25.00"]);
    expect(await amounts({ walletId: atKey })).to.deep.equal(["26.00"]);
    const sorted = { ...token, sort: "amount", walletId: atAddress };
    expect(await amounts(sorted)).to.deep.equal(["4.00", "25.00"]);
    expect(await amounts({ walletId: atKey, invoiceId: String(later["id"]) })).to.deep.equal([]);
    expect(found(await askPlatform({ walletId: atKey }), "amount")).to.deep.equal(["26.00"]);
    // Another organization learns nothing of it.
    expect(found(await ask({ walletId: atKey }))).to.deep.equal([]);
    expect(pointersOf(await ask({ walletId: "wal_1" }))).to.deep.equal(["?walletId"]);
  });

  it("finds the payments of older addresses, which do not name their key, by the invoice's wallet", async () => {
    const merchant = await counter.merchant();
    const key = { label: "Key", network: "sandbox", xpub: xpubOf(62) };
    const made = await expectStatus(counter.post(merchant, "/wallets", key), 201);
    const walletId = String(made.body["id"]);
    const invoice = await counter.issue(merchant, { walletId });
    const { db } = counter.app.app;
    await db.write(testContext, (tx) =>
      tx.run(
        `UPDATE wallet_claims SET key_identity = NULL, key_index = NULL
         WHERE kind = 'derived' AND organization_id = $1`,
        [merchant.organizationId],
      ),
    );
    await counter.pay(String(invoice["walletAddress"]).slice(2).toLowerCase(), 25_000_000n);
    await counter.mine(3);
    expect(found(await ask({ walletId }, merchant), "amount")).to.deep.equal(["25.00"]);
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

  describe("has pages, whose payments", () => {
    const pageOfTen = { limit: 10, fetch: 11, after: null, list: "payments", fingerprint: "" };

    /** A page's payments by their place among all, and whether the search came to its end, with its statements. */
    interface Found {
      readonly places: readonly number[];
      readonly isWhole: boolean;
      readonly statements: number;
    }

    /**
     * Lists the payments of another organization. It has 252, entered one by one, of which the oldest are as `first` says.
     * The sender "aa" has sent the oldest one, and `sent - 1` transfers that pay nothing. None of this is kept.
     */
    async function pages(
      first: readonly Partial<PaymentRow>[],
      queries: readonly PaymentFilters[],
      sent = 1,
    ): Promise<Found[]> {
      const { db } = counter.app.app;
      const ids = newIds();
      const [payment] = await db.find(paymentTable, "ORDER BY id LIMIT 1");
      const [transfer] = await db.find(transfers, "ORDER BY id LIMIT 1");
      if (payment === undefined || transfer === undefined) throw new Error("nothing was paid");
      const organizationId = ids.next("organization", 0);
      const rows = Array.from({ length: examinedMax + 2 }, (_, place): PaymentRow => ({
        ...payment,
        id: ids.next("payment", place),
        organizationId,
        invoiceId: ids.next("invoice", place),
        transferId: ids.next("transfer", place),
        blockTime: place,
        ...first[place],
      }));
      const others = Array.from({ length: sent - 1 }, () => ids.next("transfer", rows.length));
      const sending = [...rows.map(({ transferId }) => transferId), ...others].map(
        (id, place): TransferRow => ({
          ...transfer,
          id,
          organizationId,
          fromAddress: place === 0 || place >= rows.length ? "aa" : "bb",
          ordinal: 1_000 + place,
        }),
      );
      const placeOf = new Map(rows.map(({ id }, place) => [id, place]));
      return whileBroken(
        db,
        async (tx) => {
          await tx.insertMany(transfers, sending);
          await tx.insertMany(paymentTable, rows);
        },
        async (reader) => {
          const found: Found[] = [];
          for (const query of queries) {
            let statements = 0;
            const counted: Reader = {
              ...reader,
              all(sql, values) {
                statements += 1;
                return reader.all(sql, values);
              },
            };
            const page = await findPayments(counted, { organizationId, ...query }, pageOfTen);
            const places = page.rows.map(({ id }) => placeOf.get(id) ?? -1);
            found.push({ places, isWhole: page.resumeAt === null, statements });
          }
          return found;
        },
      );
    }

    it("are found by status, network or token however old they are, and those of an invoice alone", async () => {
      const facet = { network: "base", token: "USDC", status: "review" } as const;
      const filter = { network: "base", tokenSymbol: "USDC", status: ["review"] } as const;
      const { network, tokenSymbol, status } = filter;
      const queries = [{ network }, { tokenSymbol }, { status }, filter];
      for (const { places, isWhole } of await pages([facet, facet], queries)) {
        expect([places, isWhole]).to.deep.equal([[1, 0], true]);
      }
      const own = [{ ...facet, invoiceId: "inv_own" }, facet] as const;
      const ofInvoice = [{ invoiceId: "inv_own" }, { ...filter, invoiceId: "inv_own" }] as const;
      for (const { places, isWhole } of await pages(own, ofInvoice)) {
        expect([places, isWhole]).to.deep.equal([[0], true]);
      }
    });

    it("are looked up by their sender if that has few transfers, and otherwise checked one by one", async () => {
      const bySender = async (sent: number) => {
        const [found] = await pages([], [{ fromAddress: "aa" }], sent);
        return [found?.places, found?.isWhole];
      };
      expect(await bySender(examinedMax)).to.deep.equal([[0], true]);
      expect(await bySender(examinedMax + 1)).to.deep.equal([[], false]);
    });

    it("are looked up by their time of creation only in another order", async () => {
      const sort = "-blockTime" as const;
      const [all, early, recent] = await pages([], [{}, { createdTo: 1 }, { createdFrom: 2 }]);
      const [along, sorted, both] = await pages(
        [],
        [{ network: "sandbox" }, { sort }, { sort, createdTo: 1 }],
      );
      expect(both)
        .to.include({ isWhole: true })
        .and.deep.include({ places: [0] });
      expect(early?.places).to.deep.equal([0]);
      expect(recent?.places).to.deep.equal(all?.places);
      // A look-up would take one more.
      expect(early?.statements).to.equal(all?.statements);
      expect(recent?.statements).to.equal(all?.statements);
      expect(sorted?.statements).to.equal(along?.statements);
    });
  });
});

describe("The walk along the facets of payments", () => {
  it("serves every order but that of creation, and its filters on the facets but not on an invoice", () => {
    for (const [field, filters, isAlong] of [
      ["createdAt", {}, false],
      ["createdAt", { status: ["confirmed"] }, true],
      ["createdAt", { network: "base" }, true],
      ["createdAt", { tokenSymbol: "USDT" }, true],
      ["createdAt", { invoiceId: "inv_1" }, false],
      ["createdAt", { invoiceId: "inv_1", network: "base", status: ["review"] }, false],
      ["blockTime", {}, true],
      ["amount", { invoiceId: "inv_1" }, true],
    ] as const) {
      expect(isAlongFacets(field, filters), `${field} ${JSON.stringify(filters)}`).to.equal(
        isAlong,
      );
    }
  });
});
