import { PassThrough, Readable } from "node:stream";
import { expect } from "chai";
import { makeTerminal } from "../../../src/cli/terminal/terminal.ts";
import { watch } from "../../../src/cli/terminal/watch.ts";

/** Watches until the text was printed; returns what the terminal got, write by write. */
async function seen(
  screen: { readonly isTTY: boolean; readonly rows?: number; readonly env?: object },
  lines: readonly string[],
): Promise<string[]> {
  const writes: string[] = [];
  const { isTTY, rows, env = {} } = screen;
  const stdout = Object.assign(new PassThrough(), {
    isTTY,
    ...(rows === undefined ? {} : { rows }),
  });
  stdout.on("data", (chunk: Buffer) => writes.push(chunk.toString("utf8")));
  const stdin = Readable.from([]);
  const terminal = makeTerminal({}, { stdin, stdout, stderr: new PassThrough(), env: { ...env } });
  let times = 0;
  await watch(terminal, (page) => {
    times += 1;
    for (const line of lines) page.data(line);
    // As a terminal that changes its size, and then as one that is closed.
    setImmediate(() => stdout.emit(times === 1 ? "resize" : "close"));
    return Promise.resolve();
  });
  await new Promise((resolve) => setImmediate(resolve));
  return writes;
}

describe("watching an output", () => {
  it("replaces it in one write on the alternate screen, and restores the terminal", async () => {
    const writes = await seen({ isTTY: true }, ["one", "two"]);
    const frame = "\u001b[Hone\u001b[K\ntwo\u001b[K\nEvery 2 s. Ctrl-C ends.\u001b[K\u001b[J";
    expect(writes).to.deep.equal([
      "\u001b[?1049h\u001b[?25l\u001b[?7l",
      frame,
      frame,
      "\u001b[?7h\u001b[?25h\u001b[?1049l",
    ]);
  });

  it("never scrolls a low terminal", async () => {
    const [, frame = ""] = await seen({ isTTY: true, rows: 4 }, ["1", "2", "3", "4", "5"]);
    expect(frame.split("\n")).to.have.length(4);
    expect(frame).to.include("…").and.not.to.include("3");
  });

  it("prints one output after another in a pipe and on a dumb terminal", async () => {
    for (const screen of [{ isTTY: false }, { isTTY: true, env: { TERM: "dumb" } }]) {
      expect((await seen(screen, ["one"])).join("")).to.equal("one\none\n");
    }
  });
});
