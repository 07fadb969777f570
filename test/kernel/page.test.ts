import { expect } from "chai";
import fc from "fast-check";
import { Problem } from "../../src/kernel/errors.ts";
import { createIds } from "../../src/kernel/id.ts";
import type { PageFilters, PageQuery } from "../../src/kernel/page.ts";
import {
  mapPage,
  maxCursorLength,
  parsePage,
  toPage,
  toPageBy,
  toPartialPage,
} from "../../src/kernel/page.ts";

interface Row {
  readonly id: string;
}

const ids = createIds((length) => new Uint8Array(length).fill(7));

/** Returns rows as a store would: ids descending, below the position, at most `count`. */
function select(rows: readonly Row[], after: string | null, count: number): Row[] {
  return rows
    .filter((row) => after === null || row.id < after)
    .sort((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, count);
}

/** Returns the parameters for which a query is refused. */
function refusedFor(query: PageQuery, list = "invoices", filters: PageFilters = {}): string[] {
  try {
    parsePage(query, list, filters);
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    expect(error.status).to.equal(400);
    return error.errors.map(({ parameter }) => parameter ?? "");
  }
}

function cursorOf(content: unknown): string {
  return Buffer.from(JSON.stringify(content)).toString("base64url");
}

describe("a page of a list", () => {
  it("has 20 rows, or the requested number from 1 to 100", () => {
    const first = parsePage({}, "invoices");
    expect(first).to.include({ limit: 20, fetch: 21, after: null });
    expect(parsePage({ limit: "1" }, "invoices").limit).to.equal(1);
    expect(parsePage({ limit: 100 }, "invoices").fetch).to.equal(101);
  });

  it("refuses any other limit and names the parameter", () => {
    const refused = [
      "0",
      "101",
      "-1",
      "1e1",
      "1.0",
      " 1",
      "",
      "01",
      "0x1",
      "١",
      "1000000000",
      "NaN",
    ];
    for (const limit of [...refused, 0, 101, -1, 1.5, Number.NaN, 1e9]) {
      expect(refusedFor({ limit }), String(limit)).to.deep.equal(["limit"]);
    }
  });

  it("reports all invalid parameters at once", () => {
    expect(refusedFor({ limit: "0", cursor: "x" })).to.deep.equal(["limit", "cursor"]);
  });

  it("has no cursor after the last row", () => {
    const rows = [3, 2, 1].map((at) => ({ id: ids.next("invoice", at) }));
    const page = parsePage({ limit: 3 }, "invoices");
    expect(toPage(rows, page)).to.deep.equal({ data: rows, nextCursor: null });
    expect(toPage([], page)).to.deep.equal({ data: [], nextCursor: null });
    expect(toPage([...rows, { id: "inv_0" }], page).nextCursor).to.be.a("string");
  });

  it("lists every row once while newer rows are added", () => {
    const sizes = fc.integer({ min: 0, max: 60 });
    const limits = fc.integer({ min: 1, max: 10 });
    const arrivals = fc.integer({ min: 0, max: 3 });
    fc.assert(
      fc.property(sizes, limits, arrivals, (size, limit, arriving) => {
        const source = createIds((length) => new Uint8Array(length).fill(9));
        const rows: Row[] = [];
        const arrive = (count: number): void => {
          for (let n = 0; n < count; n += 1) rows.push({ id: source.next("invoice", 1_000) });
        };
        arrive(size);
        const original = select(rows, null, size);
        const walked: Row[] = [];
        let cursor: string | undefined;
        do {
          const request = parsePage({ limit, cursor }, "invoices", { status: "open" });
          const page = toPage(select(rows, request.after, request.fetch), request);
          walked.push(...page.data);
          cursor = page.nextCursor ?? undefined;
          arrive(arriving);
        } while (cursor !== undefined);
        expect(walked).to.deep.equal(original);
      }),
      { numRuns: 50 },
    );
  });

  it("of a search that stopped early continues where the search stopped", () => {
    const request = parsePage({ limit: 2 }, "invoices");
    const rows = [{ id: "inv_3" }, { id: "inv_2" }, { id: "inv_1" }];
    const page = (count: number, resumeAt: string | null) =>
      toPartialPage(rows.slice(0, count), request, ({ id }) => id, resumeAt);
    const next = ({ nextCursor }: { nextCursor: string | null }) =>
      nextCursor === null ? null : parsePage({ cursor: nextCursor }, "invoices").after;

    expect(page(1, "inv_2")).to.deep.include({ data: [{ id: "inv_3" }] });
    expect(next(page(1, "inv_2"))).to.equal("inv_2");
    expect(next(page(1, null))).to.equal(null);
    // A full page continues after its last row, not after the last row that was examined.
    expect(next(page(3, "inv_1"))).to.equal("inv_2");
    expect(next(page(3, null))).to.equal("inv_2");
  });

  it("is presented row by row", () => {
    const page = { data: [1, 2], nextCursor: "next" };
    expect(mapPage(page, String)).to.deep.equal({ data: ["1", "2"], nextCursor: "next" });
  });
});

describe("a cursor", () => {
  const filters = { organizationId: "org_1", status: "open", tags: ["a", "b"] };
  const page = parsePage({ limit: 1 }, "invoices", filters);
  const cursor = toPage([{ id: "inv_2" }, { id: "inv_1" }], page).nextCursor ?? "";

  it("continues the list with the filters that returned it", () => {
    expect(parsePage({ cursor }, "invoices", filters).after).to.equal("inv_2");
    const reordered = { tags: ["a", "b"], status: "open", organizationId: "org_1", to: undefined };
    expect(parsePage({ cursor }, "invoices", reordered).after).to.equal("inv_2");
    expect(parsePage({ cursor, limit: 7 }, "invoices", filters).limit).to.equal(7);
  });

  it("of another list or other filters is refused", () => {
    expect(refusedFor({ cursor }, "payments", filters)).to.deep.equal(["cursor"]);
    for (const other of [
      {},
      { ...filters, status: "paid" },
      { ...filters, organizationId: "org_2" },
      { ...filters, tags: ["a"] },
      { ...filters, from: 0 },
    ]) {
      expect(refusedFor({ cursor }, "invoices", other)).to.deep.equal(["cursor"]);
    }
  });

  it("that was not issued is refused", () => {
    const { fingerprint } = page;
    const positions = [
      null,
      7,
      "",
      "a b",
      "inv_\0",
      "inv_\ud800",
      "inv_é",
      {},
      [],
      "x".repeat(201),
    ];
    const contents = [
      ...positions.map((position) => ["invoices", fingerprint, position]),
      ["invoices", fingerprint],
      ["invoices", fingerprint, "inv_2", "more"],
      { list: "invoices", fingerprint, position: "inv_2" },
      null,
      "inv_2",
      [["invoices"], fingerprint, "inv_2"],
    ];
    for (const content of contents) {
      const given = { cursor: cursorOf(content) };
      expect(refusedFor(given, "invoices", filters), JSON.stringify(content)).to.deep.equal([
        "cursor",
      ]);
    }
  });

  it("with any character added, changed or removed is refused", () => {
    const altered = [
      "",
      " ",
      "\0",
      `${cursor}=`,
      `${cursor} `,
      ` ${cursor}`,
      `${cursor}\0`,
      `${cursor}.`,
      cursor.slice(1),
      cursor.slice(0, -2),
      cursor + cursor,
      "A".repeat(maxCursorLength + 1),
      "A".repeat(1_000_000),
      "[".repeat(400),
      Buffer.from("[".repeat(300)).toString("base64url"),
    ];
    for (const text of altered) {
      expect(refusedFor({ cursor: text }, "invoices", filters)).to.deep.equal(["cursor"]);
    }
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 600 }), (text) => {
        fc.pre(text !== cursor);
        expect(refusedFor({ cursor: text }, "invoices", filters)).to.deep.equal(["cursor"]);
      }),
    );
  });

  it("contains the position in a list that is not ordered by id", () => {
    const rows = [{ volume: "900" }, { volume: "800" }];
    const { nextCursor } = toPageBy(rows, page, (row) => `${row.volume}:cus_1`);
    const next = parsePage({ cursor: nextCursor ?? "" }, "invoices", filters);
    expect(next.after).to.equal("900:cus_1");
  });
});
