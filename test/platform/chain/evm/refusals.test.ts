// Providers limit every part of a request, and refuse in their own words. Each row of the tables is one of them: what
// is asked for is read completely all the same, and the limit is learned.
import { expect } from "chai";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { minute, second } from "../../../../src/kernel/clock.ts";
import type { ChainClient, TransferLog } from "../../../../src/platform/chain/client.ts";
import { createJsonRpcClient } from "../../../../src/platform/chain/evm/client.ts";
import { transferTopic } from "../../../../src/platform/chain/evm/transfer-log.ts";
import { ProviderError } from "../../../../src/platform/chain/providers/error.ts";
import {
  makeProviderLimits,
  type LearnedLimit,
  type LimitedPart,
  type ProviderLimits,
} from "../../../../src/platform/chain/providers/limits.ts";
import { testNetworks } from "../../../support/merchants.ts";

interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params: readonly [
    {
      readonly fromBlock: string;
      readonly toBlock: string;
      readonly address: readonly string[];
      readonly topics: readonly [string, null?, (readonly string[])?];
    },
  ];
}

/** How a provider refuses a request: its response; `drop`: it closes the connection; `halve`: half of the answer. */
type Refusal =
  | { readonly status?: number; readonly body: unknown; readonly headers?: Record<string, string> }
  | "drop"
  | "halve";

const error = (code: number, message: string) => ({ code, message });
const whole = (code: number, message: string) => ({
  body: { jsonrpc: "2.0", id: null, error: error(code, message) },
});
const page = (status: number) => ({ status, body: "<html>no</html>" });
const each = (calls: readonly Asked[], one: object) => ({
  body: calls.map(({ id }) => ({ jsonrpc: "2.0", id, error: one })),
});

/** How providers refuse more calls in one request than they allow. */
const batchRefusals: Readonly<
  Record<string, (calls: readonly Asked[], allowed: number) => Refusal>
> = {
  "a list of one error, as geth does": ([first]) => ({
    body: [{ jsonrpc: "2.0", id: first?.id, error: error(-32_600, "batch too large") }],
  }),
  "an error for those calls that are too many": (calls, allowed) => ({
    body: calls.map((call, place) =>
      place < allowed
        ? answerTo(call)
        : {
            jsonrpc: "2.0",
            id: call.id,
            error: error(-32_003, "batch response size exceeded the limit"),
          },
    ),
  }),
  "an error with a code of rates": () => whole(-32_005, "Batch size 100 exceeds the limit of 3"),
  "an error in unknown words": () => whole(-32_000, "request declined"),
  "an error of an unknown method": () => whole(-32_601, "Method not found"),
  "HTTP 400 with words": () => ({ status: 400, body: { error: "batches need a paid plan" } }),
  "HTTP 400 without words": () => page(400),
  "HTTP 413": () => page(413),
  "HTTP 429 that names the batch": () => ({ status: 429, body: { error: "Too many in a batch" } }),
  "HTTP 500": () => page(500),
  "HTTP 501": () => page(501),
  "a page with HTTP 200": () => page(200),
  "the same error for each call": (calls) => each(calls, error(-32_000, "not allowed")),
  "the answer to the first call": ([first]) => ({
    body: first === undefined ? {} : answerTo(first),
  }),
  "fewer answers": (calls, allowed) => ({ body: calls.slice(0, allowed).map(answerTo) }),
  "an answer that is cut off": () => "halve",
  "a closed connection": () => "drop",
};

/** How providers refuse eth_getLogs for too many blocks. */
const blockRefusals: Readonly<Record<string, () => Refusal | object>> = {
  "java-tron's words": () => error(-32_602, "exceed max block range: 5000"),
  "geth's words": () => error(-32_602, "block range greater than 1000 max"),
  "words about results": () => error(-32_005, "query returned more than 10000 results"),
  "words about the size": () => error(-32_602, "Log response size exceeded. Try a shorter range"),
  "words about a plan": () =>
    error(-32_600, "Under the Free plan, you can request a 10 block range"),
  "words about time": () => error(-32_000, "query timeout exceeded"),
  "unknown words": () => error(-32_000, "declined"),
  "words of another matter": () => error(-32_602, "invalid params"),
  "an internal error": () => error(-32_603, "Internal error"),
  "HTTP 400": () => page(400),
  "HTTP 413": () => page(413),
  "HTTP 503": () => page(503),
  "an answer that is cut off": () => "halve",
  "a closed connection": () => "drop",
};

/** How providers refuse eth_getLogs for too many recipients or contracts. */
const filterRefusals: Readonly<Record<string, () => Refusal | object>> = {
  "geth's words": () => error(-32_602, "exceed max addresses or topics per search position"),
  "java-tron's words": () => error(-32_602, "exceed max sub topics: 10"),
  "words about the request": () => error(-32_602, "Please specify fewer addresses"),
  "unknown words": () => error(-32_000, "declined"),
  "HTTP 413": () => page(413),
  "HTTP 414 without words": () => page(414),
  "HTTP 502": () => page(502),
};

const [network] = testNetworks("ethereum").values();
const contracts = (network?.tokens ?? []).slice(0, 2).map(({ contract }) => contract);
const hex = (value: number) => `0x${value.toString(16)}`;
const hash = (seed: number) => `0x${seed.toString(16).padStart(64, "0")}`;
const address = (seed: number) => seed.toString(16).padStart(40, "0");
const recipients = Array.from({ length: 40 }, (_, place) => address(place + 1));

/** Every block holds one transfer, of a contract and to a recipient that follow from its height. */
function logOf(height: number) {
  return {
    address: `0x${contracts[height % 2] ?? ""}`,
    topics: [transferTopic, hash(7), `0x${address((height % 40) + 1).padStart(64, "0")}`],
    data: hash(25),
    blockNumber: hex(height),
    blockHash: hash(height),
    transactionHash: hash(1_000 + height),
    logIndex: "0x0",
  };
}

function resultOf({ method, params: [filter] }: Asked): unknown {
  if (method !== "eth_getLogs") {
    const asked = filter as unknown;
    const height = asked === "latest" ? 500 : asked === "finalized" ? 400 : Number(asked);
    return { number: hex(height), hash: hash(height), timestamp: hex(1_700_000_000 + height) };
  }
  const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)];
  const wanted = new Set(filter.topics[2]);
  return Array.from({ length: to - from + 1 }, (_, place) => logOf(from + place)).filter(
    (log) => filter.address.includes(log.address) && wanted.has(log.topics[2] ?? ""),
  );
}

function answerTo(call: Asked) {
  return { jsonrpc: "2.0", id: call.id, result: resultOf(call) };
}

describe("The limits of a provider", () => {
  let url: string;
  let now = 1_700_000_000_000;
  const clock = { now: () => now };
  let requests: (readonly Asked[])[] = [];
  let refusals = 0;
  let limits: ProviderLimits;
  let client: ChainClient;
  /** Returns the refusal of a request, or the error of its only call; null: it is answered. */
  let refuse: (calls: readonly Asked[]) => Refusal | object | null;

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Asked | Asked[];
      const calls = Array.isArray(body) ? body : [body];
      requests.push(calls);
      const refusal = refuse(calls);
      if (refusal !== null) refusals += 1;
      const answers = calls.map(answerTo);
      respond(response, refusal, Array.isArray(body) ? answers : answers[0], calls);
    });
  });

  function respond(
    response: ServerResponse,
    refusal: Refusal | object | null,
    answer: unknown,
    calls: readonly Asked[],
  ): void {
    if (refusal === "drop") {
      response.destroy();
      return;
    }
    if (refusal === "halve" || refusal === null) {
      const text = JSON.stringify(answer);
      response.end(refusal === null ? text : text.slice(0, text.length / 2));
      return;
    }
    const isWhole = "body" in refusal;
    const errors = calls.map((call) =>
      call.method === "eth_getLogs"
        ? { jsonrpc: "2.0", id: call.id, error: refusal }
        : answerTo(call),
    );
    const said = isWhole ? refusal.body : Array.isArray(answer) ? errors : errors[0];
    const { status = 200, headers = {} } = isWhole
      ? (refusal as { status?: number; headers?: Record<string, string> })
      : {};
    response.writeHead(status, headers);
    response.end(typeof said === "string" ? said : JSON.stringify(said));
  }

  function open(stored: readonly LearnedLimit[] = []): void {
    if (network === undefined) throw new Error("there is no network");
    limits = makeProviderLimits({ clock, network, batchMax: 100, requestsPerSecond: 25 });
    limits.resume(stored);
    client = createJsonRpcClient({ network, url, limits });
    requests = [];
    refusals = 0;
  }

  /** Reads the blocks as the watcher does: fewer at once if the client says so. */
  async function read(from: number, to: number): Promise<TransferLog[]> {
    const logs: TransferLog[] = [];
    for (let next = from, size = to - from + 1; next <= to;) {
      const last = Math.min(to, next + size - 1);
      try {
        logs.push(
          ...(await client.transfers({ from: next, to: last, contracts, recipients })).logs,
        );
        next = last + 1;
      } catch (cause) {
        if (!(cause instanceof ProviderError) || cause.kind !== "range_too_large") throw cause;
        if (size === 1) throw cause;
        size = Math.floor(size / 2);
      }
    }
    return logs;
  }

  const parts = () => limits.learned().map(({ part }) => part);
  const most = (part: LimitedPart) => limits.learned().find((one) => one.part === part)?.most;
  const heights = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, place) => from + place);
  const filtersOf = (calls: readonly Asked[]) =>
    calls.filter(({ method }) => method === "eth_getLogs").map(({ params: [filter] }) => filter);
  const spanOf = ({ fromBlock, toBlock }: { fromBlock: string; toBlock: string }) =>
    Number(toBlock) - Number(fromBlock) + 1;

  before((done) => {
    server.listen(0, "127.0.0.1", () => {
      url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
      done();
    });
  });
  after((done) => {
    server.closeAllConnections();
    server.close(done);
  });
  beforeEach(() => {
    refuse = () => null;
    open();
  });

  describe("on the calls in one request", () => {
    for (const [name, refusalOf] of Object.entries(batchRefusals)) {
      for (const allowed of [1, 3]) {
        it(`of ${String(allowed)} are learned from ${name}`, async () => {
          refuse = (calls) => (calls.length > allowed ? refusalOf(calls, allowed) : null);
          const blocks = await client.blocks(heights(1, 20));
          expect(blocks.map((block) => block?.height)).to.deep.equal(heights(1, 20));
          expect((await client.heads()).finalized.height).to.equal(400);
          expect(parts()).to.deep.equal(["calls"]);
          expect(most("calls")).to.be.at.most(allowed);
          // After it has settled, nothing is refused, also by another process.
          for (let more = 0; more < 5; more += 1) await client.blocks(heights(1, 20));
          open(limits.learned());
          await client.blocks(heights(1, 20));
          expect(refusals).to.equal(0);
        });
      }
    }

    it("are not seen in a failure that passes, nor in one of each call", async () => {
      let left = 1;
      refuse = (calls) => (calls.length > 1 && left-- > 0 ? page(503) : null);
      const fault = await client.heads().catch((cause: unknown) => cause);
      expect(fault).to.include({ name: "ProviderError", kind: "unreachable" });
      refuse = () => page(503);
      open();
      expect(await client.heads().catch((cause: unknown) => cause)).to.include({
        kind: "unreachable",
      });
      expect(requests).to.have.length(2);
      refuse = (calls) => each(calls, error(-32_000, "closed"));
      open();
      expect(await client.heads().catch((cause: unknown) => cause)).to.include({ kind: "refused" });
      expect(parts()).to.deep.equal([]);
    });

    it("are learned from the second of two requests that were to wait", async () => {
      refuse = (calls) =>
        calls.length > 1 ? { status: 429, headers: { "retry-after": "1" }, body: "" } : null;
      for (let failures = 0; failures < 4; failures += 1) {
        now += minute;
        const fault = await client.blocks([1, 2, 3]).catch((cause: unknown) => cause);
        expect(fault).to.include({ kind: "rate_limited", retryAfterMs: second });
        await client.blocks([1]);
      }
      expect(await client.blocks([1, 2, 3])).to.have.length(3);
    });
  });

  describe("on the blocks of eth_getLogs", () => {
    for (const [name, refusalOf] of Object.entries(blockRefusals)) {
      it(`are learned from ${name}`, async () => {
        refuse = (calls) =>
          filtersOf(calls).some((filter) => spanOf(filter) > 10) ? refusalOf() : null;
        const logs = await read(1, 100);
        expect(logs.map(({ blockHeight }) => blockHeight)).to.deep.equal(heights(1, 100));
        expect(most("blocks")).to.be.within(6, 10);
        expect(parts()).to.not.include.members(["recipients", "contracts"]);
        for (let more = 0; more < 5; more += 1) await read(1, 100);
        open(limits.learned());
        expect(await read(101, 200)).to.have.length(100);
        expect(refusals).to.equal(0);
      });
    }
  });

  describe("on the filter of eth_getLogs", () => {
    for (const [name, refusalOf] of Object.entries(filterRefusals)) {
      it(`are learned for recipients from ${name}`, async () => {
        refuse = (calls) =>
          filtersOf(calls).some(({ topics }) => (topics[2]?.length ?? 0) > 6) ? refusalOf() : null;
        expect(await read(1, 100)).to.have.length(100);
        for (let more = 0; more < 5; more += 1) await read(1, 10);
        expect(most("recipients")).to.equal(6);
        expect(parts()).to.not.include.members(["blocks", "contracts"]);
      });

      it(`are learned for contracts from ${name}`, async () => {
        refuse = (calls) =>
          filtersOf(calls).some((filter) => filter.address.length > 1) ? refusalOf() : null;
        expect(await read(1, 100)).to.have.length(100);
        expect(most("contracts")).to.equal(1);
        expect(parts()).to.not.include.members(["blocks", "recipients"]);
      });
    }

    it("are shortened for a single block of which too much is found", async () => {
      refuse = (calls) =>
        filtersOf(calls).some(({ topics }) => (topics[2]?.length ?? 0) > 6)
          ? error(-32_005, "query returned more than 10000 results")
          : null;
      for (let more = 0; more < 5; more += 1) expect(await read(5, 5)).to.have.length(1);
      expect(most("recipients")).to.equal(6);
    });
  });

  it("are learned together: no batch, few blocks and one contract", async () => {
    refuse = (calls) => {
      if (calls.length > 1) return page(400);
      const isLarge = filtersOf(calls).some(
        (filter) => spanOf(filter) > 10 || filter.address.length > 1,
      );
      return isLarge ? error(-32_000, "declined") : null;
    };
    expect(await read(1, 60)).to.have.length(60);
    expect(parts()).to.have.members(["calls", "blocks", "contracts"]);
  });

  it("on the rate are learned from the requests of the last second", async () => {
    for (let request = 0; request < 8; request += 1) await client.chainId().catch(() => null);
    refuse = () => ({ status: 429, body: "" });
    await client.blocks([1]).catch(() => null);
    expect(most("requestsPerSecond")).to.equal(4);
    now += minute;
    // A single request in a second cannot be too many: this is another limit.
    await client.blocks([1]).catch(() => null);
    expect(most("requestsPerSecond")).to.equal(4);
  });

  it("are tried upward again every ten minutes, and forgotten once nothing is refused", async () => {
    refuse = (calls) => (calls.length > 2 ? page(400) : null);
    await client.blocks(heights(1, 20));
    const [limit] = limits.learned();
    expect(limit).to.include({ part: "calls", refusedSize: 3, words: `${url}: HTTP 400` });
    now += 11 * minute;
    await client.blocks(heights(1, 20));
    expect(most("calls")).to.equal(2);
    refuse = () => null;
    for (let tries = 0; tries < 4; tries += 1) {
      now += 11 * minute;
      await client.blocks(heights(1, 200));
    }
    expect(parts()).to.deep.equal([]);
    expect(requests.at(-1)).to.have.length(100);
  });

  it("are not seen in answers that do not fit the request", async () => {
    refuse = (calls) =>
      calls.length > 1 ? { body: calls.map((call) => ({ ...answerTo(call), result: 5 })) } : null;
    expect(await read(1, 10).catch((cause: unknown) => cause)).to.include({ kind: "malformed" });
    expect(parts()).to.deep.equal([]);
  });

  it("stand beside a redirect, whose target is named without what may be a key", async () => {
    refuse = () => ({
      status: 308,
      headers: { location: "https://user:pass@rpc.example.com/v2/0123456789abcdef" },
      body: "",
    });
    const fault = await client.blocks([1]).catch((cause: unknown) => cause);
    expect((fault as Error).message).to.match(/it redirects to https:\/\/rpc\.example\.com, which/);
    expect((fault as Error).message).to.not.match(/0123456789abcdef|pass/);
  });
});
