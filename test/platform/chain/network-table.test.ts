import { expect } from "chai";
import { readFileSync } from "node:fs";
import { parseNetworks } from "../../../src/platform/chain/network-table.ts";
import { formatAddress } from "../../../src/platform/chain/tron/kind.ts";
import {
  addressLink,
  findToken,
  findTokenByContract,
  transactionLink,
  type Network,
} from "../../../src/platform/chain/networks.ts";

const shipped = readFileSync(new URL("../../../config/networks.yaml", import.meta.url), "utf8");

function problemsOf(text: string): string[] {
  const parsed = parseNetworks(text);
  if (parsed.ok) return [];
  return parsed.problems.map(
    ({ path, line, message }) => `${path || `line ${String(line)}`}: ${message}`,
  );
}

describe("the network table", () => {
  const parsed = parseNetworks(shipped);
  const networks = new Map<string, Network>(
    parsed.ok ? parsed.value.map((network) => [network.id, network]) : [],
  );
  const network = (id: string): Network => {
    const found = networks.get(id);
    if (found === undefined) throw new Error(`there is no ${id}`);
    return found;
  };

  it("is valid as shipped", () => {
    expect(problemsOf(shipped)).to.deep.equal([]);
    expect([...networks.keys()]).to.deep.equal([
      "tron",
      "ethereum",
      "bsc",
      "polygon",
      "base",
      "arbitrum",
      "sandbox",
    ]);
  });

  it("has two providers on two hosts for every network except test networks", () => {
    for (const { id, isTest, providers } of networks.values()) {
      const hosts = new Set(providers.map(({ url }) => new URL(url).host));
      expect(hosts.size, id).to.equal(isTest ? 0 : 2);
    }
  });

  it("names tokens by contract, with the decimals of their network", () => {
    const decimals = [...networks.values()].flatMap(({ id, tokens }) =>
      tokens.map((token) => `${id} ${token.symbol} ${String(token.decimals)}`),
    );
    expect(decimals).to.deep.equal([
      "tron USDT 6",
      "ethereum USDT 6",
      "ethereum USDC 6",
      "bsc USDT 18",
      "bsc USDC 18",
      "polygon USDT 6",
      "polygon USDC 6",
      "base USDT 6",
      "base USDC 6",
      "arbitrum USDT 6",
      "arbitrum USDC 6",
      "sandbox USDT 6",
      "sandbox USDC 6",
    ]);
    const usdt = findToken(network("tron"), "USDT");
    expect(usdt).to.deep.include({ pegs: ["USD"], dust: 10_000n });
    expect(formatAddress(usdt?.contract ?? "")).to.equal("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t");
    expect(findTokenByContract(network("tron"), usdt?.contract ?? "")).to.equal(usdt);
    expect(findToken(network("bsc"), "USDT")?.dust).to.equal(10n ** 16n);
    expect(findToken(network("tron"), "USDC")).to.equal(null);
    expect(findTokenByContract(network("bsc"), usdt?.contract ?? "")).to.equal(null);
  });

  it("has all that every real network needs to be enabled", () => {
    const real = [...networks.values()].filter(({ isTest }) => !isTest);
    expect(real).not.to.have.length(0);
    for (const one of real) {
      const { id, providers, explorer, tokens, finality } = one;
      expect(providers, id).not.to.have.length(0);
      for (const { url, requestsPerSecond } of providers) {
        expect(url, id).to.match(/^https:/);
        expect(requestsPerSecond, id).to.be.within(1, 25);
      }
      expect(explorer.transaction, id).to.be.a("string");
      expect(explorer.address, id).to.be.a("string");
      expect(
        tokens.map(({ symbol }) => symbol),
        `${id} has the token that most payers have`,
      ).to.include("USDT");
      for (const { dust, pegs } of tokens) {
        expect(dust > 0n, id).to.equal(true);
        expect(pegs, id).to.deep.equal(["USD"]);
      }
      // Payments must be confirmed within ten minutes, and a scan at least every few blocks.
      const confirmedMs = one.confirmations * one.blockTimeMs;
      expect(confirmedMs, `${id}: confirmations times blockTimeMs`).to.be.at.most(600_000);
      expect(one.pollMs, id).to.be.within(1_000, 10_000);
      expect(finality.lagBlocks, id).to.be.at.least(one.confirmations);
      expect(one.maxLogRange, id).to.be.at.least(one.windowBlocks);
    }
  });

  it("keeps a day's scans within the daily request limit of a provider", () => {
    for (const { id, pollMs, providers } of networks.values()) {
      for (const { requestsPerDay } of providers) {
        if (requestsPerDay === null) continue;
        expect((2 * 86_400_000) / pollMs, id).to.be.below(requestsPerDay);
      }
    }
  });

  it("shares no contract of the sandbox with a real network", () => {
    const real = [...networks.values()].filter(({ isTest }) => !isTest);
    for (const token of network("sandbox").tokens) {
      for (const other of real) expect(findTokenByContract(other, token.contract)).to.equal(null);
    }
  });

  it("links to explorers in the network's notation", () => {
    const hash = "5c".repeat(32);
    const address = "a614f803b6fd780986a42c78ec9c7f77e6ded13c";
    expect(transactionLink(network("tron"), hash)).to.equal(
      `https://tronscan.org/#/transaction/${hash}`,
    );
    expect(transactionLink(network("base"), hash)).to.equal(`https://basescan.org/tx/0x${hash}`);
    expect(addressLink(network("tron"), address)).to.equal(
      "https://tronscan.org/#/address/TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
    );
    expect(transactionLink(network("sandbox"), hash)).to.equal(null);
    expect(addressLink(network("sandbox"), address)).to.equal(null);
  });

  it("reports all errors at once, each with its path", () => {
    const wrong = shipped
      .replace("confirmations: 19", "confirmations: 0")
      .replace("https://api.trongrid.io/jsonrpc", "ftp://user@api.trongrid.io")
      .replace("etherscan.io/tx/{hash}", "etherscan.io/tx/")
      .replace(
        '"0x55d398326f99059fF775485246999027B3197955"',
        "0x55d398326f99059fF775485246999027B3197955",
      )
      .replace("pegs: [USD]", "pegs: [usd]")
      .replace("pollMs: 6000", "pollMS: 6000");
    const problems = problemsOf(wrong);
    for (const expected of [
      /^networks\.tron\.confirmations: /,
      /^networks\.tron\.providers\.0\.url: must be an http/,
      /^networks\.tron\.tokens\.USDT\.pegs\.0: must be a currency's/,
      /^networks\.ethereum\.explorer\.transaction: must be an https: URL that contains \{hash\} once/,
      /^networks\.ethereum\.pollMs: is missing$/,
      /^networks\.ethereum\.pollMS: is not a known entry; did you mean pollMs\?$/,
      /^networks\.bsc\.tokens\.USDT\.contract: .*quotes/,
    ]) {
      expect(
        problems.filter((problem) => expected.test(problem)),
        String(expected),
      ).to.have.length(1);
    }
    expect(problems).to.have.length(7);
  });

  it("reports conflicts between entries", () => {
    const wrong = shipped
      .replace("chainId: 56", "chainId: 1")
      .replace("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u")
      .replace('dust: "0.01"', 'dust: "0.0000001"')
      .replace(
        "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
        "0xdAC17F958D2ee523a2206206994597C13D831ec7",
      );
    const problems = problemsOf(wrong);
    expect(problems).to.have.length(4);
    expect(problems.join("\n"))
      .to.contain("networks.tron.tokens.USDT.contract: The address has a mistyped letter")
      .and.contain("networks.tron.tokens.USDT.dust: USDT has at most 6 decimals")
      .and.contain("networks.ethereum.tokens.USDC.contract: is already the contract of USDT")
      .and.contain("networks.bsc.chainId: is already the chain id of ethereum");
  });

  it("asks for amounts that wallets take: by default 6 decimals, up to 8 for a token without a peg, and no more", () => {
    const unpegged = (dust: string, more = "") => {
      const [head = "", token = "", ...others] = shipped.split("      USDT:");
      const changed = token
        .replace("decimals: 6", "decimals: 18")
        .replace("pegs: [USD]", "pegs: []")
        .replace('dust: "0.01"', `dust: "${dust}"${more}`);
      const read = parseNetworks([head, changed, ...others].join("      USDT:"));
      if (!read.ok) return JSON.stringify(read.problems);
      return findToken(read.value[0] as never, "USDT")?.amountDecimals;
    };
    expect(["0.01", "0.001", "0.0001", "0.00001"].map((dust) => unpegged(dust))).to.deep.equal([
      ...[6, 6, 7, 8],
    ]);
    for (const dust of ["0", "0.000009", "0.000000000000000001"]) {
      expect(unpegged(dust)).to.match(
        /USDT\.dust.*must be at least 0\.00001 for a token without a peg/,
      );
    }
    const field = (value: number) => `\n        amountDecimals: ${String(value)}`;
    expect(unpegged("0.01", field(8))).to.equal(8);
    expect(unpegged("0.01", field(9))).to.match(/amountDecimals.*must be at most 8/);
  });

  it("takes addressForm for kind, and the network sandbox for the sandbox, in a table from before kind existed", () => {
    const former = shipped
      .replaceAll(/^ {4}kind: sandbox$/gm, "    addressForm: evm")
      .replaceAll(/^ {4}kind: /gm, "    addressForm: ");
    const read = parseNetworks(former);
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    expect(read.value.map(({ id, kind }) => [id, kind])).to.deep.equal(
      [...networks.values()].map(({ id, kind }) => [id, kind]),
    );
  });

  it("refuses an unknown or missing kind, a second simulated network, and a tag that the kind's nodes do not have", () => {
    const only = "must be one of evm, tron, sandbox";
    for (const [kind, problem] of [
      ["    kind: solana\n", `networks.tron.kind: ${only}`],
      ["    kind: toString\n", `networks.tron.kind: ${only}`],
      ["    addressForm: solana\n", `networks.tron.addressForm: ${only}`],
      ["", `networks.tron.kind: ${only}`],
      [
        "    kind: tron\n    addressForm: tron\n",
        "networks.tron.addressForm: is the former name of kind: remove it",
      ],
    ] as const) {
      expect(problemsOf(shipped.replace("    kind: tron\n", kind))).to.deep.equal([problem]);
    }
    expect(problemsOf(shipped.replace("    kind: evm\n", "    kind: sandbox\n")).join("\n"))
      .to.contain("networks.ethereum.finality.tag: must be null, because nodes of this kind")
      .and.contain("networks.sandbox.kind: is simulated, and so is ethereum");
    expect(problemsOf(shipped.replace("tag: finalized", "tag: safe"))).to.deep.equal([
      "networks.tron.finality.tag: must be null or one of finalized",
    ]);
  });

  it("reports the line of invalid YAML, and of a duplicate entry", () => {
    expect(problemsOf("networks: [")[0]).to.match(/^line 1: /);
    expect(problemsOf("networks:\n  a: 1\n  a: 2\n")[0]).to.match(/^line 3: .*unique/);
    expect(problemsOf("")).to.have.length(1);
  });
});
