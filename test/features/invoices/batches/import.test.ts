// Importing invoices from a CSV file, on the command line.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { getAnyInvoice } from "../../../../src/features/invoices/invoices.ts";
import {
  faultOf,
  importInvoices,
  readLines,
} from "../../../../src/features/invoices/batches/import.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { StoreUnavailable } from "../../../../src/platform/database/errors.ts";
import { makeDesk, type DeskStore } from "../../../cli/billing-operator.ts";
import { openMarket } from "../../../cli/market.ts";

interface Report {
  readonly lines: number;
  readonly created: number;
  readonly existing: number;
  readonly refused: number;
  readonly createdIds: readonly string[];
  readonly refusals: readonly {
    readonly line: number;
    readonly column: string | null;
    readonly code: string;
    readonly message: string;
  }[];
}

const head = "externalId,amount,settlementCurrency,tokenSymbol,network";
const priced = "USD,USDT,sandbox";

describe("till invoice import", () => {
  const desk = makeDesk({ TILL_NETWORKS: "sandbox" });
  let store: DeskStore;
  let organizationId: Id<"organization">;

  before(async () => {
    store = await desk.store();
    ({ organizationId } = await openMarket(store));
  });

  async function file(text: string): Promise<string> {
    const path = join(store.folder, "invoices.csv");
    await writeFile(path, text);
    return path;
  }
  const run = (path: string, flags: readonly string[] = [], stdin?: string) =>
    store.till(["invoice", "import", path, "--organization", organizationId, ...flags], {
      ...(stdin === undefined ? {} : { stdin }),
    });
  async function report(text: string, ...flags: string[]): Promise<[number, Report]> {
    const { code, stdout } = await run(await file(text), ["--json", ...flags]);
    return [code, JSON.parse(stdout) as Report];
  }
  const count = () =>
    store.withApp(async (app) => {
      const [row] = await app.db.all<{ count: number }>('SELECT COUNT(*) AS "count" FROM invoices');
      return row?.count ?? 0;
    });

  it("creates the invoices in several batches, and none twice when it is repeated", async () => {
    const lines = Array.from({ length: 230 }, (_, place) => `a-${String(place)},7.00,${priced}`);
    const text = `\ufeff${head}\r\n${lines.join("\r\n")}\r\n`;
    const before = await count();
    const [tried, trial] = await report(text, "--dry-run");
    expect([tried, trial.created, await count()]).to.deep.equal([0, 230, before]);
    expect(trial.createdIds).to.deep.equal([]);
    const quiet = await run(await file(text), ["--dry-run", "--quiet"]);
    expect([quiet.code, quiet.stdout]).to.deep.equal([0, ""]);
    // An interrupted import leaves the batches that it has committed.
    const begun = await report(`${head}\n${lines.slice(0, 100).join("\n")}`);
    expect([begun[0], begun[1].created]).to.deep.equal([0, 100]);
    const [code, first] = await report(text);
    expect(code).to.equal(0);
    expect(first).to.include({ lines: 230, created: 130, existing: 100, refused: 0 });
    expect(new Set(first.createdIds).size).to.equal(130);
    const [, again] = await report(text);
    expect(again).to.include({ created: 0, existing: 230, refused: 0 });
    expect(await count()).to.equal(before + 230);
  });

  it("reads every field, quoted text and standard input", async () => {
    const text = [
      `${head},description,expiresInSeconds,underpaymentTolerance,redirectUrl,draft,metadata.order,customerId,walletId`,
      `"b,1",12.50,${priced},"Tea, ""green""\nand more",600,0.5,https://shop.example/,,77,,`,
      `b-2,1,${priced},,,,,TRUE,,,`,
    ].join("\n");
    const { code, stdout, stderr } = await run("-", ["--quiet"], text);
    expect(code, stderr).to.equal(0);
    const ids = stdout.trim().split("\n");
    const [first, second] = await store.withApp((app) =>
      Promise.all(ids.map((id) => getAnyInvoice(app, id as Id<"invoice">))),
    );
    expect(first).to.deep.include({
      externalId: "b,1",
      description: 'Tea, "green"\nand more',
      expiresInSeconds: 600,
      underpaymentTolerance: "0.5",
      redirectUrl: "https://shop.example/",
      metadata: { order: "77" },
      status: "open",
    });
    expect(second).to.deep.include({ status: "draft", metadata: {}, description: null });
  });

  it("names the line and the column of each wrong value, and then creates nothing", async () => {
    const before = await count();
    const [code, { created, refused, refusals }] = await report(
      [
        `${head},expiresInSeconds,metadata.order`,
        `c-1,5.00,${priced},,`,
        `c-2,five,${priced},10,`,
        `c-3,5.00,${priced},soon,`,
        `,5.00,${priced},,`,
        `c-1,6.00,${priced},,`,
        `c-6,5.00,${priced}`,
        `c-7,5.00,${priced},,${"x".repeat(501)}`,
      ].join("\n"),
    );
    expect([code, created, refused]).to.deep.equal([1, 0, 6]);
    expect(refusals.map(({ line, column }) => [line, column])).to.deep.equal([
      [3, "amount"],
      [3, "expiresInSeconds"],
      [4, "expiresInSeconds"],
      [5, "externalId"],
      [6, "externalId"],
      [7, null],
      [8, "metadata.order"],
    ]);
    expect(await count()).to.equal(before);
    const shown = await run(await file(`${head}\nc-2,five,${priced}`));
    expect(shown.code).to.equal(1);
    expect(shown.stdout).to.match(/2 +c-2 +amount +must be a decimal string/);
    expect(shown.stderr).to.include("1 of 1 lines was refused, and nothing was created");
  });

  const cells = `5.00,${priced}`;
  const read = { amount: "5.00", settlementCurrency: "USD", tokenSymbol: "USDT" };
  /** Files with one invoice o-1 as other programs write them, and fields of it. */
  const forms: Readonly<Record<string, readonly [string, object?]>> = {
    "a byte order mark": [`\ufeff${head}\no-1,${cells}`],
    "a byte order mark before quotes": [`\ufeff"externalId"${head.slice(10)}\no-1,${cells}`],
    CRLF: [`${head}\r\no-1,${cells}\r\n`],
    "CR alone": [`${head}\ro-1,${cells}\r`],
    "empty lines": [`\n${head}\n\n\no-1,${cells}\n\n`],
    "lines of empty cells": [`${head}\n,,,,\no-1,${cells}\n , ,,"",\n`],
    "a comma at the end of each line": [`${head},\no-1,${cells},`],
    "commas at the end of some lines": [`${head}\no-1,${cells},,,\n`],
    "quotes around everything": [
      `"${head.replaceAll(",", '","')}"\n"o-1","${cells.replaceAll(",", '","')}"`,
    ],
    "spaces around quotes": [`${head}\n"o-1" , "5.00", "USD" ,"USDT", "sandbox" `],
    "spaces around names and values": [
      ` ${head.replaceAll(",", " , ")} \n o-1 , ${cells.replaceAll(",", " , ")} `,
    ],
    "invisible letters in names and values": [
      `\u200bexternalId\u200e${head.slice(10)}\no-1,\u200e5.00\u200b,USD\ufeff,USDT,sandbox`,
    ],
    "an optional cell that only has invisible letters": [`${head},walletId\no-1,${cells},\u200b`],
    "a whole number with decimals": [
      `${head},expiresInSeconds\no-1,${cells},3600.00`,
      { expiresInSeconds: 3_600 },
    ],
    "a whole number with zeros before it": [
      `${head},expiresInSeconds\no-1,${cells},003600`,
      { expiresInSeconds: 3_600 },
    ],
  };
  for (const [form, [text, more = {}]] of Object.entries(forms)) {
    it(`reads a file with ${form}`, () => {
      const lines = readLines(text);
      expect(lines).to.have.length(1);
      expect(lines[0]?.item.externalId).to.equal("o-1");
      expect(lines[0]?.item.input).to.deep.include({ ...read, network: "sandbox", ...more });
    });
  }

  it("finds an odd line beside others, and names it by its place in the file", () => {
    for (const odd of [
      "o-2,5.00,USD,USDT",
      `o-2,${cells},extra`,
      `o-2,"5,00",${priced}`,
      `o-2,1e1,${priced}`,
      `,${cells}`,
    ]) {
      const lines = readLines(`${head}\n,,,,\no-1,${cells}\n${odd}\n\no-3,${cells}\n`);
      expect(
        lines.map(({ line }) => line),
        odd,
      ).to.deep.equal([3, 4, 6]);
      const isOdd = lines.map(({ item }) => item.input instanceof Error);
      expect(isOdd, odd).to.deep.equal([false, true, false]);
    }
  });

  it("creates the other invoices if the store refuses some", async () => {
    const [code, { created, refused, refusals }] = await report(
      [
        head,
        `d-1,5.00,${priced}`,
        "d-2,5.00,USD,USDT,solana",
        `d-3,5.001,${priced}`,
        `order 7,5.00,${priced}`,
      ].join("\n"),
    );
    expect([code, created, refused]).to.deep.equal([1, 1, 3]);
    expect(refusals.map(({ line, column, code: why }) => [line, column, why])).to.deep.equal([
      [3, null, "network_not_enabled"],
      [4, "amount", "too_many_decimals"],
      [5, null, "external_id_conflict"],
    ]);
  });

  const lines = Array.from({ length: 250 }, (_, place) => `e-${String(place)},7.00,${priced}`);
  /** Imports 250 lines with a `create` that calls `before` with the number of each batch. */
  const importWith = (before: (batch: number) => void, isInterrupted: () => boolean) => {
    let batches = 0;
    const create: Parameters<typeof importInvoices>[0] = (items) => {
      batches += 1;
      before(batches);
      const results = items.map(({ externalId }) => ({
        externalId,
        outcome: "created",
        invoice: { id: externalId },
      }));
      return Promise.resolve({ results, requestId: null, baseUrl: "" } as never);
    };
    const call = {
      attempt: <T>(write: Promise<T>) => write,
      interruptible: <T>(work: (asked: () => boolean) => Promise<T>) => work(isInterrupted),
      isSet: () => false,
      progress: () => undefined,
    };
    return importInvoices(create, call, [head, ...lines].join("\n"));
  };

  it("reports the batches that were created before the store failed or Ctrl-C was pressed", async () => {
    const broken = new StoreUnavailable("The disk is away.");
    const fail = (batch: number) => {
      if (batch === 2) throw broken;
    };
    const failed = await importWith(fail, () => false);
    expect(failed.failure).to.equal(broken);
    expect(failed.report).to.include({ lines: 250, created: 100, refused: 0, remaining: 150 });
    expect(failed.report.createdIds).to.have.length(100);

    let isPressed = false;
    const press = (batch: number) => {
      isPressed = batch === 2;
    };
    const stopped = await importWith(press, () => isPressed);
    expect(stopped.failure).to.have.property("name", "Interrupted");
    expect(stopped.report).to.include({ created: 200, remaining: 50 });

    const whole = await importWith(
      () => undefined,
      () => false,
    );
    expect([whole.failure, whole.report.remaining, faultOf(whole.report)]).to.deep.equal([
      ...[null, 0, null],
    ]);
  });

  it("refuses a file that is not CSV, lacks columns or has unknown ones, and one that is missing", async () => {
    const wrong = [
      ["", "The file is empty"],
      ["externalId,amount\n", "settlementCurrency is missing"],
      [`${head},colour\n`, '"colour" is not a column'],
      [`${head},amount\n`, "amount is named twice"],
      [`${head}\n"d-9,5.00\n`, "Line 2 is not CSV"],
      [`externalId;amount\n`, "separated by commas"],
    ] as const;
    for (const [text, reason] of wrong) {
      const { code, stderr } = await run(await file(text));
      expect([code, stderr.includes(reason)], stderr).to.deep.equal([2, true]);
    }
    const most = `${head}\n${"x\n".repeat(100_000)}`;
    expect(readLines(most)).to.have.length(100_000);
    expect(() => readLines(`${most}x\n`)).to.throw("more than 100000 invoices");
    const blank = `${head}\n${",,,,\n".repeat(100_001)}o-1,${cells}\n`;
    expect(() => readLines(blank), "drops nothing unsaid").to.throw("more than 100000 invoices");
    const missing = await run(join(store.folder, "missing.csv"));
    expect([missing.code, missing.stderr.includes("ENOENT")]).to.deep.equal([2, true]);
    const words = ["invoice", "import", "-", "--organization", "org_01kq3v5m8w2f6n9r4t7x0z1c3e"];
    expect((await store.till(words, { stdin: head })).code).to.equal(5);
  });
});
