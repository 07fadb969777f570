import { expect } from "chai";
import { readFile } from "node:fs/promises";
import { section, type AnyColumn } from "../../../src/http/declare/command.ts";
import { day, hour, minute, second } from "../../../src/kernel/clock.ts";
import {
  alignDecimals,
  relativeTime,
  toneOf,
  wrap,
} from "../../../src/cli/terminal/drawing/table.ts";
import { printRecord } from "../../../src/cli/terminal/output.ts";
import { fitTrend } from "../../../src/cli/terminal/drawing/sparkline.ts";
import { widthOf } from "../../../src/cli/terminal/drawing/width.ts";
import { printable } from "../../../src/cli/terminal/terminal.ts";
import { screen } from "./screen.ts";

const now = Date.now();
const at = (distance: number) => new Date(now + distance).toISOString();
const id = (last: string) => `inv_01kq3v5m8w2f6n9r4t7x0z1c3${last}`;
const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

const items = [
  {
    id: id("a"),
    status: "paid",
    amount: "24.00",
    unit: "USD",
    network: "tron",
    isUsed: true,
    createdAt: at(-3 * hour - minute),
    transactionHash: hash,
    message: "The payer sent 中文字符 and more words than one line of a terminal has.",
  },
  {
    id: id("b"),
    status: "partially_paid",
    amount: "1024.5",
    unit: "USDT",
    network: "tron",
    isUsed: false,
    createdAt: at(2 * day + hour),
    transactionHash: null,
    message: null,
  },
  {
    id: id("c"),
    status: "unheard_of",
    amount: null,
    unit: "USD",
    network: "ethereum",
    isUsed: false,
    createdAt: at(-400 * day),
    transactionHash: hash,
    message: "short",
  },
];
const columns: readonly AnyColumn[] = [
  ...["id", "status", "amount unit", "network", "isUsed", "createdAt"],
  ...["transactionHash", "message"],
];
const list = { data: items, nextCursor: null };
const shape = { columns, sections: null, identify: null };

describe("a table at a terminal", () => {
  for (const width of [200, 80, 60, 40]) {
    it(`has no line wider than ${String(width)} columns, and whole ids`, async () => {
      const { terminal, stdout, stderr } = screen(width, { NO_COLOR: "1" });
      await printRecord(terminal, list, shape);
      for (const line of [...stdout().split("\n"), ...stderr().split("\n")]) {
        expect(widthOf(line), line).to.be.at.most(width);
      }
      for (const item of items) expect(stdout()).to.include(item.id);
    });
  }

  it("is drawn as records where the terminal is narrower than an id", async () => {
    const { terminal, stdout, stderr } = screen(24, { NO_COLOR: "1" });
    await printRecord(terminal, list, shape);
    const lines = stdout().split("\n");
    for (const line of lines) expect(widthOf(line), line).to.be.at.most(24);
    const records = stdout().split("\n\n");
    expect(records).to.have.length(items.length);
    for (const [place, { id: own }] of items.entries()) {
      expect(records[place]).to.match(/^ID\n/);
      expect(records[place]?.replaceAll(/\s/g, "")).to.include(own);
      expect(records[place]).to.match(/^STATUS\s+[✓!u]/m);
    }
    expect(records[0]?.replaceAll(/\s/g, "")).to.include(hash);
    expect(stderr()).to.equal("");
  });

  it("loses no character of a text, whatever its writing system and its spaces", async () => {
    const texts = [
      "一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十",
      "一二三\u3000四五六七\u3000八九十\u3000一二三四五\u3000六七\u3000八九十\u3000一二三四五六七八九十",
      "नमस्ते दुनिया भुगतान पूरा हो गया है और धन्यवाद नमस्ते दुनिया",
      "👩‍👩‍👧 🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂 ❤️❤️❤️❤️ paid \u{1fae0}\u{1fae0}\u{1fae0}",
      `order ${"x".repeat(90)} and\u00a0more`,
      "a\u001b[31mb\u202ec\td\u0000e ".repeat(8),
    ];
    for (const width of [24, 25, 30, 61]) {
      for (const message of texts) {
        const shown = printable(message).replaceAll(/\s/g, "");
        const table = screen(width, { NO_COLOR: "1" });
        const single = { ...shape, columns: ["message"] };
        await printRecord(table.terminal, { data: [{ message }], nextCursor: null }, single);
        expect(table.stdout().replaceAll(/\s/g, "")).to.equal(`MESSAGE${shown}`);
        const record = screen(width, { NO_COLOR: "1" });
        await printRecord(record.terminal, { message }, single);
        expect(record.stdout().replaceAll(/\s/g, "")).to.equal(`Message${shown}`);
        for (const line of [...table.stdout().split("\n"), ...record.stdout().split("\n")]) {
          expect(widthOf(line), line).to.be.at.most(width);
        }
      }
    }
  });

  it("shows relative times, aligned amounts, signs of statuses and yes or no", async () => {
    const { terminal, stdout, stderr } = screen(200, { NO_COLOR: "1" });
    await printRecord(terminal, list, { ...shape, columns: columns.slice(0, 6) });
    expect(stdout().split("\n").slice(1, 4)).to.deep.equal([
      `${id("a")}  ✓ paid              24.00 USD   tron      yes   3 h ago`,
      `${id("b")}  ! partially_paid  1024.5  USDT  tron      no    in 2 d`,
      `${id("c")}  unheard_of           -          ethereum  no    ${at(-400 * day).slice(0, 10)}`,
    ]);
    expect(stderr()).to.equal("");
  });

  it("drops hashes before ids, amounts and statuses, and names what it dropped", async () => {
    const { terminal, stdout, stderr } = screen(80, { NO_COLOR: "1" });
    await printRecord(terminal, list, shape);
    expect(stdout()).to.match(/^ID +STATUS +AMOUNT +/);
    expect(stdout()).not.to.include(hash);
    expect(stderr()).to.match(/^No space for network, used, transaction, message: widen the/);
  });

  it("colors statuses only where colors are allowed", async () => {
    for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
      const { terminal, stdout } = screen(80, env);
      await printRecord(terminal, list, shape);
      // oxlint-disable-next-line no-control-regex -- the escape character
      expect(stdout()).not.to.match(/\u001b/);
    }
    const { terminal, stdout } = screen(80, { TERM: "xterm" });
    await printRecord(terminal, list, shape);
    expect(stdout()).to.include("\u001b[32m✓ paid\u001b[39m");
  });

  it("is plain and complete in a pipe", async () => {
    const { terminal, stdout, stderr } = screen(null, {});
    await printRecord(terminal, list, shape);
    expect(stdout())
      .to.include(hash)
      .and.to.include(items[0]?.createdAt ?? "");
    expect(stdout()).to.match(/ {2}paid +24\.00 USD +tron/);
    expect(stderr()).to.equal("");
  });
});

describe("a record at a terminal", () => {
  it("wraps values between words, puts long ones on lines of their own, and shows times twice", async () => {
    for (const width of [80, 60, 30]) {
      const { terminal, stdout } = screen(width, { NO_COLOR: "1" });
      await printRecord(terminal, items[0], shape);
      for (const line of stdout().split("\n")) expect(widthOf(line), line).to.be.at.most(width);
      if (width === 80)
        expect(stdout()).to.include(`Created      ${at(-3 * hour - minute)} (3 h ago)`);
      if (width === 60)
        expect(stdout()).to.include(`\nTransaction\n  ${hash.slice(0, 58)}\n  ${hash.slice(58)}\n`);
    }
  });

  it("shows stretches of a series without anything as one line", async () => {
    const volumes = [
      "0.00",
      "0.00",
      "0.00",
      "1.00",
      "0.00",
      "2.50",
      "0.00",
      "0.00",
      "0.00",
      "0.00",
    ];
    const series = volumes.map((volume, place) => ({ day: `d${String(place)}`, volume }));
    const sections = () => [
      section({
        title: "Volume",
        trend: volumes,
        items: series,
        columns: ["day", "volume", { bar: "volume" }],
      }),
    ];
    const { terminal, stdout } = screen(80, { NO_COLOR: "1" });
    await printRecord(terminal, items[0], { ...shape, columns: ["id"], sections });
    const lines = stdout().split("\n").slice(2);
    expect(lines[0]).to.equal("Volume  ┄▃▁█┄");
    expect(lines.slice(2, 7).map((line) => line.split("  ")[0])).to.deep.equal([
      ...["… 3 without any", "d3", "d4", "d5", "… 4 without any"],
    ]);
    const piped = screen(null, {});
    await printRecord(piped.terminal, items[0], { ...shape, columns: ["id"], sections });
    expect(piped.stdout().split("\n").slice(4, 14)).to.have.lengthOf(10);
  });
});

describe("the parts of a drawing", () => {
  it("give a tone to every status of the API", async () => {
    const document = JSON.parse(await readFile("docs/openapi.json", "utf8")) as {
      components: { schemas: Record<string, { properties?: Record<string, { enum?: string[] }> }> };
    };
    const words = Object.values(document.components.schemas)
      .flatMap(({ properties = {} }) => Object.entries(properties))
      .filter(([name]) => /^(status|state|condition)$|(Status|State)$/.test(name))
      .flatMap(([, schema]) => schema.enum ?? []);
    expect(words).to.include("past_due");
    expect([...new Set(words)].filter((word) => toneOf(word) === null)).to.deep.equal([]);
  });

  it("say how far a time is away", () => {
    const told = [0, -45 * second, -90 * minute, 36 * hour, -3 * day, 90 * day].map((distance) =>
      relativeTime(at(distance), now),
    );
    expect(told.slice(0, 5)).to.deep.equal(["now", "45 s ago", "1 h ago", "in 36 h", "3 d ago"]);
    expect(told[5]).to.equal(at(90 * day).slice(0, 10));
  });

  it("align decimal points, with and without units", () => {
    expect(alignDecimals(["1", "-20.50", "3.125"])).to.deep.equal([
      "  1    ",
      "-20.50 ",
      "  3.125",
    ]);
    expect(alignDecimals(["-", "2.5 USD"])).to.deep.equal(["-      ", "2.5 USD"]);
  });

  it("measure and break texts of several writing systems", () => {
    expect(widthOf("中文")).to.equal(4);
    expect(widthOf("e\u0301")).to.equal(1);
    expect(widthOf("🙂")).to.equal(2);
    expect(wrap("中文字 ab", 4)).to.deep.equal(["中文", "字", "ab"]);
    expect(wrap("", 4)).to.deep.equal([""]);
  });

  it("fit a long trend into the terminal", () => {
    const values = Array.from({ length: 400 }, (_day, place) => String(place + 1));
    const line = fitTrend(values, 60);
    expect(widthOf(line)).to.be.at.most(60);
    expect(line.endsWith("█")).to.equal(true);
  });
});
