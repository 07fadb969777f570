import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../support/until.ts";

/** Returns true while the process of `ends-later.ts` runs, or has not begun. */
function goesOn(): boolean {
  const file = join(tmpdir(), "ends-later");
  if (!existsSync(file)) return true;
  try {
    return process.kill(Number(readFileSync(file, "utf8")), 0);
  } catch {
    return false;
  }
}

describe("a file that takes longer than another process", () => {
  it("passes", () => until("its end", goesOn, (answer) => !answer));
});
