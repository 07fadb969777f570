import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect } from "chai";
import { Interrupted } from "../../../src/http/declare/command.ts";
import { printCsv } from "../../../src/cli/terminal/csv-output.ts";
import { startProgress } from "../../../src/cli/terminal/progress.ts";
import type { CsvContent } from "../../../src/http/declare/operation.ts";
import type { CsvCell } from "../../../src/kernel/csv.ts";
import { screen } from "./screen.ts";

const rows: readonly (readonly CsvCell[])[] = [
  ["inv_1", "=1"],
  ["inv_2", null],
  ["inv_3", "\u001b[2J,"],
];

const contentOf = (pages: CsvContent["pages"]): CsvContent => ({
  head: ["id", "text"],
  pages,
  fileName: "a.csv",
});

function content(meanwhile: (row: number) => void = () => undefined) {
  async function* pages() {
    for (const [place, row] of rows.entries()) {
      meanwhile(place);
      yield [row];
      await Promise.resolve();
    }
  }
  return contentOf(pages());
}

describe("a CSV export at the command line", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "till csv "));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const print = async (
    { terminal, stdout, stderr }: ReturnType<typeof screen>,
    output?: string,
    given = content(),
  ) => {
    await printCsv(terminal, given, output, startProgress(terminal));
    return { stdout: stdout(), stderr: stderr() };
  };

  it("is CSV in a pipe, JSON with --json, and ids with --quiet", async () => {
    const csv = await print(screen(null, {}));
    expect(csv).to.deep.equal({
      stdout: 'id,text\r\ninv_1,\'=1\r\ninv_2,\r\ninv_3,"\u001b[2J,"\r',
      stderr: "3 rows.",
    });
    const json = await print(screen(null, {}, { json: true }));
    expect(JSON.parse(json.stdout)).to.deep.equal({
      data: [
        { id: "inv_1", text: "=1" },
        { id: "inv_2", text: null },
        { id: "inv_3", text: "\u001b[2J," },
      ],
      nextCursor: null,
    });
    expect(json.stderr).to.equal("");
    const quiet = await print(screen(null, {}, { quiet: true }));
    expect(quiet).to.deep.equal({ stdout: "inv_1\ninv_2\ninv_3", stderr: "" });
  });

  it("is an empty list or a head of columns if there is nothing", async () => {
    const nothing = () => contentOf(Readable.from([[]]));
    expect((await print(screen(null, {}), undefined, nothing())).stdout).to.equal("id,text\r");
    const json = await print(screen(null, {}, { json: true }), undefined, nothing());
    expect(JSON.parse(json.stdout)).to.deep.equal({ data: [], nextCursor: null });
  });

  it("does not let texts control a terminal", async () => {
    const { stdout } = await print(screen(80, {}));
    expect(stdout).to.include("\ufffd[2J").and.not.to.include("\u001b").and.not.to.include("\r");
  });

  it("becomes a file of its owner once it is complete, and never replaces one", async () => {
    const path = join(folder, "a.csv");
    const { stdout, stderr } = await print(screen(null, {}), path);
    expect([stdout, stderr]).to.deep.equal(["", `3 rows in ${path}.`]);
    expect((await readFile(path, "utf8")).split("\r\n")).to.have.lengthOf(5);
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    await writeFile(path, "mine");
    const refused = await print(screen(null, {}), path).catch(String);
    expect(refused).to.match(/exists\. Give another name/);
    expect(await readFile(path, "utf8")).to.equal("mine");
    expect(await readdir(folder)).to.deep.equal(["a.csv"]);
    await print(screen(null, {}, { yes: true }), path);
    expect(await readFile(path, "utf8")).to.match(/^id,text/);
    const nowhere = await print(screen(null, {}), join(folder, "no", "a.csv")).catch(String);
    expect(nowhere).to.match(/cannot be written \(ENOENT\)/);
  });

  it("leaves nothing behind after Ctrl-C", async () => {
    const stopping = content((row) => {
      if (row === 1) process.emit("SIGINT");
    });
    const ended = await print(screen(null, {}), join(folder, "a.csv"), stopping).catch(
      (error: unknown) => error,
    );
    expect(ended).to.be.instanceOf(Interrupted);
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it("stops when the reader of the pipe has left", async () => {
    const pipe = screen(null, {});
    const leaving = content((row) => {
      if (row === 1) pipe.terminal.surroundings.stdout.destroy();
    });
    await print(pipe, undefined, leaving);
  });
});
