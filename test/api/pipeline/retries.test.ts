// Every operation that takes an Idempotency-Key: a valid call is made twice at once and then again.
import { expect } from "chai";
import { allOperations } from "../../../src/features/index.ts";
import type { Answer } from "../../support/app.ts";
import { dumpStore } from "../../support/store/dump.ts";
import { eachStore, takeTurns } from "../../support/store/stores.ts";
import { openEstate, type Estate } from "../estate.ts";
import { callExample, exampleOf } from "../examples.ts";

eachStore("a retry with the same key", (store) => {
  const it = takeTurns(store);
  let estate: Estate;

  before(async function () {
    this.timeout(120_000);
    estate = await openEstate(store);
  });
  after(() => estate.stop());

  /** Everything that the operation decides: the date and the id of the request differ. */
  const responseOf = ({ status, text, headers }: Answer) => ({
    status,
    text,
    type: headers.get("Content-Type"),
  });
  const isReplayed = ({ headers }: Answer) => headers.get("Idempotent-Replayed") === "true";

  for (const operation of allOperations.filter(({ idempotent }) => idempotent)) {
    it(`gets the response of ${operation.id} byte for byte, and changes nothing`, async () => {
      const example = await exampleOf(operation, estate);
      const headers = { "Idempotency-Key": `retries of ${operation.id}` };
      const send = () => callExample(operation, estate, example, { headers });
      const twins = await Promise.all([send(), send()]);
      const [first] = twins;
      expect(first.status, first.text).to.equal(operation.status);
      expect(first.text === "").to.equal(operation.record === null);
      const before = await dumpStore(estate.app.app.db);
      const again = await send();
      expect(twins.filter(isReplayed)).to.have.length(1);
      expect(isReplayed(again)).to.equal(true);
      for (const retry of [...twins, again]) {
        expect(responseOf(retry)).to.deep.equal(responseOf(first));
      }
      expect(await dumpStore(estate.app.app.db)).to.equal(before);
    });
  }
});
