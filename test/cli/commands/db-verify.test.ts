import { join } from "node:path";
import { expect } from "chai";
import { openDatabase } from "../../../src/platform/database/open.ts";
import { testContext } from "../../support/store/stores.ts";
import { init, till, useFolders } from "../../support/programs/till.ts";

const folders = useFolders();

interface Shown {
  readonly data: readonly {
    readonly name: string;
    readonly holds: boolean;
    readonly violations: readonly { readonly row: string; readonly fault: string }[];
  }[];
}

describe("till db verify", () => {
  it("passes on a fresh store, and names a row that was corrupted", async () => {
    const folder = join(await folders.make(), "data");
    expect((await init(["--data-dir", folder])).code).to.equal(0);
    const whole = await till(["db", "verify", "--json", "--data-dir", folder]);
    expect(whole.code, whole.stderr).to.equal(0);
    const { data } = JSON.parse(whole.stdout) as Shown;
    expect(data.map(({ name }) => name)).to.include.members(["payments.ledger", "audit.chain"]);
    expect(data.filter(({ holds }) => !holds)).to.deep.equal([]);

    const db = await openDatabase({ sqliteFile: join(folder, "till.db") });
    await db.write(testContext, (tx) =>
      tx.run(
        `INSERT INTO idempotency_keys (claim, fingerprint, status, body, is_sealed, created_at)
         VALUES ('a claim', 'f', 500, '{}', 0, 1)`,
      ),
    );
    await db.close();

    const broken = await till(["db", "verify", "--data-dir", folder]);
    expect(broken.code).to.equal(7);
    expect(broken.stdout).to.include("a claim").and.to.include("Delete the row");
    expect(broken.stderr).to.include("idempotency.answers");
    const quiet = await till(["db", "verify", "--quiet", "--data-dir", folder]);
    expect(quiet.stdout.trim()).to.equal("a claim");
  });
});
