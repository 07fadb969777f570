import { expect } from "chai";
import { addressTopic, bareAddress, encodeCall, eventTopic } from "./abi.ts";
import {
  startBaseLab,
  startBscLab,
  startEthereumLab,
  startTronLab,
  type ChainLab,
  type LabOptions,
} from "./chain-lab.ts";
import { describeOnAnvil } from "../suites/describe-on-anvil.ts";
import { callJsonRpc, hexNumber, JsonRpcRefusal } from "./json-rpc.ts";

interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockHash: string;
  readonly blockNumber: string;
  readonly transactionHash: string;
  readonly logIndex: string;
}

const transferTopic = eventTopic("Transfer(address,address,uint256)");
const wallet = "0xB0B0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0";
const other = "c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0";

const kinds: readonly {
  title: string;
  start: (options?: LabOptions) => Promise<ChainLab>;
  chainId: string;
  usdt: string;
  decimals: number;
  finality: number;
}[] = [
  {
    title: "the TRON lab",
    start: startTronLab,
    chainId: "0x2b6653dc",
    usdt: "a614f803b6fd780986a42c78ec9c7f77e6ded13c",
    decimals: 6,
    finality: 19,
  },
  {
    title: "the Ethereum lab",
    start: startEthereumLab,
    chainId: "0x1",
    usdt: "dac17f958d2ee523a2206206994597c13d831ec7",
    decimals: 6,
    finality: 64,
  },
  {
    title: "the BNB Smart Chain lab",
    start: startBscLab,
    chainId: "0x38",
    usdt: "55d398326f99059ff775485246999027b3197955",
    decimals: 18,
    finality: 64,
  },
  {
    title: "the Base lab",
    start: startBaseLab,
    chainId: "0x2105",
    usdt: "fde4c96c8593536e31f229ea8f37b2ada2699bb2",
    decimals: 6,
    finality: 64,
  },
];

for (const { title, start, chainId, usdt, decimals, finality } of kinds) {
  describeOnAnvil(title, () => {
    let lab: ChainLab;

    beforeEach(async () => {
      lab = await start();
    });
    afterEach(() => lab.stop());

    const call = (method: string, ...params: unknown[]) =>
      callJsonRpc(lab.providerUrl, method, params);
    const logs = async (filter: object = {}) =>
      (await call("eth_getLogs", { fromBlock: "0x0", toBlock: "latest", ...filter })) as Log[];
    const hashAt = async (height: number) => {
      const block = await call("eth_getBlockByNumber", hexNumber(height), false);
      return (block as { hash: string }).hash;
    };
    /** Returns recipient, amount and token of all transfers, in the order of the chain. */
    const transfers = async () =>
      (await logs()).map(({ address, topics, data }) => ({
        contract: bareAddress(address),
        to: `0x${topics[2]?.slice(26) ?? ""}`,
        amount: BigInt(data),
      }));

    it("has the network's chain id, and USDT at its real address", async () => {
      expect(await call("eth_chainId")).to.equal(chainId);
      expect(Number(chainId)).to.equal(lab.chainId);
      expect(lab.tokens.USDT).to.equal(usdt);
      const ask = { to: `0x${usdt}`, data: encodeCall("decimals()", []) };
      expect(Number(await call("eth_call", ask, "latest"))).to.equal(decimals);
    });

    it("pays, with a log in the block", async () => {
      const paid = await lab.pay({ to: wallet, amount: 25_000_001n, from: 3 });
      expect(paid.transactionHash).to.match(/^0x[0-9a-f]{64}$/);
      expect(paid.blockNumber).to.equal(await lab.height());
      const [log, ...more] = await logs({ address: `0x${usdt}` });
      expect(more).to.deep.equal([]);
      expect(log).to.deep.include({
        topics: [transferTopic, addressTopic(lab.payers[3] ?? ""), addressTopic(wallet)],
        data: `0x${25_000_001n.toString(16).padStart(64, "0")}`,
        transactionHash: paid.transactionHash,
        blockNumber: hexNumber(paid.blockNumber),
        blockHash: await hashAt(paid.blockNumber),
      });
      const balance = encodeCall("balanceOf(address)", [wallet]);
      expect(
        BigInt((await call("eth_call", { to: `0x${usdt}`, data: balance }, "latest")) as string),
      ).to.equal(25_000_001n);
    });

    it("pays amounts beyond 64 bits", async () => {
      const amount = 123_456_789_012_345_678_901_234_567n;
      await lab.pay({ to: wallet, amount });
      expect(await transfers()).to.deep.equal([
        { contract: usdt, to: wallet.toLowerCase(), amount },
      ]);
    });

    it("creates fake tokens that differ only in their contract", async () => {
      await lab.pay({ to: wallet, amount: 5n });
      await lab.pay({ to: wallet, amount: 5n, token: "fake" });
      const [real, fake] = await logs();
      expect(fake?.topics).to.deep.equal(real?.topics);
      expect(fake?.data).to.equal(real?.data);
      expect(bareAddress(fake?.address ?? "")).to.equal(lab.tokens.fake);
      const symbol = encodeCall("symbol()", []);
      const symbols = await Promise.all(
        [lab.tokens.USDT, lab.tokens.fake].map((to) =>
          call("eth_call", { to: `0x${to}`, data: symbol }, "latest"),
        ),
      );
      expect(symbols[0]).to.equal(symbols[1]);
    });

    it("emits a log for a transfer of zero, and none for a failed one", async () => {
      const zero = await lab.payZero(wallet);
      const failed = await lab.payFailing({ to: wallet, amount: 10n ** 12n });
      expect(failed.blockNumber).to.equal(zero.blockNumber + 1);
      expect(await transfers()).to.deep.equal([
        { contract: usdt, to: wallet.toLowerCase(), amount: 0n },
      ]);
      expect(await call("eth_getTransactionReceipt", failed.transactionHash)).to.deep.include({
        status: "0x0",
        logs: [],
      });
      const [from = ""] = lab.anvil.accounts;
      const data = encodeCall("transferAndFail(address,uint256)", [wallet, 3n]);
      await lab.anvil.receipt(await lab.anvil.send({ from, to: `0x${usdt}`, data }), "failed");
      expect(await transfers()).to.have.length(1);
    });

    it("pays many in one transaction", async () => {
      const paid = await lab.batchPay([
        { to: wallet, amount: 1n },
        { to: other, amount: 2n },
        { to: wallet, amount: 3n },
      ]);
      const found = await logs();
      expect(found.map(({ data }) => BigInt(data))).to.deep.equal([1n, 2n, 3n]);
      expect(found.map(({ logIndex }) => Number(logIndex))).to.deep.equal([0, 1, 2]);
      expect(new Set(found.map(({ transactionHash }) => transactionHash))).to.deep.equal(
        new Set([paid.transactionHash]),
      );
      const mixed = lab.batchPay([
        { to: wallet, amount: 1n },
        { to: wallet, amount: 1n, token: "fake" },
      ]);
      expect(String(await mixed.catch((error: unknown) => error))).to.include("one token");
    });

    it("mines many transactions in one block with consecutive log indexes", async () => {
      const paid = await lab.payTogether([
        { to: wallet, amount: 1n, from: 1 },
        { to: wallet, amount: 2n, from: 1 },
        { to: other, amount: 3n, from: 2 },
      ]);
      expect(new Set(paid.map(({ blockNumber }) => blockNumber)).size).to.equal(1);
      const found = await logs();
      expect(found.map(({ logIndex }) => Number(logIndex))).to.deep.equal([0, 1, 2]);
      expect(new Set(found.map(({ transactionHash }) => transactionHash))).to.deep.equal(
        new Set(paid.map(({ transactionHash }) => transactionHash)),
      );
    });

    it("deducts a fee from each transfer, so that the log has less than was sent", async () => {
      await lab.setTransferFee(100n);
      await lab.pay({ to: wallet, amount: 1_000n });
      expect(await transfers()).to.deep.equal([
        { contract: usdt, to: wallet.toLowerCase(), amount: 990n },
        { contract: usdt, to: `0x${usdt}`, amount: 10n },
      ]);
    });

    it("executes concurrent calls one after another", async () => {
      const done = await Promise.all([
        lab.pay({ to: wallet, amount: 1n }),
        lab.payTogether([{ to: wallet, amount: 2n }]),
        lab.pay({ to: wallet, amount: 3n }),
        lab.mine(2),
        lab.batchPay([{ to: wallet, amount: 4n }]),
      ]);
      expect(done).to.have.length(5);
      expect((await transfers()).map(({ amount }) => amount)).to.deep.equal([1n, 2n, 3n, 4n]);
      expect(await lab.height()).to.equal(7);
    });

    it("finalizes blocks at a distance below the tip", async () => {
      await lab.mine(70);
      const block = await call("eth_getBlockByNumber", "finalized", false);
      expect(Number((block as { number: string }).number)).to.equal(
        (await lab.height()) - finality,
      );
    });

    it("reorganizes: a payment disappears, and every replaced block gets a new hash", async () => {
      await lab.mine(2);
      const paid = await lab.pay({ to: wallet, amount: 8n });
      await lab.mine(2);
      const tip = await lab.height();
      const before = await Promise.all([paid.blockNumber - 1, paid.blockNumber, tip].map(hashAt));
      await lab.reorg(3);
      expect(await lab.height()).to.equal(tip);
      const after = await Promise.all([paid.blockNumber - 1, paid.blockNumber, tip].map(hashAt));
      expect(after[0]).to.equal(before[0]);
      expect(after[1]).not.to.equal(before[1]);
      expect(after[2]).not.to.equal(before[2]);
      expect(await logs()).to.deep.equal([]);
      expect(await call("eth_getTransactionReceipt", paid.transactionHash)).to.equal(null);
      // Empty blocks that are replaced a second time differ again.
      await lab.reorg(3);
      expect([before[2], after[2]]).not.to.include(await hashAt(tip));
    });

    it("reorganizes: the same transaction returns, at its height or later", async () => {
      const [first] = await lab.payTogether([
        { to: wallet, amount: 1n },
        { to: wallet, amount: 2n, from: 1 },
      ]);
      await lab.mine(1);
      const hash = await hashAt(first?.blockNumber ?? 0);
      await lab.reorg(2, "kept");
      expect((await logs())[0]).to.include({
        transactionHash: first?.transactionHash,
        blockNumber: hexNumber(first?.blockNumber ?? 0),
      });
      expect((await logs())[0]?.blockHash).not.to.equal(hash);
      await lab.reorg(2, "delayed");
      const delayed = await logs();
      expect(delayed.map(({ data }) => BigInt(data))).to.have.members([1n, 2n]);
      expect(delayed[0]?.blockNumber).to.equal(hexNumber(await lab.height()));
    });

    it("rolls back the tip, but never the contracts", async () => {
      await lab.mine(3);
      const paid = await lab.pay({ to: wallet, amount: 8n });
      await lab.rollback(2);
      expect(await lab.height()).to.equal(paid.blockNumber - 2);
      expect(await logs()).to.deep.equal([]);
      for (const doomed of [() => lab.rollback(3), () => lab.reorg(3)]) {
        expect(String(await doomed().catch((error: unknown) => error))).to.include("block 1");
      }
      await lab.reorg(2);
      await lab.pay({ to: wallet, amount: 8n });
      expect(await logs()).to.have.length(1);
    });

    it("has several providers of one chain, each with its own faults", async () => {
      const second = await lab.addProvider();
      const { blockNumber } = await lab.pay({ to: wallet, amount: 8n });
      lab.provider.fail("unavailable");
      const failed = await call("eth_blockNumber").catch((error: unknown) => error);
      expect(String(failed)).to.include("503");
      expect(await callJsonRpc(second.url, "eth_blockNumber")).to.equal(hexNumber(blockNumber));
      expect(await call("eth_blockNumber")).to.equal(hexNumber(blockNumber));
    });

    it("does not expose the node's test methods through the provider", async () => {
      for (const method of ["eth_sendTransaction", "anvil_mine", "evm_revert", "txpool_content"]) {
        const refusal = await call(method).catch((error: unknown) => error);
        expect(refusal).to.be.instanceOf(JsonRpcRefusal);
        expect((refusal as JsonRpcRefusal).code, method).to.equal(-32601);
      }
    });

    it("uses the times that it is given", async () => {
      const genesisTime = Date.UTC(2026, 2, 1);
      const timed = await start({ genesisTime, blockSeconds: 3 });
      try {
        const { blockNumber } = await timed.pay({ to: wallet, amount: 1n });
        await timed.setNextBlockTime(genesisTime + 3_600_000);
        const late = await timed.pay({ to: wallet, amount: 1n });
        const times: number[] = [];
        for (const height of [blockNumber, late.blockNumber]) {
          const block = await callJsonRpc(timed.providerUrl, "eth_getBlockByNumber", [
            hexNumber(height),
            false,
          ]);
          times.push(Number((block as { timestamp: string }).timestamp) * 1_000 - genesisTime);
        }
        expect(times).to.deep.equal([6_000, 3_600_000]);
      } finally {
        await timed.stop();
      }
    });
  });
}
