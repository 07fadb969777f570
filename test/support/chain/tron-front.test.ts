import { expect } from "chai";
import { addressTopic, eventTopic } from "./abi.ts";
import { startTronLab, type ChainLab } from "./chain-lab.ts";
import { describeOnAnvil } from "../suites/describe-on-anvil.ts";
import { callJsonRpc, hexNumber, JsonRpcRefusal } from "./json-rpc.ts";
import type { TronFront } from "./tron-front.ts";

interface Block {
  readonly number: string;
  readonly hash: string;
  readonly parentHash: string;
}

const transferTopic = eventTopic("Transfer(address,address,uint256)");
const wallet = "b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0";

describeOnAnvil("the TRON endpoint", () => {
  let lab: ChainLab<TronFront>;

  before(async () => {
    lab = await startTronLab();
    await lab.mine(24);
  });
  after(() => lab.stop());
  const call = (method: string, ...params: unknown[]) =>
    callJsonRpc(lab.providerUrl, method, params);
  const block = (at: number | string) =>
    call("eth_getBlockByNumber", typeof at === "number" ? hexNumber(at) : at, false);
  const logs = (filter: object) => call("eth_getLogs", filter) as Promise<unknown[]>;
  const usdt = () => `0x${lab.tokens.USDT}`;

  async function expectRefusal(work: Promise<unknown>, code: number, message: string) {
    const refusal = await work.catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(JsonRpcRefusal);
    expect({
      code: (refusal as JsonRpcRefusal).code,
      message: (refusal as JsonRpcRefusal).message,
    }).to.deep.equal({ code, message });
  }

  function post(body: unknown, path = ""): Promise<Response> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return fetch(`${lab.providerUrl}${path}`, { method: "POST", body: text });
  }
  const request = (id: unknown, method: string, params: unknown[] = []) => ({
    jsonrpc: "2.0",
    id,
    method,
    params,
  });

  describe("on the wire", () => {
    it("is at POST /jsonrpc and nowhere else", async () => {
      const root = lab.providerUrl.replace("/jsonrpc", "/");
      expect((await fetch(root, { method: "POST", body: "{}" })).status).to.equal(404);
      expect((await post({}, "/")).status).to.equal(404);
      expect((await fetch(lab.providerUrl)).status).to.equal(405);
      expect((await post(request(1, "eth_chainId"))).status).to.equal(200);
    });

    it("answers a batch with every id, and refuses one above 100", async () => {
      const batch = (length: number) =>
        Array.from({ length }, (_, index) => request(`n${String(index)}`, "eth_blockNumber"));
      const answers = (await (await post(batch(100))).json()) as { id: string }[];
      expect(answers.map(({ id }) => id)).to.deep.equal(batch(100).map(({ id }) => id));
      expect(await (await post(batch(101))).json()).to.deep.equal({
        jsonrpc: "2.0",
        id: null,
        error: { code: -32005, message: "Batch size 101 exceeds the limit of 100" },
      });
    });

    it("refuses anything that is not a request", async () => {
      const codes: unknown[] = [];
      for (const body of ["{", "7", [1], { id: 1 }]) {
        const answer: unknown = await (await post(body)).json();
        codes.push(([answer].flat()[0] as { error: { code: number } }).error.code);
      }
      expect(codes).to.deep.equal([-32700, -32600, -32600, -32600]);
      expect((await post(" ".repeat(4_194_305))).status).to.equal(413);
    });

    it("includes the data field of java-tron's refusals", async () => {
      const answer = await (await post(request(1, "eth_getBlockByNumber", ["safe", false]))).json();
      expect(answer).to.deep.equal({
        jsonrpc: "2.0",
        id: 1,
        error: { code: -32602, message: "TAG safe not supported", data: "{}" },
      });
    });

    it("has no method that writes, and none of the node's test methods", async () => {
      for (const method of ["eth_sendRawTransaction", "eth_sendTransaction", "eth_sign"]) {
        await expectRefusal(
          call(method),
          -32601,
          `the method ${method} does not exist/is not available`,
        );
      }
      for (const method of ["anvil_mine", "evm_snapshot", "debug_traceTransaction", "toString"]) {
        await expectRefusal(call(method), -32601, "method not found");
      }
    });
  });

  describe("shows blocks", () => {
    it("of TRON's mainnet", async () => {
      expect(await call("eth_chainId")).to.equal("0x2b6653dc");
      expect(await call("net_version")).to.equal("0x2b6653dc");
    });

    it("with hashes that begin with the height and are accepted as parameters", async () => {
      const tip = await lab.height();
      for (const height of [0, 1, tip]) {
        const found = (await block(height)) as Block;
        expect(found.hash.slice(2, 18)).to.equal(height.toString(16).padStart(16, "0"));
        expect(await call("eth_getBlockByHash", found.hash, false)).to.deep.equal(found);
        if (height === 0) continue;
        expect(found.parentHash).to.equal(((await block(height - 1)) as Block).hash);
      }
      const { hash } = (await block(tip)) as Block;
      const nativeBlock = await lab.anvil.rpc("eth_getBlockByNumber", [hexNumber(tip), false]);
      const { hash: native } = nativeBlock as Block;
      expect(await call("eth_getBlockByHash", hash.slice(2), false)).not.to.equal(null);
      expect(await call("eth_getBlockByHash", native, false)).to.equal(null);
      await expectRefusal(call("eth_getBlockByHash", "0x12", false), -32602, "invalid hash value");
    });

    it("with empty values for fields that TRON lacks", async () => {
      const found = (await block("latest")) as Record<string, unknown>;
      expect(found).to.include({
        stateRoot: "0x",
        gasLimit: "0x0",
        gasUsed: "0x0",
        logsBloom: `0x${"0".repeat(512)}`,
        receiptsRoot: `0x${"0".repeat(64)}`,
      });
      expect(found).not.to.have.any.keys("withdrawals", "blobGasUsed", "requestsHash");
    });

    it("by tags: latest, earliest, and finalized 19 below the tip", async () => {
      const tip = await lab.height();
      const heights: number[] = [];
      for (const tag of ["latest", "earliest", "finalized"]) {
        heights.push(Number(((await block(tag)) as Block).number));
      }
      expect(heights).to.deep.equal([tip, 0, tip - 19]);
      await expectRefusal(block("safe"), -32602, "TAG safe not supported");
      await expectRefusal(block("pending"), -32602, "TAG pending not supported");
      await expectRefusal(block("12"), -32602, "invalid block number");
      expect(await block(tip + 1)).to.equal(null);
    });
  });

  describe("shows transfers", () => {
    it("identically in logs, receipts and the block's receipts, with their transaction's hash", async () => {
      const paid = await lab.pay({ to: wallet, amount: 12n });
      const at = hexNumber(paid.blockNumber);
      const found = await logs({
        fromBlock: at,
        toBlock: at,
        address: [usdt()],
        topics: [transferTopic, null, [addressTopic(wallet)]],
      });
      const { hash, timestamp } = (await block(paid.blockNumber)) as Block & { timestamp: string };
      expect(found).to.deep.equal([
        {
          address: usdt(),
          blockHash: hash,
          blockNumber: at,
          blockTimestamp: timestamp,
          transactionHash: paid.transactionHash,
          transactionIndex: "0x0",
          logIndex: "0x0",
          removed: false,
          topics: [transferTopic, addressTopic(lab.payers[0] ?? ""), addressTopic(wallet)],
          data: `0x${"c".padStart(64, "0")}`,
        },
      ]);
      const receipt = await call("eth_getTransactionReceipt", paid.transactionHash);
      expect(receipt).to.include({ blockHash: hash, status: "0x1", type: "0x0" });
      expect(receipt).to.have.deep.property("logs", found);
      expect(await call("eth_getTransactionReceipt", paid.transactionHash.slice(2))).to.deep.equal(
        receipt,
      );
      expect(await call("eth_getBlockReceipts", at)).to.deep.equal([receipt]);
      expect(await call("eth_getBlockReceipts", hash)).to.deep.equal([receipt]);
      expect(await call("eth_getTransactionByHash", paid.transactionHash)).to.include({
        hash: paid.transactionHash,
        blockHash: hash,
        nonce: "0x0000000000000000",
      });
      expect(await logs({ blockHash: hash })).to.deep.equal(found);
    });

    it("no longer after a reorganization removed them", async () => {
      const paid = await lab.pay({ to: wallet, amount: 5n });
      const { hash } = (await block(paid.blockNumber)) as Block;
      await lab.reorg(1);
      expect(await call("eth_getTransactionReceipt", paid.transactionHash)).to.equal(null);
      expect(await call("eth_getBlockByHash", hash, false)).to.equal(null);
      await expectRefusal(logs({ blockHash: hash }), -32602, "invalid blockHash");
    });

    it("of an address in 20 bytes or in TRON's 21, not in base58", async () => {
      const { blockNumber } = await lab.pay({ to: wallet, amount: 3n });
      const fromBlock = hexNumber(blockNumber);
      const { USDT } = lab.tokens;
      for (const address of [usdt(), USDT, `0x41${USDT}`, [`41${USDT}`]]) {
        expect(await logs({ fromBlock, address })).to.have.length(1);
      }
      const base58 = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
      await expectRefusal(
        logs({ fromBlock, address: base58 }),
        -32602,
        `invalid address: ["${base58}"]`,
      );
    });
  });

  describe("calls contracts", () => {
    const decimals = "0x313ce567";

    it("at the tip only", async () => {
      const answer = await call("eth_call", { to: usdt(), data: decimals }, "latest");
      expect(Number(answer)).to.equal(6);
      await expectRefusal(
        call("eth_call", { to: usdt(), data: decimals }, "0x1"),
        -32602,
        "QUANTITY not supported, just support TAG as latest",
      );
      await expectRefusal(
        call("eth_call", { to: usdt(), data: decimals }, "finalized"),
        -32602,
        "TAG [earliest | pending | finalized | safe] not supported",
      );
      expect(await call("eth_getCode", usdt(), "latest")).to.match(/^0x[0-9a-f]{100,}$/);
    });

    it("and reports a missing contract or a revert", async () => {
      await expectRefusal(
        call("eth_call", { to: `0x${wallet}`, data: decimals }, "latest"),
        -32600,
        "Smart contract is not exist.",
      );
      await expectRefusal(
        call("eth_call", { to: usdt(), data: "0xdeadbeef" }, "latest"),
        -32000,
        "REVERT opcode executed",
      );
    });
  });

  describe("keeps limits", () => {
    it("on the range: a distance of 5000 blocks passes, one more is refused", async () => {
      const limited = await startTronLab({ firstBlock: 5_000 });
      try {
        const ask = (fromBlock: string, toBlock: string) =>
          callJsonRpc(limited.providerUrl, "eth_getLogs", [{ fromBlock, toBlock }]);
        expect(await limited.height()).to.equal(5_001);
        const message = "exceed max block range: 5000";
        expect(await ask("0x1", "latest")).to.deep.equal([]);
        expect(await ask("0x1", hexNumber(99_999))).to.deep.equal([]);
        await expectRefusal(ask("0x0", "latest"), -32602, message);
        await expectRefusal(ask("0x0", hexNumber(99_999)), -32602, message);
        // The limit of a hosted plan.
        limited.provider.limits.blockRange = 5;
        await expectRefusal(ask("0x0", "0x6"), -32602, "exceed max block range: 5");
      } finally {
        await limited.stop();
      }
    });

    it("on addresses and topics", async () => {
      const topics = (length: number) => [transferTopic, null, many(length).map(addressTopic)];
      expect(await logs({ topics: topics(1_000) })).to.deep.equal([]);
      expect(await logs({ address: many(1_000) })).to.deep.equal([]);
      await expectRefusal(logs({ topics: topics(1_001) }), -32602, "exceed max topics: 1000");
      await expectRefusal(logs({ address: many(1_001) }), -32602, "exceed max addresses: 1000");
      await expectRefusal(
        logs({ topics: [null, null, null, null, null] }),
        -32602,
        "topics size should be <= 4",
      );
      await expectRefusal(logs({ topics: ["0x12"] }), -32602, 'invalid topic(s): "0x12"');
    });

    it("on results: 10000 pass, one more is refused", async () => {
      const big = await startTronLab();
      try {
        const payments = many(10_000).map((to) => ({ to, amount: 1n }));
        const { blockNumber } = await big.batchPay(payments);
        const ask = () =>
          callJsonRpc(big.providerUrl, "eth_getLogs", [
            { fromBlock: hexNumber(blockNumber), address: `0x${big.tokens.USDT}` },
          ]);
        expect(await ask()).to.have.length(10_000);
        await big.pay({ to: wallet, amount: 1n });
        await expectRefusal(ask(), -32005, "query returned more than 10000 results");
      } finally {
        await big.stop();
      }
    });

    it("on the order of the bounds, and on giving a block both by hash and by number", async () => {
      await expectRefusal(
        logs({ fromBlock: "0x5", toBlock: "0x4" }),
        -32602,
        "please verify: fromBlock <= toBlock",
      );
      const { hash } = (await block(3)) as Block;
      await expectRefusal(
        logs({ fromBlock: "0x3", blockHash: hash }),
        -32602,
        "cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other",
      );
      expect(await logs({ fromBlock: hexNumber((await lab.height()) + 5) })).to.deep.equal([]);
    });
  });
});

/** Returns unused addresses. */
function many(length: number): string[] {
  return Array.from(
    { length },
    (_, index) => `0x${(index + 0xf00d0000).toString(16).padStart(40, "0")}`,
  );
}
