import { expect } from "chai";
import { makeDesk } from "./desk.ts";
import { openMarket } from "./market.ts";

describe("till chain", function () {
  this.timeout(60_000);
  const desk = makeDesk({ TILL_NETWORKS: "sandbox", TILL_SANDBOX_BLOCK_MS: "0" });

  it("tells how the network is read, reads it again and proves it", async () => {
    const store = await desk.store();
    await openMarket(store);

    const status = (await store.json(["chain", "status"])) as { data: Record<string, unknown>[] };
    const [network] = status.data;
    const tip = (network?.["tip"] as { blockNumber: number }).blockNumber;
    expect(network).to.include({ network: "sandbox", lagBlocks: 0 });
    expect(network?.["alarms"]).to.deep.equal([]);
    const probed = (await store.json(["chain", "status", "--probe"])) as typeof status;
    expect(probed.data[0]?.["providers"]).to.have.length(2);

    const range = ["--network", "sandbox", "--from", "1", "--to", String(tip)];
    expect(await store.json(["chain", "scan", ...range])).to.include({
      transfersFound: 1,
      transfersNew: 0,
    });
    const audit = await store.json(["chain", "audit", "--network", "sandbox"]);
    expect(audit).to.deep.include({ isComplete: true, gaps: [], blocksUnread: 0 });

    const beyond = await store.till(["chain", "audit", ...range.slice(0, -1), String(tip + 5)]);
    expect(beyond.code).to.equal(1);
    expect(beyond.stderr).to.include(`${String(tip + 1)}–${String(tip + 5)}`);
    expect((await store.till(["chain", "audit", "--network", "tron"])).code).to.equal(5);
    expect((await store.till(["chain", "scan", "--network", "sandbox"])).code).to.equal(2);
    const wrong = ["chain", "scan", "--network", "sandbox", "--from", "1", "--to", "1e3"];
    expect((await store.till(wrong)).code).to.equal(2);
  });
});
