import { expect } from "chai";
import { inspect } from "node:util";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "../../../../src/kernel/clock.ts";
import type { ChainClient, DroppedPart } from "../../../../src/platform/chain/client.ts";
import {
  createJsonRpcClient,
  type JsonRpcOptions,
} from "../../../../src/platform/chain/evm/client.ts";
import { makeProviderLimits } from "../../../../src/platform/chain/providers/limits.ts";
import { ProviderError } from "../../../../src/platform/chain/providers/error.ts";
import { transferTopic } from "../../../../src/platform/chain/evm/transfer-log.ts";

interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The network's part that bounds what its providers are asked for. */
const table = { maxLogRange: 1_000, tokens: [] };

/** The node's result for one call. An Error becomes a JSON-RPC error. */
type Node = (call: Asked) => unknown;

const hash = (seed: number) => seed.toString(16).padStart(64, "0");
const usdt = "a614f803b6fd780986a42c78ec9c7f77e6ded13c";
const wallet = "f39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const payer = "70997970c51812dc3a010c7d01b50e0d17dc79c8";
const pad = (address: string) => `0x${address.padStart(64, "0")}`;
const word = (amount: bigint) => `0x${amount.toString(16).padStart(64, "0")}`;

function blockOf(height: number): object {
  return {
    number: `0x${height.toString(16)}`,
    hash: `0x${hash(height)}`,
    timestamp: `0x${(1_700_000_000 + height).toString(16)}`,
    // TRON nodes leave these fields blank.
    stateRoot: "0x",
  };
}

function logOf(changes: object = {}): object {
  return {
    address: `0x${usdt}`,
    topics: [transferTopic, pad(payer), pad(wallet)],
    data: word(25_000_000n),
    blockNumber: "0x5",
    blockHash: `0x${hash(5)}`,
    blockTimestamp: "0x6553f105",
    transactionHash: `0x${hash(0xaa)}`,
    logIndex: "0x3",
    removed: false,
    ...changes,
  };
}

function failure(code: number, message: string, data?: unknown): Error {
  return Object.assign(new Error(message), { code, data });
}

/** A node with 100 blocks, whose final block is 81 and which has these logs. */
function chainOf(logs: readonly object[] = []): Node {
  return ({ method, params: [first] }) => {
    switch (method) {
      case "eth_chainId":
        return "0x2b6653dc";
      case "eth_getBlockByNumber": {
        if (first === "latest") return blockOf(100);
        if (first === "finalized") return blockOf(81);
        return Number(first) > 100 ? null : blockOf(Number(first));
      }
      case "eth_getLogs":
        return logs;
      default:
        return failure(-32_601, "method not found");
    }
  };
}

function answerTo(call: Asked, node: Node): object {
  const result = node(call);
  if (!(result instanceof Error)) return { jsonrpc: "2.0", id: call.id, result };
  const { code, message, data } = result as Error & { code: number; data: unknown };
  return { jsonrpc: "2.0", id: call.id, error: { code, message, data } };
}

function answerAll(body: unknown, node: Node): unknown {
  return Array.isArray(body)
    ? (body as Asked[]).map((call) => answerTo(call, node))
    : answerTo(body as Asked, node);
}

async function faultOf(asked: Promise<unknown>): Promise<ProviderError> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
  throw new Error("there was an answer");
}

describe("the JSON-RPC client", () => {
  let serve: (body: unknown) => Reply | null;
  let requests: { headers: NodeJS.Dict<string | string[]>; body: unknown }[];
  let origin: string;

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
      requests.push({ headers: request.headers, body });
      const reply = serve(body);
      if (reply === null) return;
      response.writeHead(reply.status ?? 200, reply.headers);
      response.end(reply.body);
    });
  });

  before((done) => {
    server.listen(0, "127.0.0.1", () => {
      origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
      done();
    });
  });
  after((done) => {
    server.closeAllConnections();
    server.close(done);
  });
  beforeEach(() => {
    requests = [];
    answer(chainOf());
  });

  function answer(node: Node): void {
    serve = (body) => ({ body: JSON.stringify(answerAll(body, node)) });
  }

  function client(options: Partial<JsonRpcOptions> = {}): ChainClient {
    const network = {
      ...table,
      id: "tron",
      finality: { tag: "finalized", lagBlocks: 19 },
    } as const;
    return createJsonRpcClient({ network, url: origin, ...options });
  }

  function calls(): Asked[] {
    return requests.flatMap(({ body }) => body as Asked | Asked[]);
  }

  const everything = { from: 1, to: 100, contracts: [usdt], recipients: null };

  it("reads the tip and the final block in one request", async () => {
    const { latest, finalized } = await client().heads();
    expect(latest).to.deep.equal({ height: 100, hash: hash(100), time: 1_700_000_100_000 });
    expect(finalized.height).to.equal(81);
    expect(requests).to.have.length(1);
    expect(await client().chainId()).to.equal(728_126_428);
  });

  it("counts blocks below the tip if the node does not report its final block", async () => {
    answer((call) =>
      call.params[0] === "finalized"
        ? failure(-32_602, "TAG finalized not supported")
        : chainOf()(call),
    );
    const asking = client();
    expect((await asking.heads()).finalized).to.deep.include({ height: 81, hash: hash(81) });
    expect((await asking.heads()).finalized.height).to.equal(81);
    expect(calls().filter(({ params }) => params[0] === "finalized")).to.have.length(1);
    const network = { ...table, id: "bsc", finality: { tag: null, lagBlocks: 200 } } as const;
    expect((await client({ network }).heads()).finalized.height).to.equal(0);
  });

  it("does not mistake a rate-limited node for one without the tag", async () => {
    answer((call) =>
      call.params[0] === "finalized" ? failure(-32_005, "rate limit exceeded") : chainOf()(call),
    );
    expect((await faultOf(client().heads())).kind).to.equal("rate_limited");
  });

  it("rejects a final block above the tip", async () => {
    answer((call) => (call.params[0] === "finalized" ? blockOf(101) : chainOf()(call)));
    expect((await faultOf(client().heads())).kind).to.equal("malformed");
  });

  it("reads blocks in one request, with null for each missing block", async () => {
    const blocks = await client().blocks([7, 101, 9]);
    expect(blocks.map((block) => block?.height ?? null)).to.deep.equal([7, null, 9]);
    expect(requests).to.have.length(1);
    expect(await client().blocks([])).to.deep.equal([]);
  });

  it("accepts the responses of a batch in any order", async () => {
    serve = (body) => ({
      body: JSON.stringify((answerAll(body, chainOf()) as object[]).reverse()),
    });
    expect((await client().heads()).finalized.height).to.equal(81);
  });

  it("sends at most as many calls in one request as the provider allows", async () => {
    const blocks = await client({
      limits: makeProviderLimits({
        clock: systemClock,
        batchMax: 2,
        requestsPerSecond: 25,
        network: table,
      }),
    }).blocks([1, 2, 3, 4, 5]);
    expect(blocks.map((block) => block?.height)).to.deep.equal([1, 2, 3, 4, 5]);
    expect(requests.map(({ body }) => (Array.isArray(body) ? body.length : 0))).to.deep.equal([
      2, 2, 0,
    ]);
  });

  describe("reading transfers", () => {
    it("returns the transfers of logs together with the tip", async () => {
      answer(chainOf([logOf()]));
      const { logs, latest } = await client().transfers({ ...everything, recipients: [wallet] });
      expect(logs).to.deep.equal([
        {
          transactionHash: hash(0xaa),
          logIndex: 3,
          ordinal: 0,
          blockHeight: 5,
          blockHash: hash(5),
          blockTime: 0x6553f105 * 1_000,
          contract: usdt,
          from: payer,
          to: wallet,
          amount: 25_000_000n,
        },
      ]);
      expect(latest.height).to.equal(100);
      expect(calls().map(({ params }) => params[0])).to.deep.equal([
        {
          fromBlock: "0x1",
          toBlock: "0x64",
          address: [`0x${usdt}`],
          topics: [transferTopic, null, [pad(wallet)]],
        },
        "latest",
      ]);
    });

    it("drops logs that are not transfers of a requested contract to a requested address", async () => {
      answer(
        chainOf([
          logOf({ data: word(0n) }),
          logOf({ removed: true }),
          logOf({ address: `0x${payer}` }),
          logOf({ topics: [transferTopic, pad(wallet), pad(payer)] }),
          logOf({ topics: [transferTopic, pad(payer), pad(wallet), word(1n)], data: "0x" }),
          logOf({ topics: [hash(1), pad(payer), pad(wallet)] }),
          logOf({ topics: [] }),
          logOf({ data: word(1n) + "00" }),
          logOf({ data: "0x" }),
        ]),
      );
      expect(
        (await client().transfers({ ...everything, recipients: [wallet] })).logs,
      ).to.deep.equal([]);
    });

    it("keeps the largest amount, a mint, and a log without its time", async () => {
      answer(
        chainOf([
          logOf({ data: word(2n ** 256n - 1n), blockTimestamp: undefined }),
          logOf({ topics: [transferTopic, word(0n), pad(wallet)], logIndex: "0x1" }),
        ]),
      );
      const { logs } = await client().transfers(everything);
      expect(
        logs.map(({ amount, from, blockTime }) => [amount, from, blockTime === null]),
      ).to.deep.equal([
        [25_000_000n, "0".repeat(40), false],
        [2n ** 256n - 1n, payer, true],
      ]);
    });

    // A line for each odd form, beside a sound log of another transaction, which must be read whatever the form is.
    const other = { transactionHash: `0x${hash(0xbb)}`, logIndex: "0x9" };
    const hex = (digits: string) => `0x${digits}`;
    const oddLogs: readonly {
      readonly odd: object | string | number | null;
      /** The fields that are read of the odd log; null: it is dropped. */
      readonly read: object | null;
      readonly dropped?: DroppedPart;
      /** Whether operators learn that money may be missing. */
      readonly isReported?: boolean;
    }[] = [
      // Forms of numbers that are in use.
      { odd: { blockTimestamp: 1_700_000_005 }, read: { blockTime: 1_700_000_005_000 } },
      { odd: { blockTimestamp: "0x000006553f105" }, read: { blockTime: 1_700_000_005_000 } },
      { odd: { blockNumber: 5 }, read: { blockHeight: 5 } },
      { odd: { blockNumber: "0x0000000005" }, read: { blockHeight: 5 } },
      { odd: { logIndex: 3 }, read: { logIndex: 3 } },
      { odd: { logIndex: "0x03" }, read: { logIndex: 3 } },
      // Optional fields.
      ...[undefined, null].flatMap((absent) => [
        { odd: { blockTimestamp: absent }, read: { blockTime: null } },
        { odd: { logIndex: absent }, read: { logIndex: 0 } },
      ]),
      ...["soon", "1700000005", -1, 1.5, 1e20, {}, [], true, "0x"].flatMap((odd) => [
        {
          odd: { blockTimestamp: odd },
          read: { blockTime: null },
          dropped: "optional_field" as const,
        },
        { odd: { logIndex: odd }, read: { logIndex: 0 }, dropped: "optional_field" as const },
      ]),
      { odd: { removed: null, extra: {}, transactionIndex: "x" }, read: {} },
      // Logs that are in no block.
      { odd: { blockNumber: null, blockHash: null }, read: null, dropped: "pending_log" },
      { odd: { blockNumber: null, logIndex: null }, read: null, dropped: "pending_log" },
      { odd: { blockNumber: hex("65"), blockHash: null }, read: null, dropped: "pending_log" },
      {
        odd: { blockNumber: hex("65"), blockHash: hex("0".repeat(64)) },
        read: null,
        dropped: "pending_log",
      },
      // Required fields.
      ...[
        { transactionHash: "0x12" },
        { blockNumber: "5" },
        { blockNumber: undefined },
        { blockHash: undefined },
        { blockHash: null },
        { data: hex("zz".repeat(32)) },
        { data: 5 },
        { topics: "none" },
        { topics: [transferTopic, "0x1", pad(wallet)] },
        { topics: [transferTopic, pad(payer), 7] },
        { address: null },
        "log",
        7,
        null,
      ].map((odd) => ({ odd, read: null, dropped: "unreadable_log" as const, isReported: true })),
      // Unreadable logs that belong to nobody here.
      { odd: { data: 5, address: hex(payer) }, read: null, dropped: "other_log" },
      {
        odd: { data: 5, topics: [transferTopic, pad(wallet), pad(payer)] },
        read: null,
        dropped: "other_log",
      },
      // The same log twice.
      { odd: other, read: null, dropped: "repeated_log" },
    ];
    for (const { odd, read, dropped, isReported = false } of oddLogs) {
      it(`reads the other logs, and ${read === null ? "drops" : "reads"} the log with ${inspect(odd)}`, async () => {
        const log = typeof odd === "object" && odd !== null ? logOf(odd) : odd;
        answer(chainOf([log as object, logOf(other)]));
        const asked = client();
        const query = { ...everything, recipients: [wallet] };
        const { logs, unreadable = [] } = await asked.transfers(query);
        expect(logs.some(({ transactionHash }) => transactionHash === hash(0xbb))).to.equal(true);
        const found = logs.filter(({ transactionHash }) => transactionHash === hash(0xaa));
        if (read === null) expect(logs).to.have.length(1);
        else expect(found).to.have.length(1).with.nested.property("[0]").that.includes(read);
        expect(asked.dropped?.()).to.deep.equal(dropped === undefined ? {} : { [dropped]: 1 });
        expect(unreadable).to.have.length(isReported ? 1 : 0);
      });
    }

    it("says of an unreadable log which transaction and block it is of, as far as that can be read", async () => {
      answer(chainOf([logOf({ data: 5 }), logOf({ transactionHash: "0x1", blockNumber: "5" })]));
      expect((await client().transfers(everything)).unreadable).to.deep.equal([
        {
          transactionHash: hash(0xaa),
          blockHeight: 5,
          reason: "a log's data is not 32 bytes of hex",
        },
        {
          transactionHash: null,
          blockHeight: null,
          reason: "a log's blockNumber is not a quantity",
        },
      ]);
    });

    it("reads the other blocks if the header of one cannot be read, and counts it", async () => {
      const node = chainOf();
      answer((call) => {
        const block = node(call);
        const isOdd = call.params[0] === "0x6" && typeof block === "object";
        return isOdd ? { ...block, timestamp: "soon" } : block;
      });
      const asked = client();
      const [five, six, seven] = await asked.blocks([5, 6, 7]);
      expect([five?.height, six, seven?.height]).to.deep.equal([5, null, 7]);
      expect(asked.dropped?.()).to.deep.equal({ block: 1 });
      expect((await faultOf(asked.blocks([6]))).kind).to.equal("malformed");
      expect((await faultOf(asked.blocks([6, 6]))).kind).to.equal("malformed");
    });

    it("reads null instead of a list as no logs", async () => {
      answer((call) => (call.method === "eth_getLogs" ? null : chainOf()(call)));
      const { logs, unreadable } = await client().transfers(everything);
      expect([logs, unreadable]).to.deep.equal([[], undefined]);
    });

    it("says that logs of blocks that were not requested cannot be read, because others may be missing", async () => {
      answer(chainOf([logOf({ blockNumber: "0x65" }), logOf(other)]));
      const { logs, unreadable } = await client().transfers(everything);
      expect(logs).to.have.length(1);
      expect(unreadable).to.deep.equal([
        {
          transactionHash: hash(0xaa),
          blockHeight: 101,
          reason: "a log belongs to a block that was not requested",
        },
      ]);
    });

    it("numbers equal transfers of a transaction, whatever their indexes are, and no others", async () => {
      for (const indexes of [
        ["0x3", "0x4", "0x5"],
        ["0x0", "0x1", "0x2"],
        [null, null, null],
      ]) {
        const [first, second, third] = indexes;
        answer(
          chainOf([
            logOf({ logIndex: first }),
            logOf({ logIndex: second, data: word(1n) }),
            logOf({ logIndex: third }),
            logOf({ ...other, logIndex: first }),
          ]),
        );
        const { logs } = await client().transfers(everything);
        const numbers = logs.map(({ amount, transactionHash, ordinal }) => [
          ...[transactionHash === hash(0xaa), amount, ordinal],
        ]);
        expect(numbers, String(indexes)).to.have.deep.members([
          [true, 25_000_000n, 0],
          [true, 1n, 0],
          [true, 25_000_000n, 1],
          [false, 25_000_000n, 0],
        ]);
      }
    });

    it("requests a thousand recipients at a time, and returns each transfer once, in chain order", async () => {
      const recipients = Array.from({ length: 2_500 }, (_, place) =>
        place.toString(16).padStart(40, "0"),
      );
      answer((call) => {
        if (call.method !== "eth_getLogs") return chainOf()(call);
        const [filter] = call.params as [{ topics: [string, null, string[]] }];
        const [, , [to]] = filter.topics;
        const topics = [transferTopic, pad(payer), to];
        return [
          logOf({ topics, logIndex: `0x${(to ?? "").slice(-4)}` }),
          logOf({ topics, blockNumber: "0x1" }),
        ];
      });
      const { logs } = await client().transfers({
        ...everything,
        recipients: [...recipients, "0".repeat(40)],
      });
      expect(requests).to.have.length(1);
      expect(calls()).to.have.length(4);
      // Three transfers of one transaction have the same index, as if a node counted it for each recipient.
      expect(logs.map(({ blockHeight, logIndex }) => [blockHeight, logIndex])).to.deep.equal([
        [1, 3],
        [1, 3],
        [1, 3],
        [5, 0],
        [5, 1_000],
        [5, 2_000],
      ]);
    });

    it("requests no logs without a contract or without a recipient", async () => {
      expect((await client().transfers({ ...everything, contracts: [] })).logs).to.deep.equal([]);
      expect((await client().transfers({ ...everything, recipients: [] })).logs).to.deep.equal([]);
      expect(calls().map(({ method }) => method)).to.not.include("eth_getLogs");
    });

    it("treats a list that reaches the limit of nodes as truncated", async () => {
      const logs = Array.from({ length: 10_000 }, (_, place) =>
        logOf({ logIndex: `0x${place.toString(16)}` }),
      );
      answer(chainOf(logs));
      expect((await faultOf(client().transfers(everything))).kind).to.equal("range_too_large");
      // A range of one block cannot be made smaller.
      const one = await client().transfers({ ...everything, from: 5, to: 5 });
      expect(one.logs).to.have.length(10_000);
    });
  });

  describe("reading a receipt", () => {
    const receipt = (changes: object = {}) => ({
      transactionHash: `0x${hash(0xaa)}`,
      blockNumber: "0x5",
      blockHash: `0x${hash(5)}`,
      status: "0x1",
      logs: [logOf(), logOf({ address: `0x${payer}`, logIndex: "0x4" })],
      ...changes,
    });

    it("returns success, block and transfers of every contract", async () => {
      answer(() => receipt());
      const read = await client().receipt(hash(0xaa));
      expect(read).to.deep.include({ succeeded: true, blockHeight: 5, blockHash: hash(5) });
      expect(read?.transfers.map(({ contract }) => contract)).to.deep.equal([usdt, payer]);
    });

    it("returns no transfers of a failed transaction, whatever the node lists", async () => {
      answer(() => receipt({ status: "0x0" }));
      expect(await client().receipt(hash(0xaa))).to.deep.include({
        succeeded: false,
        transfers: [],
      });
    });

    it("returns null for a transaction without a block, and rejects the receipt of another transaction", async () => {
      answer(() => null);
      expect(await client().receipt(hash(0xaa))).to.equal(null);
      answer(() => receipt({ blockNumber: null, blockHash: null }));
      expect(await client().receipt(hash(0xaa))).to.equal(null);
      for (const wrong of [
        receipt({ transactionHash: `0x${hash(1)}`, logs: [] }),
        receipt({ logs: [logOf({ transactionHash: `0x${hash(1)}` })] }),
        receipt({ logs: [logOf({ blockHash: `0x${hash(6)}` })] }),
        receipt({ status: undefined }),
        [],
      ]) {
        answer(() => wrong);
        expect((await faultOf(client().receipt(hash(0xaa)))).kind).to.equal("malformed");
      }
    });

    for (const [odd, transfers, unreadable] of [
      // A receipt repeats its fields in its logs: those are optional there.
      [{ blockHash: undefined, blockNumber: null, transactionHash: "0x1" }, 2, undefined],
      [{ logIndex: null, blockTimestamp: 7 }, 2, undefined],
      [{ data: 5 }, 1, 1],
      [{ topics: null }, 1, 1],
      ["log", 1, 1],
    ] as const) {
      it(`reads the other transfers of a transaction with the log ${inspect(odd)}`, async () => {
        const log = typeof odd === "string" ? odd : logOf(odd);
        answer(() => receipt({ logs: [logOf({ data: word(7n) }), log] }));
        const read = await client().receipt(hash(0xaa));
        expect(read?.transfers).to.have.length(transfers);
        expect(read?.unreadableLogs).to.equal(unreadable);
        for (const one of read?.transfers ?? []) {
          expect(one).to.include({ blockHash: hash(5), blockHeight: 5 });
        }
      });
    }

    it("reads the receipts of a block beside one that cannot be read", async () => {
      answer(() => [receipt({ status: "ok" }), null, 5, receipt()]);
      const asked = client();
      expect(await asked.blockTransfers(5, [usdt])).to.have.length(1);
      expect(asked.dropped?.()).to.deep.equal({ receipt: 2 });
    });

    it("reads a block's transfers from its receipts, or returns null if the provider does not serve them", async () => {
      answer(() => [
        receipt(),
        receipt({ transactionHash: `0x${hash(0xbb)}`, status: "0x0", logs: [] }),
      ]);
      expect(
        (await client().blockTransfers(5, [usdt]))?.map(({ logIndex }) => logIndex),
      ).to.deep.equal([3]);
      expect((await faultOf(client().blockTransfers(6, [usdt]))).kind).to.equal("malformed");
      answer(chainOf());
      expect(await client().blockTransfers(5, [usdt])).to.equal(null);
    });
  });

  it("reads a token's decimals, and rejects an impossible number", async () => {
    answer(() => word(18n));
    expect(await client().decimals(usdt)).to.equal(18);
    expect(calls()[0]?.params).to.deep.equal([{ to: `0x${usdt}`, data: "0x313ce567" }, "latest"]);
    for (const wrong of ["0x", word(256n), "18", null]) {
      answer(() => wrong);
      expect((await faultOf(client().decimals(usdt))).kind).to.equal("malformed");
    }
  });

  describe("reads the other responses of a batch beside", () => {
    const answered = { jsonrpc: "2.0", id: 2, result: blockOf(8) };
    for (const [name, change] of Object.entries<(entries: object[]) => unknown[]>({
      "a missing response": ([first, , third]) => [first, third],
      "one without a result": ([first, , third]) => [first, { jsonrpc: "2.0", id: 2 }, third],
      "one with an id of text": ([first, , third]) => [first, { ...answered, id: "2" }, third],
      "one of another protocol": ([first, , third]) => [first, { ...answered, jsonrpc: 2 }, third],
      "a repeated response instead of another": ([first, , third]) => [first, first, third],
      "a response of null": ([first, , third]) => [first, null, third],
      "one whose result is odd": ([first, , third]) => [first, { ...answered, result: 7 }, third],
    })) {
      it(name, async () => {
        serve = (body) => ({
          body: JSON.stringify(change(answerAll(body, (call) => receiptIn(call)) as object[])),
        });
        const hashes = [hash(1), hash(2), hash(3)];
        const [first, second, third] = (await client().receipts?.(hashes)) ?? [];
        expect([first, third]).to.have.deep.nested.property("[0].transactionHash", hash(1));
        expect([first, third]).to.have.deep.nested.property("[1].transactionHash", hash(3));
        expect(second).to.be.instanceOf(ProviderError).with.property("kind", "malformed");
      });
    }
    const receiptIn = ({ params: [transactionHash] }: Asked) => ({
      transactionHash,
      blockNumber: "0x5",
      blockHash: hex64(5),
      status: "0x1",
      logs: null,
    });
    const hex64 = (seed: number) => `0x${hash(seed)}`;
  });

  describe("rejects an invalid response", () => {
    const whole = (text: string): void => {
      serve = () => ({ body: text });
    };
    const ok = { jsonrpc: "2.0", id: 1, result: "0x1" };
    for (const [name, text] of Object.entries({
      "a page": "<html>Bad gateway</html>",
      "half of it": JSON.stringify(ok).slice(0, 12),
      nothing: "",
      "another id": JSON.stringify({ ...ok, id: 999 }),
      "an id of text": JSON.stringify({ ...ok, id: "1" }),
      "another protocol": JSON.stringify({ ...ok, jsonrpc: "1.0" }),
      "no result": JSON.stringify({ jsonrpc: "2.0", id: 1 }),
      "a list for one call": JSON.stringify([ok]),
      null: "null",
      "another shape": JSON.stringify({ ...ok, result: { chainId: 1 } }),
      "a number too large": JSON.stringify({ ...ok, result: "0xffffffffffffffff" }),
    })) {
      it(name, async () => {
        whole(text);
        expect((await faultOf(client().chainId())).kind).to.equal("malformed");
      });
    }

    it("a batch without the response that it needs, or with one for the whole batch", async () => {
      for (const change of [
        (list: object[]) => list.slice(1),
        (list: object[]) => list[0],
        () => [],
      ]) {
        serve = (body) => {
          const answered = answerAll(body, chainOf());
          return {
            body: JSON.stringify(Array.isArray(answered) ? change(answered as object[]) : {}),
          };
        };
        expect((await faultOf(client().heads())).kind).to.equal("malformed");
      }
    });

    it("a block at another height", async () => {
      answer(() => blockOf(8));
      expect((await faultOf(client().blocks([7]))).kind).to.equal("malformed");
    });
  });

  describe("determines the kind of a failure", () => {
    it("by its status, with the waiting time", async () => {
      const date = "Wed, 21 Oct 2026 07:28:00 GMT";
      const table: [Reply, string, number | null][] = [
        [{ status: 429, headers: { "retry-after": "7" }, body: "" }, "rate_limited", 7_000],
        [{ status: 429, body: "slow down" }, "rate_limited", null],
        [
          {
            status: 503,
            headers: { "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", date },
            body: "",
          },
          "unreachable",
          30_000,
        ],
        [{ status: 502, body: "<html>Bad gateway</html>" }, "unreachable", null],
        [{ status: 403, body: '{"Error":"Exceed the user daily usage"}' }, "rate_limited", 30_000],
        [{ status: 403, body: "Forbidden" }, "refused", 30_000],
        [{ status: 401, body: '{"error":"invalid api key"}' }, "refused", null],
        [{ status: 404, body: "" }, "refused", null],
        [{ status: 307, headers: { location: "http://127.0.0.1:1/" }, body: "" }, "refused", null],
        [
          {
            body: '{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}',
          },
          "rate_limited",
          null,
        ],
      ];
      for (const [reply, kind, retryAfterMs] of table) {
        serve = () => reply;
        const error = await faultOf(client().heads());
        expect(
          { kind: error.kind, retryAfterMs: error.retryAfterMs },
          JSON.stringify(reply),
        ).to.deep.equal({
          kind,
          retryAfterMs,
        });
      }
    });

    it("of a request for logs by the words that nodes and providers use", async () => {
      const table: [number, string, string][] = [
        [-32_602, "exceed max block range: 5000", "range_too_large"],
        [-32_005, "query returned more than 10000 results", "range_too_large"],
        [-32_602, "range 1000000 exceeds limit of 10000", "range_too_large"],
        [-32_614, "eth_getLogs is limited to a 10,000 range", "range_too_large"],
        [-32_000, "block range is larger than max block range", "range_too_large"],
        [-32_602, "Log response size exceeded.", "range_too_large"],
        [-32_005, "limit exceeded", "range_too_large"],
        [-32_000, "query timeout exceeded", "range_too_large"],
        [-32_003, "response too big", "range_too_large"],
        [-32_005, "daily request count exceeded, request rate limited", "rate_limited"],
        [-32_029, "Too Many Requests", "rate_limited"],
        [-32_005, "please slow down", "rate_limited"],
        [-32_602, "exceed max topics: 1000", "refused"],
        [-32_602, "block range extends beyond current head block", "unreachable"],
        [-32_601, "the method eth_getLogs does not exist/is not available", "refused"],
      ];
      for (const [code, message, kind] of table) {
        answer((call) =>
          call.method === "eth_getLogs" ? failure(code, message) : chainOf()(call),
        );
        expect((await faultOf(client().transfers(everything))).kind, message).to.equal(kind);
      }
    });

    it("of a request for logs by an error's data, and by the error of a whole batch", async () => {
      answer(() =>
        failure(-32_602, "invalid params", { payload: "range 9 is bigger than range limit 2" }),
      );
      expect((await faultOf(client().transfers(everything))).kind).to.equal("range_too_large");
      const error = { code: -32_600, message: "block range too high" };
      serve = () => ({ status: 400, body: JSON.stringify({ jsonrpc: "2.0", id: null, error }) });
      expect((await faultOf(client().transfers(everything))).kind).to.equal("range_too_large");
    });

    it("without blaming the range for other failures", async () => {
      answer(() => failure(-32_005, "limit exceeded"));
      expect((await faultOf(client().chainId())).kind).to.equal("rate_limited");
    });

    it("if there is no response, or none before the timeout", async () => {
      serve = () => null;
      const late = await faultOf(client({ timeoutMs: 20 }).chainId());
      expect(late.kind).to.equal("unreachable");
      expect(late.message).to.contain("20 ms");
      const closed = await faultOf(client({ url: "http://127.0.0.1:1/" }).chainId());
      expect(closed.kind).to.equal("unreachable");
      expect(closed.message).to.contain("http://127.0.0.1:1");
    });

    it("if the response starts but does not end before the timeout", async () => {
      const slow = createServer((_request, response) => {
        response.write("{");
      });
      await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
      const url = `http://127.0.0.1:${String((slow.address() as AddressInfo).port)}`;
      expect((await faultOf(client({ url, timeoutMs: 50 }).chainId())).kind).to.equal(
        "unreachable",
      );
      slow.closeAllConnections();
      slow.close();
    });

    it("if the program stops", async () => {
      serve = () => null;
      const stopping = new AbortController();
      const asked = faultOf(client({ signal: stopping.signal }).chainId());
      stopping.abort();
      expect((await asked).message).to.contain("stopping");
      expect((await faultOf(client({ signal: stopping.signal }).chainId())).kind).to.equal(
        "unreachable",
      );
    });

    it("if a response exceeds the size limit", async () => {
      serve = () => ({ body: " ".repeat(2_000) });
      const limited = client({ responseBytesMax: 1_000 });
      expect((await faultOf(limited.chainId())).kind).to.equal("malformed");
      expect((await faultOf(limited.transfers(everything))).kind).to.equal("range_too_large");
    });
  });

  it("is named by its origin, with a number if several providers share that origin", () => {
    const url = "https://rpc.example/a-secret-key";
    expect(client({ url }).provider).to.equal("https://rpc.example");
    expect(client({ url, member: 2 }).provider).to.equal("https://rpc.example (2)");
  });

  describe("keeps its secrets", () => {
    const key = "5ecretkey5ecretkey";

    it("out of its messages, even if the provider repeats them", async () => {
      serve = () => ({
        status: 401,
        body: JSON.stringify({ error: `key ${key}\nand ${key}2 is\u001b[2J bad` }),
      });
      for (const options of [
        { url: `${origin}/v2/${key}` },
        { url: `${origin}/?apikey=${key}` },
        { headers: { "TRON-PRO-API-KEY": key } },
      ]) {
        const error = await faultOf(client(options).chainId());
        expect(error.message).to.equal(`${origin}: key *** and ***2 is [2J bad (HTTP 401)`);
        expect(error.provider).to.equal(origin);
      }
      expect(client({ url: `${origin}/v2/${key}` }).provider).to.equal(origin);
    });

    it("and sends them: headers, and a URL's name and password", async () => {
      const [scheme, rest] = origin.split("//");
      const url = `${scheme ?? ""}//user:p%40ss@${rest ?? ""}/`;
      await client({ url, headers: { "TRON-PRO-API-KEY": key } }).chainId();
      const [{ headers } = { headers: {} }] = requests;
      expect(headers).to.deep.include({
        "tron-pro-api-key": key,
        "content-type": "application/json",
        authorization: `Basic ${Buffer.from("user:p@ss").toString("base64")}`,
      });
    });

    it("from the target of a redirect", async () => {
      serve = () => ({ status: 302, headers: { location: `${origin}/elsewhere` }, body: "" });
      await faultOf(client({ headers: { "TRON-PRO-API-KEY": key } }).chainId());
      expect(requests).to.have.length(1);
    });
  });

  it("reports an error in whatever form as one of the provider", async () => {
    const errors = [[], [1], [null], {}, 0, 7, true, "", "no", { code: "x" }, { message: [1] }];
    for (const error of errors) {
      for (const heights of [[5], [5, 6, 7]]) {
        for (const status of [200, 500]) {
          serve = (body) => {
            const asked = Array.isArray(body) ? (body as Asked[]) : [body as Asked];
            const each = asked.map(({ id }) => ({ jsonrpc: "2.0", id, error }));
            return { status, body: JSON.stringify(Array.isArray(body) ? each : each[0]) };
          };
          await faultOf(client().blocks(heights));
          for (const whole of [{ error }, [{ error }]]) {
            serve = () => ({ status, body: JSON.stringify(whole) });
            await faultOf(client().blocks(heights));
          }
        }
      }
    }
  });

  describe("with any field in any odd form", () => {
    const whole = (bytes: string) => `0x${bytes}`;
    /** A line for each way in which a value may be odd. */
    const forms: Readonly<Record<string, (value: unknown) => unknown>> = {
      missing: () => undefined,
      null: () => null,
      "a number": () => 7,
      "a huge number": () => 1e300,
      "a fraction": () => 1.5,
      "a negative number": () => -1,
      "decimal digits": () => "12",
      "a negative quantity": () => "-0x1",
      "a huge quantity": () => whole("f".repeat(64)),
      "a quantity beyond 256 bits": () => whole("f".repeat(65)),
      "another quantity": () => "0xffff",
      "in upper case": (value) => String(value).toUpperCase(),
      "with leading zeros": (value) => String(value).replace("0x", "0x00"),
      "without leading zeros": (value) => String(value).replace(/^0x0+/, "0x"),
      empty: () => "",
      "without digits": () => "0x",
      "a list": () => [],
      "a list of the value": (value) => [value],
      "an object": () => ({}),
      "a boolean": () => true,
    };
    const odd = `0x${hash(0xbb)}`;
    /** As the topic of another recipient, it is another log; so it is as another transaction. */
    const others = ["topics.2, a huge quantity", "transactionHash, a huge quantity"];
    const paths = [...Object.keys(logOf()), "topics.0", "topics.1", "topics.2"];

    function written(path: string, form: (value: unknown) => unknown): object {
      const log = logOf({ transactionHash: odd, logIndex: "0x9" }) as Record<string, unknown>;
      const [field = "", place] = path.split(".");
      if (place === undefined) return { ...log, [field]: form(log[field]) };
      const topics = log["topics"] as readonly unknown[];
      return {
        ...log,
        topics: topics.map((topic, at) => (at === Number(place) ? form(topic) : topic)),
      };
    }

    for (const path of paths) {
      it(`reads the other logs, and reports or counts the one whose ${path} is odd`, async () => {
        for (const [name, form] of Object.entries(forms)) {
          const of = `${path}, ${name}`;
          answer(chainOf([written(path, form), logOf()]));
          const node = client();
          const { logs, unreadable = [] } = await node.transfers({
            ...everything,
            recipients: [wallet],
          });
          const hashes = logs.map(({ transactionHash }) => `0x${transactionHash}`);
          expect(hashes, of).to.include(`0x${hash(0xaa)}`);
          const counted = Object.values(node.dropped?.() ?? {}).reduce((sum, one) => sum + one, 0);
          const isAccountedFor = hashes.includes(odd) || unreadable.length > 0 || counted > 0;
          expect(isAccountedFor || others.includes(of), of).to.equal(true);
        }
      });
    }
  });
});
