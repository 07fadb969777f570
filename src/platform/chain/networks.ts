import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { findCurrency, maxAssetDecimals, tokenAsset } from "../../kernel/money/asset.ts";
import { MoneyTextError, parseMoney } from "../../kernel/money/money.ts";
import { addressForms, formatAddress, parseAddress, type AddressForm } from "./evm/address.ts";
import type { Address } from "./client.ts";
import { defaultRequestsPerSecond } from "./providers/budget.ts";
import { formatTransactionHash } from "./evm/transaction-hash.ts";
import { parseUrl } from "../../kernel/url.ts";

/** A token by its contract on one network. */
export interface NetworkToken {
  /** The symbol that invoices use, such as `USDT`. */
  readonly symbol: string;
  readonly title: string;
  readonly contract: Address;
  readonly decimals: number;
  /** Currencies for which one token counts as one unit. */
  readonly pegs: readonly string[];
  /** In the token's smallest unit. Smaller transfers are recorded but never matched. */
  readonly dust: bigint;
}

export interface NetworkProvider {
  readonly url: string;
  /** Names of HTTP headers. The settings hold their values. */
  readonly headers: readonly string[];
  /** The largest number of calls in one request. */
  readonly batchMax: number;
  readonly requestsPerSecond: number;
  /** Requests per day, from midnight UTC; null: unlimited. */
  readonly requestsPerDay: number | null;
}

export interface Finality {
  /** The tag of the block that the node reports as final; null: the network has no such tag. */
  readonly tag: "finalized" | null;
  /** If the tag is missing, blocks at least this far below the tip count as final. */
  readonly lagBlocks: number;
}

export interface Network {
  /** Such as `tron`. */
  readonly id: string;
  readonly title: string;
  /** Such as `TRC-20`. It is shown beside the network, so that payers choose the right one. */
  readonly tokenStandard: string;
  /** True if the network's tokens have no value. */
  readonly isTest: boolean;
  readonly chainId: number;
  readonly addressForm: AddressForm;
  /** Networks of the same family share their addresses. */
  readonly addressFamily: string;
  readonly blockTimeMs: number;
  /** Number of confirmations that confirm a payment; the payment's own block is the first. */
  readonly confirmations: number;
  readonly pollMs: number;
  /** Number of newest blocks that every scan reads again. */
  readonly windowBlocks: number;
  readonly maxLogRange: number;
  readonly finality: Finality;
  readonly providers: readonly NetworkProvider[];
  readonly explorer: { readonly transaction: string | null; readonly address: string | null };
  readonly tokens: readonly NetworkToken[];
}

/** One error in the file: its path, such as `networks.tron.tokens.USDT.contract`, and what to correct. */
export interface NetworkProblem {
  readonly path: string;
  readonly message: string;
}

export type ParsedNetworks =
  | { readonly ok: true; readonly networks: readonly Network[] }
  | { readonly ok: false; readonly problems: readonly NetworkProblem[] };

const blocks = z.int().min(1).max(1_000_000);
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
});

const networkSchema = z.strictObject({
  title: z.string().min(1).max(60),
  tokenStandard: z.string().min(1).max(30),
  isTest: z.boolean().default(false),
  chainId: z.int().min(1),
  addressForm: z.enum(addressForms),
  addressFamily: z.string().regex(/^[a-z][a-z0-9]*$/),
  blockTimeMs: milliseconds,
  confirmations: blocks,
  pollMs: milliseconds,
  // The window is kept in memory and read by every scan.
  windowBlocks: z.int().min(1).max(256),
  maxLogRange: blocks,
  finality: z.strictObject({ tag: z.literal("finalized").nullable(), lagBlocks: blocks }),
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
type Report = (path: string, message: string) => void;

/** Parses the network table. Reports all errors at once. */
export function parseNetworks(yamlText: string): ParsedNetworks {
  const lines = new LineCounter();
  const document = parseDocument(yamlText, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => ({
      path: `line ${String(lines.linePos(error.pos[0]).line)}`,
      message: error.message,
    }));
    return { ok: false, problems };
  }
  const parsed = fileSchema.safeParse(document.toJS());
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => ({
      path: issue.path.map(String).join("."),
      message: issue.message,
    }));
    return { ok: false, problems };
  }
  const problems: NetworkProblem[] = [];
  const report: Report = (path, message) => problems.push({ path, message });
  const networks = Object.entries(parsed.data.networks).map(([id, entry]) =>
    readNetwork(id, entry, report),
  );
  reportSharedChainIds(networks, report);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, networks };
}

function readNetwork(id: string, entry: NetworkEntry, report: Report): Network {
  const path = `networks.${id}`;
  const tokens = Object.entries(entry.tokens).map(([symbol, token]) =>
    readToken(symbol, token, entry.addressForm, (field, message) => {
      report(`${path}.tokens.${symbol}.${field}`, message);
    }),
  );
  reportSharedContracts(path, tokens, report);
  return { id, ...entry, tokens };
}

function readToken(
  symbol: string,
  entry: TokenEntry,
  form: AddressForm,
  report: ReportField,
): NetworkToken {
  const contract = parseAddress(form, entry.contract);
  if (!contract.ok) report("contract", contract.message);
  if (findCurrency(symbol) !== null)
    report("symbol", "is the code of a currency: choose another symbol");
  return {
    symbol,
    title: entry.title,
    contract: contract.ok ? contract.address : "",
    decimals: entry.decimals,
    pegs: entry.pegs,
    dust: readDust(symbol, entry, report),
  };
}

type ReportField = (field: "contract" | "dust" | "symbol", message: string) => void;

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
  path: string,
  tokens: readonly NetworkToken[],
  report: Report,
): void {
  const symbols = new Map<Address, string>();
  for (const { symbol, contract } of tokens) {
    const first = symbols.get(contract);
    // A contract that could not be parsed is empty here; that error has been reported.
    if (first !== undefined && contract !== "") {
      report(`${path}.tokens.${symbol}.contract`, `is already the contract of ${first}`);
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
      report(`networks.${id}.chainId`, `is already the chain id of ${first}`);
    ids.set(chainId, id);
  }
}

function isHttpUrl(text: string): boolean {
  const url = parseUrl(text);
  if (url === null) return false;
  return /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

export function findToken(network: Network, symbol: string): NetworkToken | null {
  return network.tokens.find((token) => token.symbol === symbol) ?? null;
}

export function findTokenByContract(network: Network, contract: Address): NetworkToken | null {
  return network.tokens.find((token) => token.contract === contract) ?? null;
}

/** Returns the explorer's page for a transaction; null if the network has no explorer. */
export function transactionLink(network: Network, transactionHash: string): string | null {
  const shown = formatTransactionHash(network.addressForm, transactionHash);
  return network.explorer.transaction?.replace("{hash}", shown) ?? null;
}

/** Returns the explorer's page for an address; null if the network has no explorer. */
export function addressLink(network: Network, address: Address): string | null {
  const shown = formatAddress(network.addressForm, address);
  return network.explorer.address?.replace("{address}", shown) ?? null;
}
