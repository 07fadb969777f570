import { expect } from "chai";
import { createLogger } from "../../../src/platform/logger/index.ts";
import type { LogFormat } from "../../../src/platform/logger/levels.ts";

function linesOf(format: LogFormat, write: (logger: ReturnType<typeof createLogger>) => void) {
  const lines: string[] = [];
  const clock = { now: () => Date.parse("2026-11-22T14:03:22.123Z") };
  const destination = { write: (line: string) => lines.push(line) };
  write(createLogger({ level: "info", format, clock, destination }));
  return lines.join("");
}

describe("log lines for people", () => {
  it("have the time, the level, the message and the fields on one line", () => {
    const text = linesOf("text", (logger) => {
      logger.warn({ network: "tron", count: 2, reason: "it = slow", secret: "s3" }, "late");
    });
    expect(text).to.equal(
      '14:03:22 WARN  late network=tron count=2 reason="it = slow" secret=[redacted]\n',
    );
  });

  it("show an error's stack and cause, and no control characters of others", () => {
    const text = linesOf("text", (logger) => {
      const cause = new Error("\u001b[2Jthe disk");
      logger.error({ err: new Error("it failed", { cause }) }, "line\nbreak\u202e");
    });
    const [first, ...stack] = text.split("\n");
    expect(first).to.equal("14:03:22 ERROR line\ufffdbreak\ufffd");
    expect(stack[0]).to.equal("  Error: it failed");
    expect(text).to.include("  Error: \ufffd[2Jthe disk").and.not.include("\u001b");
  });

  it("are JSON for a program, also by default where nobody watches a terminal", () => {
    for (const format of ["json", "auto"] as const) {
      const text = linesOf(format, (logger) => {
        logger.info("it");
      });
      expect(JSON.parse(text)).to.include({ level: "info", msg: "it" });
    }
  });
});
