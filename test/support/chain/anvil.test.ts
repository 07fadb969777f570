import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { startAnvil, type Anvil } from "./anvil.ts";
import { compiledProgram } from "../programs/built.ts";
import { describeOnAnvil } from "../suites/describe-on-anvil.ts";
import { hexNumber, JsonRpcRefusal } from "./json-rpc.ts";

interface Block {
  readonly hash: string;
  readonly timestamp: string;
  readonly transactions: readonly string[];
}

describeOnAnvil("anvil", () => {
  const genesisTime = Date.UTC(2026, 0, 1);
  let anvil: Anvil;

  beforeEach(async () => {
    anvil = await startAnvil({ chainId: 728_126_428, genesisTime, blockSeconds: 3 });
  });
  afterEach(() => anvil.stop());

  const block = (height: number) =>
    anvil.rpc("eth_getBlockByNumber", [hexNumber(height), false]) as Promise<Block>;
  const hashes = async () => {
    const tip = await anvil.height();
    const blocks = await Promise.all(Array.from({ length: tip + 1 }, (_, at) => block(at)));
    return blocks.map(({ hash }) => hash);
  };
  const sendSomething = () => {
    const [from = "", to = ""] = anvil.accounts;
    return anvil.send({ from, to, data: "0x" });
  };

  it("has the given chain id and block times, and ten accounts", async () => {
    expect(await anvil.rpc("eth_chainId")).to.equal("0x2b6653dc");
    expect(anvil.accounts).to.have.length(10);
    expect(anvil.accounts[0]).to.equal("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266");
    await anvil.mine(2);
    const times = [await block(0), await block(1), await block(2)].map(({ timestamp }) =>
      Number(timestamp),
    );
    expect(times).to.deep.equal([0, 3, 6].map((seconds) => genesisTime / 1_000 + seconds));
    await anvil.setNextBlockTime(genesisTime + 3_600_000);
    await anvil.mine();
    expect(Number((await block(3)).timestamp)).to.equal(genesisTime / 1_000 + 3_600);
  });

  it("mines more blocks than fit in one call", async () => {
    await anvil.mine(1_100);
    expect(await anvil.height()).to.equal(1_100);
  });

  it("reports a refusal with the node's code and message", async () => {
    const refusal = await anvil.rpc("eth_nothing").catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(JsonRpcRefusal);
    expect((refusal as JsonRpcRefusal).code).to.equal(-32601);
  });

  it("would mine an identical empty block again, which is why every fork gets its own miner", async () => {
    await anvil.mine(3);
    const before = await hashes();
    await anvil.rpc("anvil_rollback", [2]);
    await anvil.mine(2);
    expect(await hashes()).to.deep.equal(before);
  });

  it("replaces even empty blocks by new ones", async () => {
    await anvil.mine(6);
    const seen = new Set(await hashes());
    for (const depth of [1, 1, 3, 2, 3, 1]) {
      const kept = (await hashes()).slice(0, -depth);
      await anvil.reorg(depth);
      const now = await hashes();
      expect(now).to.have.length(7);
      expect(now.slice(0, -depth)).to.deep.equal(kept);
      for (const hash of now.slice(-depth)) {
        expect(seen).not.to.include(hash);
        seen.add(hash);
      }
    }
  });

  it("drops, keeps or delays the transactions of replaced blocks", async () => {
    await anvil.mine(2);
    const dropped = await sendSomething();
    await anvil.receipt(dropped);
    await anvil.mine(2);
    await anvil.reorg(3, "dropped");
    expect(await anvil.rpc("eth_getTransactionReceipt", [dropped])).to.equal(null);
    expect(await anvil.height()).to.equal(5);

    const kept = await sendSomething();
    const { blockNumber } = await anvil.receipt(kept);
    const { hash } = await block(blockNumber);
    await anvil.mine();
    await anvil.reorg(2, "kept");
    expect(await anvil.receipt(kept)).to.deep.equal({ transactionHash: kept, blockNumber });
    expect((await block(blockNumber)).hash).not.to.equal(hash);

    await anvil.reorg(2, "delayed");
    const tip = await anvil.height();
    expect(tip).to.equal(8);
    expect(await anvil.receipt(kept)).to.deep.equal({ transactionHash: kept, blockNumber: tip });
  });

  it("removes blocks", async () => {
    await anvil.mine(5);
    await anvil.rollback(2);
    expect(await anvil.height()).to.equal(3);
    const refusal = await anvil.rollback(4).catch((error: unknown) => error);
    expect(String(refusal)).to.include("height 3");
  });

  it("returns to a snapshot, after which blocks differ again", async () => {
    await anvil.mine(2);
    const snapshot = await anvil.snapshot();
    await anvil.mine(2);
    const before = await hashes();
    await anvil.revert(snapshot);
    expect(await anvil.height()).to.equal(2);
    await anvil.mine(2);
    expect((await hashes()).slice(0, 3)).to.deep.equal(before.slice(0, 3));
    expect((await hashes()).slice(3)).not.to.include.members(before.slice(3));
    const again = await anvil.revert(snapshot).catch((error: unknown) => error);
    expect(String(again)).to.include("no snapshot");
  });

  it("mines transactions that are sent together in one block", async () => {
    const sent = await anvil.inOneBlock(async () => [await sendSomething(), await sendSomething()]);
    expect((await block(1)).transactions).to.have.members(sent);
    await anvil.receipt(await sendSomething());
    expect(await anvil.height()).to.equal(2);
  });

  it("reports a transaction that did not end as expected", async () => {
    const hash = await sendSomething();
    const wrong = await anvil.receipt(hash, "failed").catch((error: unknown) => error);
    expect(String(wrong)).to.include("succeeded");
  });

  it("has ended after stop, which may be called twice", async () => {
    const other = await startAnvil({ chainId: 1 });
    await other.stop();
    await other.stop();
    expect(isAlive(other.pid)).to.equal(false);
  });

  for (const [title, end] of [
    ["ends", "process.exit(0)"],
    ["receives SIGTERM", "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)"],
    ["fails", "throw new Error('on purpose')"],
  ] as const) {
    it(`dies with its process when that ${title}`, async () => {
      const pid = await startInAnotherProcess(end);
      while (isAlive(pid)) await delay(10);
    });
  }
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Starts a node in a process that then runs `end`; returns the node's pid. */
async function startInAnotherProcess(end: string): Promise<number> {
  const module = JSON.stringify(compiledProgram(new URL("anvil.ts", import.meta.url)));
  const script = `const { startAnvil } = await import(${module});
    const { pid } = await startAnvil({ chainId: 1 });
    process.stdout.write(String(pid), () => { ${end} });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  expect(text).to.match(/^\d+$/);
  return Number(text);
}
