import { expect } from "chai";
import { csvLine, CsvError, parseCsv } from "../../src/kernel/csv.ts";

const cellsOf = (text: string) => parseCsv(text).map(({ cells }) => cells);

describe("parseCsv", () => {
  it("reads lines that end in any way, with or without a byte order mark", () => {
    for (const end of ["\n", "\r\n", "\r"]) {
      for (const text of [`a,b${end}1,2`, `a,b${end}1,2${end}`, `\ufeffa,b${end}${end}1,2${end}`]) {
        expect(cellsOf(text), JSON.stringify(text)).to.deep.equal([
          ["a", "b"],
          ["1", "2"],
        ]);
      }
    }
  });

  it("stops after the maximum number of rows, whatever follows", () => {
    expect(parseCsv('a\n\nb\nc\n"not closed', 2).map(({ cells }) => cells)).to.deep.equal([
      ["a"],
      ["b"],
    ]);
  });

  it("reads commas, quotes and line breaks in quoted fields, and counts the lines", () => {
    const rows = parseCsv('a,b\n"1,5","say ""hi""\r\nthere"\n"",x\n');
    expect(rows).to.deep.equal([
      { line: 1, cells: ["a", "b"] },
      { line: 2, cells: ["1,5", 'say "hi"\r\nthere'] },
      { line: 4, cells: ["", "x"] },
    ]);
  });

  it("keeps empty fields, also at the end of the file", () => {
    expect(cellsOf(",\n")).to.deep.equal([["", ""]]);
    expect(cellsOf("a,")).to.deep.equal([["a", ""]]);
    expect(cellsOf("")).to.deep.equal([]);
  });

  it("names the line of a quoted field that does not end or has text beside its quotes", () => {
    for (const [text, line] of [
      ['a\nb,"c\nd\n', 2],
      ['a\n"b"c\n', 2],
      ['a\nb"c"\n', 2],
    ] as const) {
      expect(() => parseCsv(text), text)
        .to.throw(CsvError)
        .with.property("line", line);
    }
  });

  it("reads a long file with an unfinished quote in linear time", () => {
    expect(() => parseCsv(`"${'x""'.repeat(500_000)}`)).to.throw(CsvError);
  });
});

describe("csvLine", () => {
  it("quotes fields with commas, quotes and line breaks, and leaves null empty", () => {
    expect(csvLine(["a", null, "1,5", 'say "hi"', "two\nlines", ""])).to.equal(
      'a,,"1,5","say ""hi""","two\nlines",\r\n',
    );
  });

  it("marks texts that a spreadsheet would take for formulas, but not numbers", () => {
    const hostile = ["=1+1", "+49 30", "-2+3", "@SUM(A1)", "\t1", "\uff1d1"];
    for (const text of hostile) {
      const [row] = parseCsv(csvLine([text, "x"]));
      expect(row?.cells, JSON.stringify(text)).to.deep.equal([`'${text}`, "x"]);
    }
    expect(csvLine(["-5.00", "0", "12.345"])).to.equal("-5.00,0,12.345\r\n");
  });

  it("marks formulas behind a semicolon, a tab or a line break, which separate cells elsewhere", () => {
    for (const [text, marked] of [
      ["a;=1+1", "a;'=1+1"],
      ["a\t@SUM(A1)", "a\t'@SUM(A1)"],
      ['a; "+1', "a;' \"+1"],
      ["a;;-2+3;\uff1d1", "a;;'-2+3;'\uff1d1"],
      ["a\r\n=1", "a\r\n'=1"],
      ["\t=1", "'\t'=1"],
      ["\n=1", "'\n'=1"],
    ] as const) {
      const line = csvLine([text]);
      expect(line).to.equal(`"${marked.replaceAll('"', '""')}"\r\n`);
      expect(cellsOf(line), JSON.stringify(text)).to.deep.equal([[marked]]);
    }
    expect(csvLine(["a;b=1", "a;-5.00;-1", "a=1", "1-2"])).to.equal(
      '"a;b=1","a;-5.00;-1",a=1,1-2\r\n',
    );
  });

  it("writes rows that are read back as they were", () => {
    const cells = ["Müller & Söhne", "商店", 'a"b', ",", " ", "line\r\nbreak", "'quoted"];
    expect(cellsOf(csvLine(cells))).to.deep.equal([cells]);
  });
});
