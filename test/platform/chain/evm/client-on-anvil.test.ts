import { expect } from "chai";
import { readFileSync } from "node:fs";
import type { ChainClient } from "../../../../src/platform/chain/client.ts";
import { createJsonRpcClient } from "../../../../src/platform/chain/evm/client.ts";
import { parseNetworks } from "../../../../src/platform/chain/network-table.ts";
import { findToken, type Network } from "../../../../src/platform/chain/networks.ts";
import { ProviderError } from "../../../../src/platform/chain/providers/error.ts";
import {
  startBscLab,
  startEthereumLab,
  startTronLab,
  type ChainLab,
} from "../../../support/chain/chain-lab.ts";
import { describeOnAnvil } from "../../../support/suites/describe-on-anvil.ts";

const networks = parseNetworks(
  readFileSync(new URL("../../../../config/networks.yaml", import.meta.url), "utf8"),
);

function networkOf(id: string): Network {
  const found = networks.ok ? networks.value.find((network) => network.id === id) : undefined;
  if (found === undefined) throw new Error(`there is no ${id}`);
  return found;
}

async function kindOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof ProviderError) return error.kind;
    throw error;
  }
  return "answered";
}

const bare = (hash: string) => hash.slice(2).toLowerCase();
const wallet = "1111111111111111111111111111111111111111";
const other = "2222222222222222222222222222222222222222";

for (const [id, start] of Object.entries({
  tron: startTronLab as () => Promise<ChainLab>,
  ethereum: startEthereumLab,
  bsc: startBscLab,
})) {
  describeOnAnvil(`the JSON-RPC client on ${id}`, () => {
    let lab: ChainLab;
    let client: ChainClient;
    let usdt: string;
    const network = networkOf(id);

    before(async () => {
      lab = await start();
      client = createJsonRpcClient({ network, url: lab.providerUrl });
      usdt = findToken(network, "USDT")?.contract ?? "";
      await lab.mine(5);
    });
    after(async () => {
      await lab.stop();
    });

    function find(from: number, recipients: readonly string[] | null = [wallet]) {
      return client
        .heads()
        .then(({ latest }) =>
          client.transfers({ from, to: latest.height, contracts: [usdt], recipients }),
        );
    }

    it("finds the chain and the tokens of the network table", async () => {
      expect(await client.chainId()).to.equal(network.chainId);
      expect(await client.decimals(usdt)).to.equal(findToken(network, "USDT")?.decimals);
      expect(await kindOf(client.decimals(other))).not.to.equal("answered");
    });

    it("finds the same payment in logs, in the receipt and in the block's receipts", async () => {
      const amount = 25_000_100_000_000_000_000n;
      const paid = await lab.pay({ to: wallet, amount });
      const { logs, latest } = await find(paid.blockNumber);
      expect(logs).to.have.length(1);
      const [log] = logs;
      expect(log).to.deep.include({
        transactionHash: bare(paid.transactionHash),
        blockHeight: paid.blockNumber,
        blockHash: latest.hash,
        blockTime: latest.time,
        contract: usdt,
        from: lab.payers[0],
        to: wallet,
        amount,
      });
      const receipt = await client.receipt(bare(paid.transactionHash));
      expect(receipt).to.deep.equal({
        transactionHash: bare(paid.transactionHash),
        succeeded: true,
        blockHeight: paid.blockNumber,
        blockHash: latest.hash,
        transfers: logs,
      });
      expect(await client.blockTransfers(paid.blockNumber, [usdt])).to.deep.equal(logs);
      expect(await client.blocks([latest.height, latest.height + 9])).to.deep.equal([latest, null]);
    });

    it("ignores fake tokens, transfers of 0 and failed transactions", async () => {
      const from = (await lab.height()) + 1;
      await lab.pay({ to: wallet, amount: 7n, token: "fake" });
      await lab.payZero(wallet);
      const failed = await lab.payFailing({ to: wallet, amount: 1n });
      expect((await find(from)).logs).to.deep.equal([]);
      expect(await client.receipt(bare(failed.transactionHash))).to.deep.include({
        succeeded: false,
        transfers: [],
      });
      expect(await client.receipt("0".repeat(64))).to.equal(null);
    });

    it("finds the amounts that arrived, for many transfers with fees in one transaction", async () => {
      await lab.setTransferFee(100n);
      const paid = await lab.batchPay([
        { to: wallet, amount: 1_000n },
        { to: other, amount: 2_000n },
        { to: wallet, amount: 3_000n },
      ]);
      await lab.setTransferFee(0n);
      const { logs } = await find(paid.blockNumber);
      expect(logs.map(({ amount }) => amount)).to.deep.equal([990n, 2_970n]);
      const all = await find(paid.blockNumber, null);
      expect(all.logs.filter(({ to }) => to === other)).to.have.length(1);
    });

    it("sees a reorganization in the blocks, and that a payment is gone", async () => {
      const paid = await lab.pay({ to: wallet, amount: 5n });
      await lab.mine(2);
      const before = await client.heads();
      await lab.reorg(3);
      const after = await client.heads();
      expect(after.latest.height).to.equal(before.latest.height);
      expect(after.latest.hash).not.to.equal(before.latest.hash);
      expect((await find(paid.blockNumber)).logs).to.deep.equal([]);
      expect(await client.receipt(bare(paid.transactionHash))).to.equal(null);
      await lab.rollback(1);
      expect((await client.heads()).latest.height).to.equal(before.latest.height - 1);
    });

    it("reads more blocks and more recipients than fit in one call", async () => {
      await lab.mine(150);
      const { latest } = await client.heads();
      const heights = Array.from({ length: 150 }, (_, place) => latest.height - place);
      const blocks = await client.blocks(heights);
      expect(blocks.map((block) => block?.height)).to.deep.equal(heights);
      const paid = await lab.pay({ to: wallet, amount: 9n });
      const many = Array.from({ length: 2_000 }, (_, place) =>
        place.toString(16).padStart(40, "0"),
      );
      const { logs } = await find(paid.blockNumber, [...many, wallet]);
      expect(logs.map(({ amount }) => amount)).to.deep.equal([9n]);
    });

    it("reports the fault of a provider", async () => {
      const faults = {
        overloaded: "rate_limited",
        "rate-limited": "rate_limited",
        forbidden: "rate_limited",
        unavailable: "unreachable",
        truncated: "malformed",
        html: "malformed",
        "wrong-id": "malformed",
        disconnect: "unreachable",
      } as const;
      for (const [fault, kind] of Object.entries(faults)) {
        lab.provider.fail(fault as keyof typeof faults);
        expect(await kindOf(client.heads()), fault).to.equal(kind);
      }
      expect(await kindOf(client.heads())).to.equal("answered");
      const wrongPath = createJsonRpcClient({ network, url: new URL("/x", lab.providerUrl).href });
      expect(await kindOf(wrongPath.heads())).to.equal("refused");
    });
  });
}

describeOnAnvil("the JSON-RPC client on a TRON node", () => {
  let lab: Awaited<ReturnType<typeof startTronLab>>;
  let client: ChainClient;
  const network = networkOf("tron");

  before(async () => {
    lab = await startTronLab();
    client = createJsonRpcClient({ network, url: lab.providerUrl });
    await lab.mine(30);
  });
  after(async () => {
    await lab.stop();
  });
  afterEach(() => {
    lab.provider.heal();
  });

  it("finds the final block 19 below the tip, whether or not the node reports it", async () => {
    const { latest, finalized } = await client.heads();
    expect(latest.height - finalized.height).to.equal(19);
    lab.provider.state.withoutFinalized = true;
    const older = createJsonRpcClient({ network, url: lab.providerUrl });
    expect((await older.heads()).finalized).to.deep.equal(finalized);
  });

  it("learns a transfer's time from the block where an older node's logs lack it", async () => {
    lab.provider.state.withoutLogTimes = true;
    const paid = await lab.pay({ to: wallet, amount: 3n });
    const range = { from: paid.blockNumber, to: paid.blockNumber };
    const usdt = lab.tokens.USDT;
    const { logs } = await client.transfers({ ...range, contracts: [usdt], recipients: [wallet] });
    expect(logs.map(({ blockTime }) => blockTime)).to.deep.equal([null]);
  });

  it("detects a node without a log index: the block's receipts contain transfers that the logs omit", async () => {
    const paid = await lab.pay({ to: wallet, amount: 3n });
    const at = { from: paid.blockNumber, to: paid.blockNumber, contracts: [lab.tokens.USDT] };
    lab.provider.state.bloomless = true;
    expect((await client.transfers({ ...at, recipients: null })).logs).to.deep.equal([]);
    expect(await client.blockTransfers(paid.blockNumber, at.contracts)).to.have.length(1);
  });

  it("reports a block range that is too large, and a list that is", async () => {
    const { latest } = await client.heads();
    const ask = (to: number, from = 1) =>
      client.transfers({ from, to, contracts: [lab.tokens.USDT], recipients: null });
    lab.provider.limits.blockRange = 10;
    expect(await kindOf(ask(latest.height))).to.equal("range_too_large");
    expect(await kindOf(ask(latest.height, latest.height))).to.equal("answered");
    lab.provider.limits.blockRange = 5_000;
    lab.provider.limits.results = 1;
    await lab.payTogether([
      { to: wallet, amount: 1n },
      { to: wallet, amount: 2n },
    ]);
    const { height } = (await client.heads()).latest;
    expect(await kindOf(ask(height, height - 1))).to.equal("range_too_large");
    lab.provider.limits.results = 10_000;
  });
});
