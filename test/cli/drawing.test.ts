import { expect } from "chai";
import { drawBars, drawTrend } from "../../src/cli/terminal/drawing/sparkline.ts";

describe("figures on a terminal", () => {
  it("are bars in proportion to the largest, in eighths of a column", () => {
    expect(drawBars(["60", "30.00", "0.00", "1", "0.001"])).to.deep.equal([
      "█".repeat(30),
      "█".repeat(15),
      "",
      "▌",
      "▏",
    ]);
  });

  it("are a line in which zero and small values differ", () => {
    expect(drawTrend(["0", "0.01", "50.00", "100"])).to.equal("▁▂▄█");
    expect(drawTrend(["0.00", "0"])).to.equal("▁▁");
    expect(drawTrend([])).to.equal("");
    expect(drawBars(["0", "0.00"])).to.deep.equal(["", ""]);
  });

  it("compare amounts that exceed floating-point precision", () => {
    const more = "90071992547409930.000000000000000001";
    const [first, second] = drawBars([more, "90071992547409930.000000000000000000"]);
    expect(first).to.equal("█".repeat(30));
    expect(second).to.equal(`${"█".repeat(29)}▉`);
  });

  it("have no bar for zero or less", () => {
    expect(drawBars(["-5.00", "10.00"])).to.deep.equal(["", "█".repeat(30)]);
    expect(drawTrend(["-5.00", "10.00"])).to.equal("▁█");
  });
});
