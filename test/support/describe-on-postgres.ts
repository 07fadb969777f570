import { postgresUnavailableReason } from "./postgres.ts";

/**
 * A suite that needs PostgreSQL: where there is none, it is skipped under a name that says why, or fails where nothing
 * may be skipped.
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
