import { spawnSync } from "node:child_process";

/**
 * Declares a suite that runs PHP. Without PHP the suite is skipped with the reason in its title, or fails if nothing may
 * be skipped.
 */
export function describeWithPhp(title: string, body: () => void): void {
  const reason = "php is not installed";
  if (spawnSync("php", ["--version"]).status === 0) describe(title, body);
  else if (process.env["TILL_TEST_NO_SKIP"] !== "1") describe.skip(`${title} (${reason})`, body);
  else {
    describe(title, () => {
      it("finds PHP", () => {
        throw new Error(reason);
      });
    });
  }
}
