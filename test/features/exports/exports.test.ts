// CSV exports over HTTP: complete, equal to the API's records, confined to an organization, recorded.
import { expect } from "chai";
import type { CsvColumns } from "../../../src/http/declare/operation.ts";
import { openExport, tableExports } from "../../../src/features/exports/exports.ts";
import { invoices } from "../../../src/features/invoices/table.ts";
import { encodeAmount } from "../../../src/platform/database/schema/table.ts";
import { parseCsv } from "../../../src/kernel/csv.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { expectStatus, type Answer } from "../../support/app.ts";
import { appOf } from "../../support/context.ts";
import { enabledNetworks } from "../../support/merchants.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { openEstate, type Estate } from "../../http/estate.ts";
import { expectProblem } from "../../http/problem.ts";

type Rows = readonly Readonly<Record<string, string>>[];

/** Reads a CSV answer, whose first line names the columns. */
function rowsOf({ text }: Answer, columns: CsvColumns): Rows {
  const [head, ...lines] = parseCsv(text);
  expect(head?.cells).to.deep.equal(Object.keys(columns));
  return lines.map(({ cells }) =>
    Object.fromEntries((head?.cells ?? []).map((name, place) => [name, cells[place] ?? ""])),
  );
}

const later = "2100-01-01T00:00:00.000Z";

/** Each export with the list of the same records, and the columns that the records lack. */
const pairs = [
  ["invoices", "/invoices", ["organizationId"]],
  ["payments", "/payments", ["organizationId", "refundedAmount"]],
  ["refunds", "/refunds", ["organizationId", "settlementAmount", "settlementCurrency"]],
  ["platform_invoices", "/billing/invoices", ["organizationId", "organizationName", "voidedAt"]],
] as const;

describe("the row of an export", () => {
  it("of an invoice has what was sent above the amount that was asked for, what is owed and what is in review", () => {
    const units = (tokens: string) => encodeAmount(BigInt(Number(tokens) * 1e6));
    const row = {
      id: "inv_1",
      organizationId: "org_1",
      amount: encodeAmount(2_500n),
      currency: "USD",
      currencyDecimals: 2,
      paid: null,
      payable: units("25"),
      asked: units("25.0001"),
      dust: null,
      seen: units("26.5"),
      confirmed: units("26"),
      status: "paid",
      managedBy: null,
      aside: null,
      token: "USDT",
      tokenDecimals: 6,
      network: "sandbox",
      hashes: "[]",
      options: null,
      createdAt: 0,
      issuedAt: null,
      expiresAt: null,
      lateUntil: null,
      paidAt: null,
      canceledAt: null,
    };
    const cellsOf = (changes: object) =>
      tableExports.invoices.cells({ ...row, ...changes }, new Map());
    const excessOf = (changes: object) => cellsOf(changes)["excessAmount"];
    const sums = { network: "sandbox", tokenSymbol: "USDT", rejected: "70000", inReview: "1" };
    const aside = JSON.stringify([{ ...sums, refunded: "500000" }]);
    expect(cellsOf({})).to.include({ owedAmount: "0.9999", reviewAmount: "0.00" });
    expect(cellsOf({ aside })).to.include({ owedAmount: "0.5699", reviewAmount: "0.000001" });
    expect(cellsOf({ aside, status: "open" })).to.include({ owedAmount: "0.07" });
    expect(cellsOf({ aside, status: "expired" })).to.include({ owedAmount: "25.57" });
    // A rejected payment in another token counts at that token's rate: two of its units are one of the token in force.
    const quote = {
      payableAmount: "50000000",
      askedAmount: null,
      remainingAmount: "0",
      remainingAfter: "0",
      seen: "2000000",
      confirmed: "2000000",
    };
    const options = JSON.stringify([{ network: "sandbox", tokenSymbol: "USDC", quote }]);
    const others = JSON.stringify([
      { ...sums, tokenSymbol: "USDC", rejected: "2000000", inReview: "0", refunded: "0" },
    ]);
    expect(cellsOf({ aside: others, options, status: "open" })).to.include({ owedAmount: "1.00" });
    expect(excessOf({})).to.equal("1.4999");
    expect(excessOf({ asked: null })).to.equal("1.50");
    expect(excessOf({ seen: units("25") })).to.equal("0.00");
    expect(excessOf({ payable: null, asked: null, seen: units("0") })).to.equal("0.00");
  });

  it("has addresses and hashes as stored if its network was removed from the table", () => {
    const row = {
      id: "pay_1",
      organizationId: "org_1",
      invoiceId: "inv_1",
      status: "confirmed",
      amount: encodeAmount(5_000_000n),
      token: "USDT",
      tokenDecimals: 6,
      refunded: null,
      rounding: encodeAmount(0n),
      worth: encodeAmount(500n),
      currency: "USD",
      currencyDecimals: 2,
      exchangeRate: "1",
      network: "gone",
      hash: "0xabc",
      from: "0xdef",
      to: "0x123",
      blockNumber: 7,
      blockTime: 0,
      createdAt: 0,
      confirmedAt: null,
    };
    expect(tableExports.payments.cells(row, new Map())).to.include({
      amount: "5.00",
      transactionHash: "0xabc",
      fromAddress: "0xdef",
      toAddress: "0x123",
    });
  });
});

eachStore("an export", (store) => {
  let estate: Estate;
  let home: string;

  before(async () => {
    estate = await openEstate(store);
    home = estate.owner.path;
  });
  after(() => estate.stop());

  const get = (path: string, token = estate.owner.token) =>
    estate.app.request("GET", `${home}${path}`, { token });

  for (const [name, path, own] of pairs) {
    it(`of ${name} has the values of the API's records, oldest first`, async () => {
      // The estate's platform invoice is of a later year.
      const answer = await expectStatus(get(`${path}.csv?createdTo=${later}`), 200);
      expect(answer.headers.get("Content-Disposition")).to.equal(
        `attachment; filename="${name.replace("_", "-")}.csv"`,
      );
      const rows = rowsOf(answer, tableExports[name].columns);
      const { body } = await expectStatus(get(`${path}?limit=100`), 200);
      const records = (body["data"] as Record<string, unknown>[]).toReversed();
      expect(rows.map(({ id }) => id)).to.deep.equal(records.map(({ id }) => id));
      for (const [place, row] of rows.entries()) {
        for (const [column, value] of Object.entries(row)) {
          const shown = (records[place]?.[column] ?? null) as string | number | string[] | null;
          if ((own as readonly string[]).includes(column)) continue;
          expect(records[place], column).to.have.property(column);
          const text = Array.isArray(shown) ? shown.join(" ") : shown;
          expect(value, `${name} ${column}`).to.equal(text === null ? "" : String(text));
        }
      }
      expect(rows.length).to.be.greaterThan(0);
    });
  }

  it("shows the worth of a refund at the rate of its payment", async () => {
    const refunds = rowsOf(await get("/refunds.csv"), tableExports.refunds.columns);
    const payments = rowsOf(await get("/payments.csv"), tableExports.payments.columns);
    for (const { paymentId, amount, settlementAmount, settlementCurrency } of refunds) {
      const paid = payments.find(({ id }) => id === paymentId);
      const share =
        (Number(amount) * Number(paid?.["settlementAmount"])) / Number(paid?.["amount"]);
      expect(Number(settlementAmount)).to.be.closeTo(share, 0.01);
      expect(settlementCurrency).to.equal(paid?.["settlementCurrency"]);
    }
  });

  it("defuses formulas and keeps commas, quotes and line breaks of texts", async () => {
    const texts = ['=HYPERLINK("http://evil.example","x")', 'a, "b"\nc 商店', "@SUM(A1)"];
    const priced = { settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" };
    for (const description of texts) {
      await estate.post("/invoices", { amount: "1.00", ...priced, description, draft: true });
    }
    const rows = rowsOf(await get("/invoices.csv"), tableExports.invoices.columns);
    const shown = rows.slice(-texts.length).map(({ description }) => description);
    expect(shown).to.deep.equal([`'${texts[0] ?? ""}`, texts[1], `'${texts[2] ?? ""}`]);
  });

  it("has every row of several pages once, within its times, and none that comes later", async () => {
    const { app } = estate.app;
    const { db, ids } = app;
    const organizationId = (await estate.counter.merchant()).organizationId as Id<"organization">;
    const [template] = await db.find(invoices, "WHERE status = 'draft' LIMIT 1");
    if (template === undefined) throw new Error("there is no draft");
    const start = Date.parse("2031-01-01T00:00:00.000Z");
    const add = (count: number, at: number) =>
      db.write(testContext, (tx) =>
        tx.insertMany(
          invoices,
          Array.from({ length: count }, (_row, place) => {
            const id = ids.next("invoice", at + place);
            return {
              ...template,
              id,
              organizationId,
              publicId: id.slice(4),
              createdAt: at + place,
            };
          }),
        ),
      );
    await add(600, start);
    await add(600, start + 600);
    const range = { organizationId, createdFrom: start + 1, createdTo: start + 1_199 };
    const { pages } = await openExport(app, testContext, "invoices", range);
    const found: (string | null)[] = [];
    for await (const page of pages) {
      if (found.length === 0) await add(1, start + 1_199);
      found.push(...page.map(([id]) => id ?? null));
    }
    expect(new Set(found).size).to.equal(1_198);
    expect(found).to.have.lengthOf(1_198).and.to.deep.equal(found.toSorted());
    const all = await openExport(app, testContext, "invoices", { ...range, organizationId: null });
    let count = 0;
    for await (const page of all.pages) count += page.length;
    expect(count).to.equal(1_198);

    // By default until now, and no further than until the program stops.
    const stopping = new AbortController();
    const stopped = appOf({
      db,
      clock: { now: () => start + 1_199 },
      networks: enabledNetworks(),
      stopping: stopping.signal,
    });
    const made = async (most: number) => {
      const range = { organizationId, createdFrom: start };
      let sum = 0;
      const { pages } = await openExport(stopped, testContext, "invoices", range);
      for await (const page of pages) {
        sum += page.length;
        if (sum > most) stopping.abort();
      }
      return sum;
    };
    expect(await made(2_000)).to.equal(1_201);
    const outcome = await made(500).catch((error: unknown) => (error as Error).name);
    expect(outcome).to.equal("AbortError");
  });

  it("is for members of the organization only, and an unknown column or wrong time is named", async () => {
    const stranger = await estate.counter.merchant();
    expectProblem(await get("/invoices.csv", stranger.token), 404, "not_found");
    expectProblem(await get("/invoices.csv?createdFrom=yesterday"), 400, "invalid_request");
    expectProblem(await get("/invoices.csv?status=paid"), 400, "invalid_request");
  });

  it("of all organizations is for the platform only, and has the rows of each organization", async () => {
    const all = (path: string, token: string) =>
      estate.app.request("GET", `/v1/admin${path}`, { token });
    for (const [name, path] of pairs) {
      expectProblem(await all(`${path}.csv`, estate.owner.token), 403, "forbidden");
      const { columns } = tableExports[name];
      const times = `createdTo=${later}`;
      const own = await expectStatus(get(`${path}.csv?${times}`), 200);
      const every = await expectStatus(all(`${path}.csv?${times}`, estate.admin.token), 200);
      const rows = rowsOf(every, columns);
      expect(rows, name).to.deep.include.members([...rowsOf(own, columns)]);
      const [counted] = await estate.app.app.db.all<{ total: number }>(
        `SELECT COUNT(*) AS total FROM ${name}`,
      );
      expect(rows, name).to.have.length(Number(counted?.total));
      const one = `organizationId=${estate.owner.organizationId}`;
      const selected = await expectStatus(
        all(`${path}.csv?${times}&${one}`, estate.admin.token),
        200,
      );
      expect(selected.text, name).to.equal(own.text);
    }
  });

  it("is recorded in the audit log with its times", async () => {
    await get(
      "/payments.csv?createdFrom=2031-01-01T00:00:00.000Z&createdTo=2031-02-01T00:00:00.000Z",
    );
    const { body } = await get("/audit-logs?action=payments.exported&limit=1");
    const [entry] = body["data"] as Record<string, unknown>[];
    expect(entry).to.deep.include({ action: "payments.exported", actorType: "user" });
    expect(entry?.["changes"]).to.deep.equal({
      createdFrom: "2031-01-01T00:00:00.000Z",
      createdTo: "2031-02-01T00:00:00.000Z",
      isOfAllOrganizations: false,
    });
  });

  it("is only a head of columns if there is nothing, and has no body for HEAD", async () => {
    const none = "/invoices.csv?createdTo=2001-01-01T00:00:00.000Z";
    expect((await get(none)).text).to.equal(
      `${Object.keys(tableExports.invoices.columns).join(",")}\r\n`,
    );
    const head = await estate.app.request("HEAD", `${home}${none}`, { token: estate.owner.token });
    expect([head.status, head.text]).to.deep.equal([200, ""]);
  });
});
