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

  before(async () => {
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

  const idempotentOperations = allOperations.filter(({ idempotent }) => idempotent);
  const publicOperations = idempotentOperations.filter(({ access }) => access.kind === "public");

  for (const operation of idempotentOperations) {
    it(`gets the response of ${operation.id} byte for byte, and changes nothing`, async () => {
      const example = await exampleOf(operation, estate);
      const headers = { "Idempotency-Key": `retries of ${operation.id}` };
      const send = () => callExample(operation, estate, example, { headers });
      const unsent = await dumpStore(estate.app.app.db);
      const twins = await Promise.all([send(), send()]);
      const [first] = twins;
      expect(first.status, first.text).to.equal(operation.status);
      expect(first.text === "").to.equal(operation.record === null);
      const before = await dumpStore(estate.app.app.db);
      // Nothing is kept for a request without a credential that changed nothing.
      const isKept = before !== unsent;
      expect(isKept || publicOperations.includes(operation)).to.equal(true);
      const again = await send();
      expect(twins.filter(isReplayed)).to.have.length(isKept ? 1 : 0);
      expect(isReplayed(again)).to.equal(isKept);
      for (const retry of [...twins, again]) {
        expect(responseOf(retry)).to.deep.equal(responseOf(first));
      }
      expect(await dumpStore(estate.app.app.db)).to.equal(before);
    });
  }

  for (const operation of publicOperations) {
    it.onBoth(
      `keeps no response of ${operation.id} if 64 requests without a credential change nothing`,
      async () => {
        const example = await exampleOf(operation, estate);
        const send = (key: string) =>
          callExample(operation, estate, example, { headers: { "Idempotency-Key": key } });
        // After the first one there is nothing left to do.
        await send(`the first ${operation.id}`);
        const before = await dumpStore(estate.app.app.db);
        const answers = await Promise.all(
          Array.from({ length: 64 }, (_, caller) => send(`${operation.id} ${String(caller)}`)),
        );
        const again = await send(`${operation.id} 0`);
        const distinct = new Set(
          [...answers, again].map(({ status, text }) => `${String(status)} ${text}`),
        );
        expect([...distinct]).to.have.length(1);
        expect(again.status).to.equal(operation.status);
        expect(await dumpStore(estate.app.app.db)).to.equal(before);
      },
    );
  }
});
