import * as z from "zod";
import { powerOfTen } from "../../kernel/money/ratio.ts";
import {
  findCurrency,
  formatMoney,
  maxAssetDecimals,
  MoneyTextError,
  parseMoney,
  tokenAsset,
} from "../../kernel/money/money.ts";
import { parseUrl } from "../../kernel/url.ts";
import { parseYaml, type ParsedFile, type Report } from "../config/files/parse-yaml.ts";
import type { Address } from "./client.ts";
import { networkKinds } from "./kinds.ts";
import type { Network, NetworkKind, NetworkToken } from "./networks.ts";
import { defaultRequestsPerSecond } from "./providers/limits.ts";

const blocks = z.int().min(1).max(1_000_000);
/** The rank of a network by its usual fee, if the table does not say. */
const feeRankMax = 1_000;
const milliseconds = z.int().min(1).max(3_600_000);

const httpUrl = z.string().refine(isHttpUrl, {
  error: "must be an http: or https: URL without a name and password",
});

const explorerLink = (placeholder: string) =>
  z
    .string()
    .refine((text) => text.startsWith("https://") && text.split(placeholder).length === 2, {
      error: `must be an https: URL that contains ${placeholder} once`,
    })
    .nullable();

const tokenSchema = z.strictObject({
  title: z.string().min(1).max(60),
  contract: z.string({ error: "must be an address as text: write it in quotes" }),
  decimals: z.int().min(0).max(maxAssetDecimals),
  pegs: z.array(
    z.string().refine((code) => findCurrency(code) !== null, {
      error: "must be a currency's ISO 4217 code such as USD",
    }),
  ),
  dust: z.string({ error: "must be an amount as text: write it in quotes" }),
  amountDecimals: z.int().min(0).max(maxAssetDecimals).optional(),
});

const networkSchema = z.strictObject({
  title: z.string().min(1).max(60),
  tokenStandard: z.string().min(1).max(30),
  coin: z.string().min(1).max(12).nullable().default(null),
  feeRank: z.int().min(0).max(feeRankMax).default(feeRankMax),
  isTest: z.boolean().default(false),
  chainId: z.int().min(1),
  kind: z.string().optional(),
  // The name of `kind` before the sandbox had its own.
  addressForm: z.string().optional(),
  addressFamily: z.string().regex(/^[a-z][a-z0-9]*$/),
  blockTimeMs: milliseconds,
  confirmations: blocks,
  pollMs: milliseconds,
  // The window is kept in memory and read by every scan.
  windowBlocks: z.int().min(1).max(256),
  maxLogRange: blocks,
  finality: z.strictObject({ tag: z.string().nullable(), lagBlocks: blocks }),
  providers: z.array(
    z.strictObject({
      url: httpUrl,
      headers: z
        .array(z.string().regex(/^[A-Za-z0-9-]+$/, "must be the name of an HTTP header"))
        .default([]),
      batchMax: z.int().min(1).max(1_000).default(100),
      requestsPerSecond: z.int().min(1).max(10_000).default(defaultRequestsPerSecond),
      requestsPerDay: z.int().min(1).max(1_000_000_000).nullable().default(null),
    }),
  ),
  explorer: z.strictObject({
    transaction: explorerLink("{hash}"),
    address: explorerLink("{address}"),
  }),
  tokens: z.record(
    z.string().regex(/^[A-Z][A-Z0-9]{1,11}$/, "a symbol is 2 to 12 capital letters or digits"),
    tokenSchema,
  ),
});

const fileSchema = z.strictObject({
  networks: z.record(
    z.string().regex(/^[a-z][a-z0-9]*$/, "a network's id is lower-case letters and digits"),
    networkSchema,
  ),
});

type NetworkEntry = z.infer<typeof networkSchema>;
type TokenEntry = z.infer<typeof tokenSchema>;

/** Parses the network table. */
export function parseNetworks(text: string): ParsedFile<readonly Network[]> {
  return parseYaml(text, fileSchema, (file, report) => {
    const networks = Object.entries(file.networks).flatMap(([id, entry]) =>
      readNetwork(id, entry, report),
    );
    reportSharedChainIds(networks, report);
    reportSecondSimulation(networks, report);
    return networks;
  });
}

function readNetwork(id: string, entry: NetworkEntry, report: Report): Network[] {
  const path = ["networks", id];
  const { kind: _name, addressForm: _formerName, ...rest } = entry;
  const kind = readKind(id, entry, report);
  if (kind === null) return [];
  const { tag } = entry.finality;
  if (tag !== null && !kind.finalityTags.includes(tag)) {
    report(
      [...path, "finality", "tag"],
      kind.finalityTags.length === 0
        ? "must be null, because nodes of this kind have no such tag"
        : `must be null or one of ${kind.finalityTags.join(", ")}`,
    );
  }
  const tokens = Object.entries(entry.tokens).map(([symbol, token]) =>
    readToken(symbol, token, kind, (field, message) => {
      report([...path, "tokens", symbol, field], message);
    }),
  );
  reportSharedContracts(path, tokens, report);
  return [{ id, ...rest, kind, tokens }];
}

/** Finds the kind of a network. A table from before `kind` existed has `addressForm`, also for its sandbox. */
function readKind(id: string, entry: NetworkEntry, report: Report): NetworkKind | null {
  const { kind, addressForm } = entry;
  if (kind !== undefined && addressForm !== undefined)
    report(["networks", id, "addressForm"], "is the former name of kind: remove it");
  const name = kind ?? (id === "sandbox" ? id : addressForm) ?? "";
  const found = Object.hasOwn(networkKinds, name) ? networkKinds[name] : undefined;
  if (found !== undefined) return found;
  const field = kind === undefined && addressForm !== undefined ? "addressForm" : "kind";
  report(["networks", id, field], `must be one of ${Object.keys(networkKinds).join(", ")}`);
  return null;
}

function readToken(
  symbol: string,
  entry: TokenEntry,
  kind: NetworkKind,
  report: ReportField,
): NetworkToken {
  const contract = kind.parseAddress(entry.contract);
  if (!contract.ok) report("contract", contract.message);
  if (findCurrency(symbol) !== null)
    report("symbol", "is the code of a currency: choose another symbol");
  const dust = readDust(symbol, entry, report);
  return {
    symbol,
    title: entry.title,
    contract: contract.ok ? contract.address : "",
    decimals: entry.decimals,
    pegs: entry.pegs,
    dust,
    amountDecimals: readAmountDecimals(symbol, entry, dust, report),
  };
}

type ReportField = (
  field: "contract" | "dust" | "symbol" | "amountDecimals",
  message: string,
) => void;

/** The most decimals of an amount in a pegged token: all wallets take as many. */
const peggedDecimalsMax = 6;
/** The most decimals of an amount in any token: wallets and exchanges take up to as many. */
const payableDecimalsMax = 8;
/** The least number of decimals of an amount in a pegged token: with fewer, no two invoices of a price differ. */
const pricedDecimals = 4;
/** The inverse of the largest share of a price that rounding it up may add, for a token without a peg: 0.1 %. */
const roundedShare = 1_000n;

/**
 * Returns the most decimals that payers are asked for. By default 6, or for a token without a peg as many, up to 8, as
 * keep the rounding of its smallest price, the dust, at 0.1 %. Reports a dust for which 8 do not suffice.
 */
function readAmountDecimals(
  symbol: string,
  { decimals, pegs, amountDecimals }: TokenEntry,
  dust: bigint,
  report: ReportField,
): number {
  const isPegged = pegs.length > 0;
  const isFineEnough = (digits: number) =>
    isPegged || digits >= decimals || roundedShare * powerOfTen(decimals - digits) <= dust;
  if (amountDecimals === undefined) {
    let digits = Math.min(decimals, peggedDecimalsMax);
    while (digits < payableDecimalsMax && !isFineEnough(digits)) digits += 1;
    if (!isFineEnough(digits)) {
      const least = {
        units: roundedShare * powerOfTen(decimals - digits),
        asset: tokenAsset(symbol, decimals),
      };
      report(
        "dust",
        `must be at least ${formatMoney(least)} for a token without a peg: payers can enter at most ${String(payableDecimalsMax)} decimals, and rounding up to these could add more than 0.1 % to a smaller price`,
      );
    }
    return digits;
  }
  if (amountDecimals > decimals) {
    report("amountDecimals", `must be at most ${String(decimals)}, the token's decimals`);
  } else if (amountDecimals > payableDecimalsMax) {
    report(
      "amountDecimals",
      `must be at most ${String(payableDecimalsMax)}: wallets and exchanges take no more`,
    );
  } else if (isPegged && amountDecimals > peggedDecimalsMax) {
    report("amountDecimals", `must be at most ${String(peggedDecimalsMax)} for a pegged token`);
  } else if (isPegged && amountDecimals < Math.min(decimals, pricedDecimals)) {
    report("amountDecimals", `must be at least ${String(Math.min(decimals, pricedDecimals))}`);
  } else if (!isFineEnough(amountDecimals)) {
    report(
      "amountDecimals",
      "is too small: rounding up could add more than 0.1 % to a price as small as dust. Choose more decimals, or a larger dust",
    );
  }
  return Math.min(amountDecimals, decimals);
}

function readDust(symbol: string, entry: TokenEntry, report: ReportField): bigint {
  try {
    return parseMoney(entry.dust, tokenAsset(symbol, entry.decimals)).units;
  } catch (error) {
    if (!(error instanceof MoneyTextError)) throw error;
    report("dust", error.message);
    return 0n;
  }
}

function reportSharedContracts(
  path: readonly string[],
  tokens: readonly NetworkToken[],
  report: Report,
): void {
  const symbols = new Map<Address, string>();
  for (const { symbol, contract } of tokens) {
    const first = symbols.get(contract);
    // A contract that could not be parsed is empty here; that error has been reported.
    if (first !== undefined && contract !== "") {
      report([...path, "tokens", symbol, "contract"], `is already the contract of ${first}`);
    }
    symbols.set(contract, symbol);
  }
}

/** Reports networks with the same chain id: with two entries for one chain, each transfer would be credited twice. */
function reportSharedChainIds(networks: readonly Network[], report: Report): void {
  const ids = new Map<number, string>();
  for (const { id, chainId } of networks) {
    const first = ids.get(chainId);
    if (first !== undefined)
      report(["networks", id, "chainId"], `is already the chain id of ${first}`);
    ids.set(chainId, id);
  }
}

/** Reports a second simulated network: Till's store has one simulated chain, whose transfers would be credited twice. */
function reportSecondSimulation(networks: readonly Network[], report: Report): void {
  const [first, ...others] = networks.filter(({ kind }) => kind.isSimulated);
  for (const { id } of others) {
    report(
      ["networks", id, "kind"],
      `is simulated, and so is ${first?.id ?? ""}: keep one of them`,
    );
  }
}

function isHttpUrl(text: string): boolean {
  const url = parseUrl(text);
  if (url === null) return false;
  return /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}
