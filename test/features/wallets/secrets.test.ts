// Somebody pastes what would let us spend their money: it is refused, and nowhere on record afterwards.
import { expect } from "chai";
import { createLogger } from "../../../src/platform/logger/index.ts";
import { approvedMerchant, expectStatus, startApp } from "../../support/app.ts";
import { dumpStore } from "../../support/store/dump.ts";
import { xpubs } from "../../support/merchants.ts";
import { eachStore } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";

const privateKey = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318";
const words = "legal winner thank year wave sausage worth useful legal winner thank yellow";

eachStore("A secret submitted as a wallet", (store) => {
  it("is refused, and never returned, logged or stored", async () => {
    const lines: string[] = [];
    const logger = createLogger({
      level: "debug",
      destination: { write: (line) => lines.push(line) },
    });
    const app = await startApp({ place: await store.place("migrated"), outside: { logger } });
    try {
      const merchant = await approvedMerchant(app);
      const path = `${merchant.path}/wallets`;
      const secrets = [
        { address: privateKey },
        { address: `0x${privateKey}` },
        { address: words },
        { xpub: words },
        { xpub: xpubs.privateKey },
        { address: xpubs.privateKey },
        { label: privateKey, address: `0x${"1".repeat(40)}1` },
      ];
      for (const [place, secret] of secrets.entries()) {
        const body = { label: "Till", network: "sandbox", ...secret };
        const headers = { "idempotency-key": `secret-${String(place)}` };
        const request = { key: merchant.key, body, headers };
        const answer = await expectStatus(app.request("POST", path, request), 400);
        for (const each of [privateKey, words, xpubs.privateKey]) {
          expect(answer.text).not.to.include(each);
        }
      }
      await until(
        "a line of the log",
        () => lines.length,
        (count) => count > 0,
      );
      const kept = await dumpStore(app.app.db);
      for (const each of [privateKey, words, xpubs.privateKey]) {
        expect(kept).not.to.include(each);
        expect(lines.join("\n")).not.to.include(each);
      }
      expect(lines).not.to.deep.equal([]);
    } finally {
      await app.stop();
    }
  });
});
