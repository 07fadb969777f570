import { expect } from "chai";
import { makeReceiptKeys } from "../../../src/features/receipts/keys.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { createIds } from "../../../src/kernel/id.ts";
import { createJournal } from "../../../src/platform/journal/index.ts";
import { systemRandom } from "../../../src/platform/secrets/random.ts";
import { deriveSigningKey } from "../../../src/platform/secrets/signing-keys.ts";
import { serverSecret } from "../../support/secret.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

eachStore("the keys of receipts", (store) => {
  it("are replaced one after another, by any number of processes, and stay published", async () => {
    const place = await store.place("migrated");
    const db = await store.open(place);
    const journal = createJournal({ ids: createIds(systemRandom), wake: () => undefined });
    const makeKeys = () =>
      makeReceiptKeys({ db, clock: systemClock, journal, secret: serverSecret });
    const keys = makeKeys();
    const first = await keys.current();
    expect(first).to.deep.equal(await deriveSigningKey(serverSecret, 1));
    expect(await keys.published()).to.deep.equal({ keys: [first.publicKey] });
    await Promise.all(Array.from({ length: 8 }, () => makeKeys().rotate(testContext)));
    const published = await keys.published();
    expect(new Set(published.keys.map(({ kid }) => kid))).to.have.lengthOf(9);
    expect(published.keys.at(-1)).to.deep.equal(first.publicKey);
    expect((await keys.current()).publicKey).to.deep.equal(published.keys[0]);
    const entries = await db.all(
      "SELECT id FROM audit_logs WHERE action = 'receipt_key.rotated'",
      [],
    );
    expect(entries).to.have.lengthOf(8);
  });
});
