import { expect } from "chai";
import { auditBlocks } from "../../../../src/features/payments/networks/chain.ts";
import { minute } from "../../../../src/kernel/clock.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { token } from "../../../support/chain/asked-invoices.ts";
import { addressOf } from "../../../support/chain/fake-chain.ts";
import { openPool } from "../../../support/chain/world.ts";
import { cpuMs } from "../../../support/cpu-time.ts";

/** How long the watcher took to read the missed blocks. */
export interface CaughtUp {
  readonly blocks: number;
  readonly merchants: number;
  readonly milliseconds: number;
  /** The processor time of this process meanwhile, in milliseconds. */
  readonly cpuMs: number;
  readonly requests: number;
}

/** The node's limit of blocks per request, and the number of ranges after which it answers 429. */
const rangeMax = 300;
const refusedEvery = 5;
const paidEvery = 97;

/**
 * Leaves a network unread for some blocks with payments to some merchants, then reads it through a node that refuses
 * long ranges and too many requests. Expects every payment to be found once, and no block to be missed.
 */
export async function catchUp(
  db: Database,
  { blocks, merchants }: { readonly blocks: number; readonly merchants: number },
): Promise<CaughtUp> {
  const till = await openPool(db, { nodes: 1, maxLogRange: 5_000 });
  try {
    const [node] = till.nodes;
    if (node === undefined) throw new Error("there is no node");
    const shops = Array.from({ length: merchants }, (_, place) => addressOf(`s${String(place)}`));
    for (const address of shops) till.invoices.ask({ address });
    const first = till.chain.height() + 1;
    let paid = 0;
    for (let height = first; height < first + blocks; height += paidEvery) {
      const to = shops[paid % merchants] ?? "";
      till.chain.place(height, [{ to, amount: token(1) }]);
      paid += 1;
    }
    till.pass(blocks);
    node.view.rangeMax = rangeMax;
    node.resetCounts();
    let answers = 0;
    node.lie((call, result) => {
      if (call.method === "eth_getLogs") answers += 1;
      if (call.method === "eth_getLogs" && answers % refusedEvery === 0) node.fail("rate-limited");
      return result;
    });

    const begun = performance.now();
    const before = cpuMs();
    const tip = till.chain.height();
    for (let turn = 0; (await till.state()).tipHeight < tip; turn += 1) {
      if (turn > blocks) throw new Error("it never catches up");
      await till.look();
      till.advance(minute);
    }
    const milliseconds = performance.now() - begun;
    const spentMs = cpuMs() - before;
    const { requests } = node.counts();
    expect(till.pool.counts()[0]?.failures["rate_limited"]).to.be.at.least(2);
    node.heal();

    await till.mine(40);
    const found = await till.transfers();
    expect(found).to.have.length(paid);
    expect(new Set(found.map(({ transactionHash }) => transactionHash)).size).to.equal(paid);
    expect(await till.payments()).to.have.length(paid);
    const audit = await auditBlocks(till.app, "ethereum", {});
    expect(audit).to.deep.include({ gaps: [], seams: [], to: till.chain.height() });
    expect(audit.ranges).to.have.length(1);
    return { blocks, merchants, milliseconds, cpuMs: spentMs, requests };
  } finally {
    await till.stop();
  }
}
