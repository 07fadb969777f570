import { expect } from "chai";
import { drawProgress, startProgress, withProgress } from "../../../src/cli/terminal/progress.ts";
import { screen } from "./screen.ts";

/** A clock that goes on by 200 ms with each look. */
function fastClock() {
  let time = 0;
  return { now: () => (time += 200) };
}

describe("the progress of a long command", () => {
  it("is a bar on standard error that never fills the line, and is removed at the end", () => {
    for (const columns of [80, 60, 20]) {
      const { terminal, stdout, stderr } = screen(columns, { TERM: "xterm" });
      const bar = startProgress(terminal, fastClock());
      for (let done = 0; done <= 10; done += 1) bar.report("Reading blocks", done, 10);
      bar.end();
      const drawn = stderr().split("\r\u001b[2K");
      expect(drawn.filter((line) => line.length >= columns)).to.deep.equal([]);
      expect(drawn.some((line) => line.includes("50 %"))).to.equal(true);
      expect(drawn.at(-1)).to.equal("");
      expect(stdout()).to.equal("");
    }
  });

  it("is silent in a pipe, on a dumb terminal, with --quiet and with --json", () => {
    const silent = [
      screen(null, {}),
      screen(80, { TERM: "dumb" }),
      screen(80, {}, { quiet: true }),
      screen(80, {}, { json: true }),
    ];
    for (const { terminal, stderr } of silent) {
      const bar = startProgress(terminal, fastClock());
      for (let done = 0; done <= 10; done += 1) bar.report("Reading blocks", done, 10);
      bar.end();
      expect(stderr()).to.equal("");
    }
  });

  it("does not appear for short work, and not after a failure", async () => {
    const { terminal, stderr } = screen(80, {});
    const failing = withProgress(terminal, (report) => {
      report("Reading blocks", 1, 2);
      return Promise.reject(new Error("away"));
    });
    expect(await failing.catch(String)).to.equal("Error: away");
    expect(stderr()).to.equal("");
  });

  it("counts where the total is unknown", () => {
    expect(drawProgress("Copying rows", 1_234_567, null, 80)).to.equal("Copying rows  1,234,567");
    expect(drawProgress("Copying rows", 3, 2, 80)).to.match(/█{30} {2}100 %$/);
  });
});
