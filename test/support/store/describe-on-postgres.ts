import { postgresUnavailableReason } from "./postgres.ts";

/**
 * Declares a suite that needs PostgreSQL. Without it the suite is skipped with the reason in its title, or fails if
 * nothing may be skipped.
 */
export function describeOnPostgres(title: string, body: (this: Mocha.Suite) => void): void {
  const reason = postgresUnavailableReason();
  if (reason === null) {
    describe(title, body);
  } else if (process.env["TILL_TEST_NO_SKIP"] === "1") {
    describe(title, () => {
      it("finds PostgreSQL", () => {
        throw new Error(reason);
      });
    });
  } else {
    describe.skip(`${title} (${reason})`, body);
  }
}
