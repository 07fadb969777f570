import { expect } from "chai";
import {
  currentReceiptKey,
  listReceiptKeys,
  rotateReceiptKey,
} from "../../../src/features/receipts/keys.ts";
import { deriveSigningKey } from "../../../src/platform/secrets/signing-keys.ts";
import { appOf } from "../../support/context.ts";
import { serverSecret } from "../../support/secret.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

eachStore("the keys of receipts", (store) => {
  it("are replaced one after another, by any number of processes, and stay published", async () => {
    const place = await store.place("migrated");
    const db = await store.open(place);
    const newProcess = () => appOf({ db, secret: serverSecret });
    const app = newProcess();
    const first = await currentReceiptKey(app);
    expect(first).to.deep.equal(await deriveSigningKey(serverSecret, 1));
    expect(await listReceiptKeys(app)).to.deep.equal({ keys: [first.publicKey] });
    await Promise.all(Array.from({ length: 8 }, () => rotateReceiptKey(newProcess(), testContext)));
    const published = await listReceiptKeys(app);
    expect(new Set(published.keys.map(({ kid }) => kid))).to.have.lengthOf(9);
    expect(published.keys.at(-1)).to.deep.equal(first.publicKey);
    expect((await currentReceiptKey(app)).publicKey).to.deep.equal(published.keys[0]);
    const entries = await db.all(
      "SELECT id FROM audit_logs WHERE action = 'receipt_key.rotated'",
      [],
    );
    expect(entries).to.have.lengthOf(8);
  });
});
