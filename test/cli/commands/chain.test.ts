import { expect } from "chai";
import { writeAlarms } from "../../../src/platform/chain/state/provider-health.ts";
import { context, makeDesk } from "../billing-operator.ts";
import { openMarket } from "../market.ts";

describe("till chain", () => {
  const desk = makeDesk({ TILL_NETWORKS: "sandbox", TILL_SANDBOX_BLOCK_MS: "0" });

  it("shows how the network is read, rescans it and verifies it", async () => {
    const store = await desk.store();
    await openMarket(store);

    const status = (await store.json(["chain", "status"])) as { data: Record<string, unknown>[] };
    const [network] = status.data;
    const tip = Number((network?.["tip"] as Record<string, unknown> | undefined)?.["blockNumber"]);
    expect(network).to.include({ network: "sandbox", lagBlocks: 0 });
    expect(network?.["lagSeconds"]).to.be.a("number");
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

    const later = await store.json(["chain", "audit", "--network", "sandbox", "--from", "2"]);
    expect(later).to.include({ fromBlockNumber: 2 });
    const beyond = await store.till(["chain", "audit", ...range.slice(0, -1), String(tip + 5)]);
    expect(beyond.code).to.equal(1);
    expect(beyond.stderr).to.include(`${String(tip + 1)}–${String(tip + 5)}`);
    expect((await store.till(["chain", "audit", "--network", "tron"])).code).to.equal(5);
    expect((await store.till(["chain", "scan", "--network", "sandbox"])).code).to.equal(2);
    const wrong = ["chain", "scan", "--network", "sandbox", "--from", "1", "--to", "1e3"];
    expect((await store.till(wrong)).code).to.equal(2);

    await store.withApp(({ db }) =>
      db.write(context, (tx) =>
        writeAlarms(
          tx,
          "sandbox",
          [
            {
              kind: "providers_disagree",
              subject: "blocks 1 to 9",
              message: "They differ.",
              raisedAt: 1,
              endedAt: null,
            },
          ],
          1,
        ),
      ),
    );
    const about = ["--network", "sandbox", "--subject", "blocks 1 to 9"];
    const dry = await store.till(["chain", "acknowledge", ...about, "--dry-run"]);
    expect(dry.code, dry.stderr).to.equal(0);
    const ended = await store.till(["chain", "acknowledge", ...about]);
    expect(ended.stdout).to.include("They differ.");
    expect(await store.audited("chain.alarm_acknowledged")).to.have.length(1);
    const nothing = await store.till(["chain", "acknowledge", "--network", "sandbox"]);
    expect(nothing.code).to.equal(6);
    expect(nothing.stderr).to.include("No such alarm is open");
  });
});
