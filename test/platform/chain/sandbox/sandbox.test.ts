import { expect } from "chai";
import { readFileSync } from "node:fs";
import type { ChainClient, TransferLog } from "../../../../src/platform/chain/client.ts";
import { parseNetworks } from "../../../../src/platform/chain/network-table.ts";
import { findToken, type Network } from "../../../../src/platform/chain/networks.ts";
import { ProviderError } from "../../../../src/platform/chain/providers/error.ts";
import {
  fakeContract,
  makeSandbox,
  SandboxRefused,
  type ReorganizationStart,
  type SandboxFault,
  type Sandbox,
  type SandboxPayment,
} from "../../../../src/platform/chain/sandbox/chain.ts";
import { createSandboxClient } from "../../../../src/platform/chain/sandbox/kind.ts";
import type { Database, Tx } from "../../../../src/platform/database/database.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";

function sandboxNetwork(): Network {
  const file = new URL("../../../../config/networks.yaml", import.meta.url);
  const networks = parseNetworks(readFileSync(file, "utf8"));
  const found = networks.ok ? networks.value.find(({ id }) => id === "sandbox") : undefined;
  if (found === undefined) throw new Error("there is no sandbox");
  return found;
}

const network = sandboxNetwork();
const usdt = findToken(network, "USDT")?.contract ?? "";
const wallet = "1111111111111111111111111111111111111111";
const other = "2222222222222222222222222222222222222222";
const start = 1_750_000_000_000;
const depth = network.finality.lagBlocks;

async function kindOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof ProviderError) return error.kind;
    throw error;
  }
  return "answered";
}

async function refusal(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof SandboxRefused) return error.message;
    throw error;
  }
  throw new Error("it was done");
}

eachStore("the sandbox chain", (store) => {
  const it = takeTurns(store);
  let db: Database;
  let now: number;
  let client: ChainClient;
  let crossCheck: ChainClient;
  let sandbox: Sandbox;
  let seed = 0;

  const clock = { now: () => now };
  const randomBytes = (length: number) => {
    seed += 1;
    return Uint8Array.from({ length }, (_, place) => (seed * 31 + place * 7) % 256);
  };
  const write = <T>(fn: (tx: Tx) => Promise<T>) => db.write(testContext, fn);
  const open = (blockMs: number) => write((tx) => sandbox.open(tx, blockMs));
  const mine = (count = 1) => write((tx) => sandbox.mine(tx, count));
  const pay = (payment: Partial<SandboxPayment> = {}) =>
    write((tx) => sandbox.pay(tx, { to: wallet, token: "USDT", amount: 25_000_000n, ...payment }));
  const reorganize = (from: ReorganizationStart, drop: boolean, absentBlocks = 0) =>
    write((tx) => sandbox.reorganize(tx, from, { drop, absentBlocks }));

  async function find(
    asked = client,
    recipients: string[] | null = [wallet],
  ): Promise<readonly TransferLog[]> {
    const { latest } = await asked.heads();
    const range = { from: 0, to: latest.height + 10, contracts: [usdt] };
    return (await asked.transfers({ ...range, recipients })).logs;
  }

  beforeEach(async () => {
    db = await store.open();
    now = start;
    const options = { network, clock, randomBytes };
    sandbox = makeSandbox(options);
    client = createSandboxClient({ reader: db, network, clock });
    crossCheck = createSandboxClient({ reader: db, network, clock, provider: "sandbox-witness" });
  });

  it("behaves like an unreachable provider before the chain exists", async () => {
    expect(await kindOf(client.heads())).to.equal("unreachable");
    await open(1_000);
    expect(await client.chainId()).to.equal(network.chainId);
    expect(await client.decimals(usdt)).to.equal(6);
    expect(await kindOf(client.decimals(fakeContract))).to.equal("refused");
  });

  it("has a block a second, without a row being written", async () => {
    await open(1_000);
    const rows = () =>
      db.all(
        "SELECT (SELECT COUNT(*) FROM sandbox_segments) + (SELECT COUNT(*) FROM sandbox_forks) AS n",
      );
    const before = await rows();
    now += 3_600_500;
    const { latest, finalized } = await client.heads();
    expect(latest).to.deep.include({ height: 3_600, time: start + 3_600_000 });
    expect(finalized).to.deep.include({
      height: 3_600 - depth,
      time: start + (3_600 - depth) * 1_000,
    });
    expect(await client.blocks([3_600, 3_601, 3_600 - depth])).to.deep.equal([
      latest,
      null,
      finalized,
    ]);
    expect(await rows()).to.deep.equal(before);
  });

  it.onBoth(
    "is the same chain for every process that opens it, and its block time can be changed",
    async () => {
      await open(1_000);
      now += 5_000;
      await open(1_000);
      const { latest } = await client.heads();
      expect(latest.height).to.equal(5);
      await open(0);
      now += 60_000;
      expect((await client.heads()).latest).to.deep.equal(latest);
      await open(10);
      now += 100;
      const later = await createSandboxClient({ reader: db, network, clock }).heads();
      expect(later.latest).to.deep.include({ height: 15, time: now });
      expect((await client.blocks([5]))[0]).to.deep.equal(latest);
      // A block time that never made a block leaves no trace.
      await open(500);
      await open(0);
      expect((await client.heads()).latest).to.deep.equal(later.latest);
    },
  );

  it("keeps the logs of a transaction with several transfers together", async () => {
    await open(0);
    const together = (...amounts: bigint[]) =>
      write((tx) => sandbox.payTogether(tx, { to: wallet, token: "USDT" }, amounts));
    await pay({ amount: 1n });
    const { transactionHash } = await together(10n, 0n, 15n);
    await pay({ amount: 2n });
    await mine();
    const logsOf = async () =>
      (await find()).map(({ logIndex, amount, transactionHash: hash }) => [
        ...[logIndex, amount, hash === transactionHash],
      ]);
    expect(await logsOf()).to.deep.equal([
      [0, 1n, false],
      [1, 10n, true],
      [3, 15n, true],
      [4, 2n, false],
    ]);
    const receipt = await client.receipt(transactionHash);
    const ofIt = (await find()).filter((log) => log.transactionHash === transactionHash);
    expect(receipt?.transfers).to.deep.equal(ofIt);
    const { transactions } = await reorganize(1, false);
    expect(transactions).to.have.length(3).and.include(transactionHash);
    await mine();
    expect(await logsOf()).to.deep.equal([
      [5, 1n, false],
      [6, 10n, true],
      [8, 15n, true],
      [9, 2n, false],
    ]);
    expect((await client.receipt(transactionHash))?.transfers).to.have.length(2);
    await reorganize(1, true);
    expect(await client.receipt(transactionHash)).to.equal(null);
    expect(await refusal(together())).to.include("1 to 100");
    expect(await refusal(together(...Array.from({ length: 101 }, () => 1n)))).to.include(
      "1 to 100",
    );
  });

  it("has a first provider that fails on command, and a second one that does not", async () => {
    await open(0);
    const paid = await pay();
    await mine();
    const disturb = (how: SandboxFault, forMs = 1_000) =>
      write((tx) => sandbox.disturb(tx, how, forMs));
    expect(await disturb("refuse")).to.equal(now + 1_000);
    expect(await kindOf(client.heads())).to.equal("rate_limited");
    expect(await find(crossCheck)).to.have.length(1);
    now += 1_000;
    await disturb("silence");
    expect(await find()).to.deep.equal([]);
    expect((await client.receipt(paid.transactionHash))?.succeeded).to.equal(true);
    expect(await find(crossCheck)).to.have.length(1);
    await disturb("silence", 0);
    expect(await find()).to.have.length(1);
    await disturb("contradict");
    const { succeeded, transfers } = (await client.receipt(paid.transactionHash)) ?? {};
    expect({ succeeded, transfers }).to.deep.equal({ succeeded: false, transfers: [] });
    expect((await crossCheck.receipt(paid.transactionHash))?.succeeded).to.equal(true);
    await disturb("stall");
    expect(await kindOf(crossCheck.heads())).to.equal("unreachable");
    now += 1_000;
    expect((await client.receipt(paid.transactionHash))?.succeeded).to.equal(true);
  });

  it("shows the same payment in its block's logs and in its receipt", async () => {
    await open(1_000);
    now += 2_500;
    const paid = await pay({ from: other });
    expect(paid.blockHeight).to.equal(3);
    expect(await find()).to.deep.equal([]);
    expect(await client.receipt(paid.transactionHash)).to.equal(null);
    now += 500;
    const { latest } = await client.heads();
    const [log] = await find();
    expect(log).to.deep.equal({
      transactionHash: paid.transactionHash,
      logIndex: 0,
      ordinal: 0,
      blockHeight: 3,
      blockHash: latest.hash,
      blockTime: start + 3_000,
      contract: usdt,
      from: other,
      to: wallet,
      amount: 25_000_000n,
    });
    expect(await client.receipt(paid.transactionHash)).to.deep.equal({
      transactionHash: paid.transactionHash,
      succeeded: true,
      blockHeight: 3,
      blockHash: latest.hash,
      transfers: [log],
    });
    expect(await client.blockTransfers(3, [usdt])).to.deep.equal([log]);
    expect(await client.blockTransfers(3, [])).to.deep.equal([]);
    expect(await find(client, [other])).to.deep.equal([]);
    expect(await find(client, null)).to.deep.equal([log]);
  });

  it("never adds a transaction to a block that may become visible before the commit", async () => {
    await open(1_000);
    now += 1_950;
    expect((await pay()).blockHeight).to.equal(3);
    expect((await client.heads()).latest.height).to.equal(1);
  });

  it("reports no block as final that a slow write may still add to, however fast blocks appear", async () => {
    await open(1);
    now += 10_000;
    const { latest, finalized } = await client.heads();
    expect(latest.time - finalized.time).to.equal(3_000);
  });

  it("makes blocks on command only, the first with all waiting transactions, and at most half a minute old", async () => {
    await open(0);
    now += 90_000;
    const paid = [await pay({ amount: 1n }), await pay({ amount: 2n })];
    expect(await find()).to.deep.equal([]);
    const tip = await mine(3);
    expect(tip).to.deep.include({ height: 3, time: now });
    const logs = await find();
    expect(
      logs.map(({ blockHeight, logIndex, amount }) => [blockHeight, logIndex, amount]),
    ).to.deep.equal([
      [1, 0, 1n],
      [1, 1, 2n],
    ]);
    expect(logs.map(({ transactionHash }) => transactionHash)).to.deep.equal(
      paid.map(({ transactionHash }) => transactionHash),
    );
    const times = (await client.blocks([0, 1, 2, 3])).map((block) => (block?.time ?? 0) - start);
    expect(times).to.deep.equal([0, 70_000, 80_000, 90_000]);
    await mine();
    expect((await client.heads()).latest).to.deep.include({ height: 4, time: now });
  });

  it("makes blocks on command between those that appear with time", async () => {
    await open(1_000);
    now += 1_950;
    expect((await pay()).blockHeight).to.equal(3);
    await mine(2);
    expect((await find()).map(({ blockHeight }) => blockHeight)).to.deep.equal([2]);
    expect((await client.heads()).latest).to.deep.include({ height: 3, time: now });
    now += 999;
    expect((await client.heads()).latest.height).to.equal(3);
    now += 1;
    expect((await client.heads()).latest).to.deep.include({ height: 4, time: now });
    for (const count of [0, -1, 1.5, 1e9]) await refusal(mine(count));
  });

  it("reports failed, empty, fake and untrue transfers as a node would", async () => {
    await open(0);
    const failed = await pay({ failed: true });
    const empty = await pay({ amount: 0n });
    const fake = await pay({ fakeToken: true });
    const lie = await pay({ lie: true });
    await mine();
    expect((await find()).map(({ transactionHash }) => transactionHash)).to.deep.equal([
      lie.transactionHash,
    ]);
    expect(await find(crossCheck)).to.deep.equal([]);
    expect(await client.receipt(failed.transactionHash)).to.deep.include({
      succeeded: false,
      transfers: [],
    });
    expect(await client.receipt(empty.transactionHash)).to.deep.include({
      succeeded: true,
      transfers: [],
    });
    const [transfer] = (await client.receipt(fake.transactionHash))?.transfers ?? [];
    expect(transfer).to.deep.include({ contract: fakeContract, to: wallet, amount: 25_000_000n });
    expect(await client.receipt(lie.transactionHash)).to.not.equal(null);
    expect(await crossCheck.receipt(lie.transactionHash)).to.equal(null);
    expect(await refusal(pay({ token: "DAI" }))).to.contain("USDT, USDC");
  });

  it("reorganizes: every replaced block has another hash, and its payments are gone", async () => {
    await open(1_000);
    now += 1_000;
    const kept = await pay({ amount: 1n });
    now += 2_000;
    const dropped = await pay({ amount: 2n });
    now += 3_000;
    const before = await client.heads();
    const blocks = await client.blocks([1, 2, 3, 4]);
    const { fromHeight, tip, transactions } = await reorganize(4, true);
    expect(transactions).to.deep.equal([dropped.transactionHash]);
    expect(fromHeight).to.equal(3);
    const after = await client.heads();
    expect(after.latest).to.deep.equal(tip);
    expect(after.latest.height).to.equal(before.latest.height);
    expect(after.latest.time).to.equal(before.latest.time);
    const replaced = await client.blocks([1, 2, 3, 4]);
    expect(replaced.map((block, place) => block?.hash === blocks[place]?.hash)).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
    expect((await find()).map(({ transactionHash }) => transactionHash)).to.deep.equal([
      kept.transactionHash,
    ]);
    expect(await client.receipt(dropped.transactionHash)).to.equal(null);
    now += 60_000;
    expect(await find()).to.have.length(1);
  });

  it("reorganizes: the same transactions return in a later block", async () => {
    await open(0);
    const paid = [await pay({ amount: 1n })];
    await mine();
    paid.push(await pay({ amount: 2n }));
    await mine(2);
    const before = await find();
    await reorganize(3, false);
    expect(await find()).to.deep.equal([]);
    await pay({ amount: 3n });
    await mine();
    const after = await find();
    expect(after.map(({ amount, blockHeight }) => [amount, blockHeight])).to.deep.equal([
      [1n, 4],
      [2n, 4],
      [3n, 4],
    ]);
    expect(after.slice(0, 2).map(({ transactionHash }) => transactionHash)).to.deep.equal(
      paid.map(({ transactionHash }) => transactionHash),
    );
    // A log has another index in another block.
    expect(after.map(({ logIndex }) => logIndex)).not.to.include.members(
      before.map(({ logIndex }) => logIndex),
    );
  });

  it("reorganizes from the newest transfer to an address on, and leaves it out for some blocks", async () => {
    await open(1_000);
    const { blockHeight } = await pay();
    now += 5_000;
    const { fromHeight, tip, transactions } = await reorganize({ to: wallet }, false, 3);
    expect([fromHeight, transactions.length]).to.deep.equal([blockHeight, 1]);
    now += 3_000;
    expect(await find()).to.deep.equal([]);
    now += 1_000;
    expect((await find()).map((log) => log.blockHeight)).to.deep.equal([tip.height + 4]);
    // A block on command includes it at once.
    await reorganize({ to: wallet }, false, 30);
    await mine();
    expect(await find()).to.have.length(1);
    expect(await refusal(reorganize({ to: "ab".repeat(20) }, true))).to.contain("no transfer");
    await mine(depth + 1);
    expect(await refusal(reorganize({ to: wallet }, true))).to.contain(String(depth));
  });

  it("reorganizes again, deeper or higher, but never a final block", async () => {
    await open(0);
    now += 1_000;
    await mine(depth + 10);
    const tips = new Set<string>();
    for (const blocks of [2, 5, 1, depth]) {
      await reorganize(blocks, true);
      tips.add((await client.heads()).latest.hash);
    }
    expect(tips.size).to.equal(4);
    now += 10_000;
    const { finalized } = await client.heads();
    expect(await refusal(reorganize(depth + 1, true))).to.contain(String(depth));
    expect((await client.heads()).finalized).to.deep.equal(finalized);
    for (const blocks of [0, -1, 0.5]) await refusal(reorganize(blocks, true));
  });

  it("stalls: no provider responds until the time is over, or a command ends it", async () => {
    await open(1_000);
    await write((tx) => sandbox.disturb(tx, "stall", 30_000));
    now += 29_999;
    expect(await kindOf(client.heads())).to.equal("unreachable");
    expect(await kindOf(crossCheck.receipt("0".repeat(64)))).to.equal("unreachable");
    now += 1;
    expect((await client.heads()).latest.height).to.equal(30);
    await write((tx) => sandbox.disturb(tx, "stall", 30_000));
    await write((tx) => sandbox.disturb(tx, "stall", 0));
    expect(await kindOf(client.heads())).to.equal("answered");
  });

  it.onBoth("runs concurrent commands one after the other", async () => {
    await open(0);
    const paid = await Promise.all(Array.from({ length: 20 }, () => pay()));
    await Promise.all([mine(2), mine(3), mine(1)]);
    expect((await client.heads()).latest.height).to.equal(6);
    const logs = await find();
    expect(new Set(logs.map(({ transactionHash }) => transactionHash)).size).to.equal(paid.length);
    expect(logs.map(({ logIndex }) => logIndex)).to.deep.equal(logs.map((_, place) => place));
    await Promise.all([reorganize(2, false), reorganize(3, false), mine(1)]);
    expect((await client.heads()).latest.height).to.equal(7);
  });

  it("returns data of one chain while it is being reorganized", async () => {
    await open(0);
    await mine(10);
    // The fork after its block drops each payment, so every payment was only ever seen with one block hash.
    const trueHashes = new Map<string, string>();
    const seen: TransferLog[] = [];
    const progress = { isOver: false };
    const reorganizing = (async () => {
      for (let round = 0; round < 15; round += 1) {
        const { transactionHash } = await pay({ amount: BigInt(round + 1) });
        await mine(2);
        trueHashes.set(transactionHash, (await client.receipt(transactionHash))?.blockHash ?? "");
        await reorganize(2, true);
      }
      progress.isOver = true;
    })();
    const range = { from: 0, to: 1_000, contracts: [usdt], recipients: null };
    while (!progress.isOver) {
      // If two reorganizations follow each other closely, the client may also report that it is unreachable.
      const answer = await client.transfers(range).catch((error: unknown) => {
        if (error instanceof ProviderError) return { logs: [] };
        throw error;
      });
      seen.push(...answer.logs);
    }
    await reorganizing;
    expect(
      seen.filter((log) => trueHashes.get(log.transactionHash) !== log.blockHash),
    ).to.deep.equal([]);
    expect(await find()).to.deep.equal([]);
  });

  it("creates the chain on the first command if no process has opened it", async () => {
    const paid = await pay();
    expect(paid.blockHeight).to.equal(1);
    now += network.blockTimeMs;
    expect(await find()).to.have.length(1);
  });

  it("continues at the tip if the clock was set back", async () => {
    await open(0);
    now += 5_000;
    const before = await mine();
    now -= 60_000;
    const after = await mine(3);
    expect(after).to.deep.include({ height: before.height + 3, time: before.time });
    await open(1_000);
    now = before.time + 1_000;
    expect((await client.heads()).latest).to.deep.include({ height: after.height + 1, time: now });
  });
});
