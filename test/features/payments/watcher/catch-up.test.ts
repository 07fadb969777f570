// Catching up after downtime: TILL_PROVE=1 (npm run prove:catchup) reads 50,000 missed blocks, CI 5,000.
import { expect } from "chai";
import { standInInvoices } from "../../../support/chain/asked-invoices.ts";
import { eachStore } from "../../../support/store/stores.ts";
import { catchUp, type CaughtUp } from "./catch-up.ts";

const isProof = process.env["TILL_PROVE"] !== undefined;
const blocks = isProof ? 50_000 : 5_000;
const fewMerchants = 3;
const manyMerchants = isProof ? 5_000 : 500;

eachStore("A watcher that was away", (store) => {
  store.leavesUnsound(standInInvoices);

  it(`reads ${String(blocks)} blocks without a gap, whatever the number of merchants`, async () => {
    const few = await catchUp(await store.open(), { blocks, merchants: fewMerchants });
    const many = await catchUp(await store.open(), { blocks, merchants: manyMerchants });
    for (const run of [few, many]) tell(run);
    // The number of requests does not depend on the number of merchants.
    expect(many.requests).to.equal(few.requests);
    // Only work that grows with the merchants would exceed it.
    expect(many.cpuMs).to.be.below(few.cpuMs * 5 + 2_000);
  });
});

function tell({ merchants, milliseconds, requests, blocks: read }: CaughtUp): void {
  if (!isProof) return;
  const speed = Math.round((read / milliseconds) * 1_000);
  process.stdout.write(
    `      ${String(merchants)} merchants: ${String(speed)} blocks/s, ${String(requests)} requests\n`,
  );
}
