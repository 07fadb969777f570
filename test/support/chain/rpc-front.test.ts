import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import type { Fetch } from "../../../src/platform/chain/evm/transport.ts";
import { eventTopic } from "./abi.ts";
import { startTronLab, type ChainLab } from "./chain-lab.ts";
import { describeOnAnvil } from "../suites/describe-on-anvil.ts";
import { callJsonRpc, hexNumber, JsonRpcRefusal } from "./json-rpc.ts";
import { startRpcFront } from "./rpc-front.ts";
import type { TronFront } from "./tron-front.ts";

interface Block {
  readonly number: string;
}
interface Log {
  readonly transactionHash: string;
  readonly blockTimestamp?: string;
}

const transferTopic = eventTopic("Transfer(address,address,uint256)");
const wallet = "b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0";

describeOnAnvil("a provider", () => {
  let lab: ChainLab<TronFront>;

  before(async () => {
    lab = await startTronLab();
    await lab.mine(24);
  });
  after(() => lab.stop());
  afterEach(() => {
    lab.provider.heal();
    lab.provider.resetCounts();
  });

  const call = (method: string, ...params: unknown[]) =>
    callJsonRpc(lab.providerUrl, method, params);
  const block = (at: number | string) =>
    call("eth_getBlockByNumber", typeof at === "number" ? hexNumber(at) : at, false);
  const logs = (filter: object) => call("eth_getLogs", filter) as Promise<Log[]>;
  const usdt = () => `0x${lab.tokens.USDT}`;

  const post = (body: unknown) =>
    fetch(lab.providerUrl, { method: "POST", body: JSON.stringify(body) });
  const request = (id: unknown, method: string, params: unknown[] = []) => ({
    jsonrpc: "2.0",
    id,
    method,
    params,
  });

  describe("fails on command", () => {
    it("with HTTP 200 without JSON-RPC, a given number of times", async () => {
      lab.provider.fail("overloaded", 2);
      for (let times = 0; times < 2; times += 1) {
        const response = await post(request(1, "eth_blockNumber"));
        expect(response.status).to.equal(200);
        const body = (await response.json()) as Record<string, unknown>;
        expect(Object.keys(body)).to.deep.equal(["Error"]);
        expect(body["Error"]).to.include("lack of computing resources");
      }
      expect(await call("eth_blockNumber")).to.equal(hexNumber(await lab.height()));
    });

    it("with a status: too many requests, forbidden, unavailable", async () => {
      lab.provider.fail("rate-limited");
      lab.provider.fail("forbidden");
      lab.provider.fail("unavailable", Infinity);
      const statuses: number[] = [];
      while (statuses.length < 4) {
        const response = await post(request(1, "eth_blockNumber"));
        statuses.push(response.status);
        if (response.status === 429) expect(response.headers.get("retry-after")).to.equal("1");
      }
      expect(statuses).to.deep.equal([429, 403, 503, 503]);
      lab.provider.heal();
      expect((await post(request(1, "eth_blockNumber"))).status).to.equal(200);
    });

    it("with a truncated response, an HTML page, or the response to another request", async () => {
      lab.provider.fail("truncated");
      const half = await (await post(request(1, "eth_getBlockByNumber", ["latest", false]))).text();
      expect(half).to.match(/^\{"jsonrpc"/);
      expect(() => JSON.parse(half) as unknown).to.throw();

      lab.provider.fail("html");
      expect(await (await post(request(1, "eth_blockNumber"))).text()).to.include("<html>");

      lab.provider.fail("wrong-id", 2);
      expect(await (await post(request(1, "eth_chainId"))).json()).to.include({
        id: 999_999_999,
        result: "0x2b6653dc",
      });
      const batch = await (await post([request(1, "eth_chainId")])).json();
      expect(batch).to.have.nested.property("[0].id", 999_999_999);
    });

    it("with silence until it is healed, or by closing the connection", async () => {
      lab.provider.fail("hang");
      const waiter = new AbortController();
      const body = JSON.stringify(request(1, "eth_chainId"));
      const hung = fetch(lab.providerUrl, { method: "POST", body, signal: waiter.signal });
      const ended = hung.catch((error: unknown) => (error as Error).name);
      // Waits for the request to arrive; otherwise the fault would apply to the next one.
      while (lab.provider.counts().requests < 1) await new Promise(setImmediate);
      await delay(100);
      waiter.abort();
      expect(await ended).to.equal("AbortError");

      lab.provider.fail("hang");
      const waiting = call("eth_chainId").catch(() => "closed");
      while (lab.provider.counts().requests < 2) await new Promise(setImmediate);
      lab.provider.heal();
      expect(await waiting).to.equal("closed");

      lab.provider.fail("disconnect");
      expect(await call("eth_chainId").catch(() => "closed")).to.equal("closed");
      expect(await call("eth_chainId")).to.equal("0x2b6653dc");
    });

    it("by losing its log index: filtered queries are silently empty", async () => {
      const { blockNumber } = await lab.pay({ to: wallet, amount: 7n });
      const fromBlock = hexNumber(blockNumber);
      lab.provider.state.bloomless = true;
      expect(await logs({ fromBlock, address: usdt() })).to.deep.equal([]);
      expect(await logs({ fromBlock, topics: [transferTopic] })).to.deep.equal([]);
      expect(await logs({ fromBlock, topics: [null] })).to.have.length(1);
      expect(await call("eth_getBlockReceipts", fromBlock)).to.have.nested.property(
        "[0].logs.length",
        1,
      );
      lab.provider.heal();
      expect(await logs({ fromBlock, address: usdt() })).to.have.length(1);
    });

    it("by lagging or stopping: it knows nothing above its own tip", async () => {
      const earlier = await lab.pay({ to: wallet, amount: 8n });
      const paid = await lab.pay({ to: wallet, amount: 9n });
      const fromBlock = hexNumber(paid.blockNumber);
      const tips = async () => [
        Number(await call("eth_blockNumber")),
        Number(((await block("latest")) as Block).number),
        Number(((await block("finalized")) as Block).number) + 19,
      ];
      for (const fall of [{ lagBlocks: 1 }, { stuckAt: paid.blockNumber - 1 }]) {
        Object.assign(lab.provider.state, fall);
        const known = paid.blockNumber - 1;
        expect(await tips()).to.deep.equal([known, known, known]);
        expect(await block(paid.blockNumber)).to.equal(null);
        expect(await call("eth_getTransactionReceipt", paid.transactionHash)).to.equal(null);
        expect(await call("eth_getTransactionByHash", paid.transactionHash)).to.equal(null);
        expect(await call("eth_getBlockReceipts", fromBlock)).to.equal(null);
        const seen = await logs({ fromBlock: "0x1", topics: [transferTopic] });
        expect(seen.map(({ transactionHash }) => transactionHash)).to.include(
          earlier.transactionHash,
        );
        expect(seen.map(({ transactionHash }) => transactionHash)).not.to.include(
          paid.transactionHash,
        );
        expect(await logs({ fromBlock })).to.deep.equal([]);
        lab.provider.heal();
      }
      lab.provider.state.stuckAt = paid.blockNumber;
      await lab.mine(2);
      expect(await tips()).to.deep.equal([paid.blockNumber, paid.blockNumber, paid.blockNumber]);
    });

    it("as an older node: without finalized and without times in logs", async () => {
      const { blockNumber } = await lab.pay({ to: wallet, amount: 4n });
      Object.assign(lab.provider.state, { withoutFinalized: true, withoutLogTimes: true });
      const refusal = await block("finalized").catch((error: unknown) => error);
      expect(refusal).to.be.instanceOf(JsonRpcRefusal);
      expect((refusal as JsonRpcRefusal).message).to.equal("invalid block number");
      const [log] = await logs({ fromBlock: hexNumber(blockNumber) });
      expect(log).not.to.have.property("blockTimestamp");
    });

    it("by returning changed results", async () => {
      const paid = await lab.pay({ to: wallet, amount: 4n });
      lab.provider.lie(({ method }, result) =>
        method === "eth_getTransactionReceipt" ? { ...(result as object), status: "0x0" } : result,
      );
      const receipt = await call("eth_getTransactionReceipt", paid.transactionHash);
      expect(receipt).to.include({ status: "0x0", transactionHash: paid.transactionHash });
      expect(await call("eth_chainId")).to.equal("0x2b6653dc");
    });
  });

  describe("counts", () => {
    it("requests, calls and methods, including failed ones", async () => {
      await post([request(1, "eth_chainId"), request(2, "eth_blockNumber")]);
      lab.provider.fail("forbidden");
      await post(request(3, "eth_chainId"));
      expect(lab.provider.counts()).to.deep.equal({
        requests: 2,
        calls: 3,
        methods: { eth_chainId: 2, eth_blockNumber: 1 },
      });
      lab.provider.resetCounts();
      expect(lab.provider.counts().requests).to.equal(0);
    });

    it("and keeps the last headers", async () => {
      await fetch(lab.providerUrl, {
        method: "POST",
        body: JSON.stringify(request(1, "eth_chainId")),
        headers: { "TRON-PRO-API-KEY": "a key" },
      });
      expect(lab.provider.lastHeaders()["tron-pro-api-key"]).to.equal("a key");
    });
  });
});

describe("A provider's own fetch", () => {
  async function start() {
    const front = await startRpcFront({
      path: "/rpc",
      open: () => (call) =>
        call.method === "refused"
          ? Promise.reject(new JsonRpcRefusal(-32601, "no such method"))
          : Promise.resolve(call.params),
      batchLimit: () => 2,
      requestBytesLimit: 400,
      responseBytesLimit: 200,
    });
    const init = (body: string, signal = new AbortController().signal) =>
      ({ method: "POST", headers: { "X-Key": "k" }, body, redirect: "manual", signal }) as const;
    return { front, init };
  }
  const body = (method: string, ...params: unknown[]) => ({
    jsonrpc: "2.0",
    id: 1,
    method,
    params,
  });
  const one = JSON.stringify(body("echo", "é"));

  it("answers as over a socket: bodies, statuses, headers, limits and counts", async () => {
    const { front, init } = await start();
    const all: readonly (readonly [url: string, text: string])[] = [
      [front.url, one],
      [front.url, JSON.stringify([body("echo"), body("refused")])],
      [front.url, JSON.stringify([body("echo"), body("echo"), body("echo")])],
      [front.url, JSON.stringify(body("echo", "a".repeat(201)))],
      [front.url, "a".repeat(401)],
      [front.url, "{"],
      [front.url, "[7]"],
      [front.url.replace("rpc", "other"), one],
    ];
    const told: unknown[] = [];
    const senders: readonly Fetch[] = [front.fetch, fetch];
    for (const send of senders) {
      front.resetCounts();
      for (const [url, text] of all) {
        const { status, headers, body: sent } = await send(url, init(text));
        const read: Uint8Array[] = [];
        for await (const chunk of sent ?? []) read.push(chunk);
        const kept = ["content-type", "content-length"].map((name) => headers.get(name));
        told.push([status, kept, Buffer.concat(read).toString("utf8")]);
      }
      expect(front.lastHeaders()["x-key"]).to.equal("k");
      told.push(front.counts());
    }
    const half = told.length / 2;
    expect(told.slice(0, half)).to.deep.equal(told.slice(half));
    expect(told.map((each) => Array.isArray(each) && Number(each[0])).slice(0, half)).to.deep.equal(
      [200, 200, 200, 200, 413, 200, 200, 404, false],
    );
    await front.stop();
  });

  it("meets each fault once, over a socket, and cannot reach a front that has stopped", async () => {
    const { front, init } = await start();
    front.fail("rate-limited");
    front.fail("disconnect");
    const limited = await front.fetch(front.url, init(one));
    expect([limited.status, limited.headers.get("retry-after")]).to.deep.equal([429, "1"]);
    const failure = (signal?: AbortSignal) =>
      front.fetch(front.url, init(one, signal)).then(
        () => null,
        (error: unknown) => (error as Error).name,
      );
    expect(await failure()).to.equal("TypeError");
    expect(await failure()).to.equal(null);
    expect(await failure(AbortSignal.abort())).to.equal("AbortError");
    await front.stop();
    expect(await failure()).to.equal("TypeError");
  });
});
