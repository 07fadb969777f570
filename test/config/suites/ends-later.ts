import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeFileSync } from "node:fs";

/** `waits.ts` goes on until this process has ended. */
after(() => {
  writeFileSync(join(tmpdir(), "ends-later"), String(process.pid));
  setTimeout(() => process.exit(0), 1_000).unref();
});

describe("a process that ends while it has no file", () => {
  it("passes", () => undefined);
});
