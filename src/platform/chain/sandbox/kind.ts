import type { Clock } from "../../../kernel/clock.ts";
import type { Reader } from "../../database/database.ts";
import {
  numbered,
  type ChainClient,
  type Head,
  type Heads,
  type KnownChain,
  type Receipt,
  type TransferLog,
  type UnnumberedTransfer,
} from "../client.ts";
import {
  formatAddress,
  formatHash,
  makeExtendedKeys,
  parseAddress,
  parseTransactionHash,
  paymentUri,
} from "../evm/addresses.ts";
import { looksLikeSecret } from "../looks-like-secret.ts";
import { findTokenByContract, type Network, type NetworkKind } from "../networks.ts";
import { ProviderError } from "../providers/error.ts";
import * as store from "./store.ts";
import {
  readChain,
  type ForkRow,
  type SandboxChainRow,
  type SandboxTransferRow,
  type SegmentRow,
} from "./store.ts";
import { blockAt, tipAt } from "./timeline.ts";

/**
 * Till's simulated chain. It has no notation of its own: its addresses, keys, hashes and payment URIs are deliberately
 * those of EVM networks, so that merchants test what a real network will give them. Its chain id, which no real chain
 * has, keeps wallets from paying it with real money.
 */
export const sandboxKind: NetworkKind = {
  isSimulated: true,
  finalityTags: [],
  parseAddress,
  formatAddress,
  addressPrefix: "0x",
  parseTransactionHash,
  formatTransactionHash: formatHash,
  formatBlockHash: formatHash,
  looksLikeSecret,
  extendedKeys: makeExtendedKeys("m/44'/60'/0'"),
  paymentUri,
  browserWallets: null,
  connect: (network, { reader, clock }) =>
    (["sandbox", "sandbox-witness"] as const).map((provider) => ({
      client: createSandboxClient({ reader, network, clock, provider }),
      budget: null,
      healedAt: async () => (await readChain(reader))?.healedAt ?? 0,
    })),
};

interface SandboxClientOptions {
  readonly reader: Reader;
  readonly network: Network;
  readonly clock: Clock;
  /** One of the sandbox's two providers. Only the first one returns false data. */
  readonly provider?: "sandbox" | "sandbox-witness";
}

/**
 * Blocks become final no earlier than this, in milliseconds, because a write that began before a block may end after
 * it: however fast blocks appear, a transaction that was committed late is in a block that is still read again.
 */
const finalAfterMs = 3_000;
/**
 * Attempts of a read. A person or a test commands each reorganization: two in a row are unlikely, more do not happen.
 */
const attemptsMax = 5;

/** Creates a provider of the sandbox that reads the store, so that every process sees the same chain. */
export function createSandboxClient(options: SandboxClientOptions): ChainClient {
  const { network, provider = "sandbox" } = options;
  const source: Source = { ...options, provider, isLiar: provider === "sandbox" };
  return {
    network: network.id,
    provider,
    chainId: () => ofOneChain(source, () => Promise.resolve(network.chainId)),

    heads: (known) => ofOneChain(source, (tip) => headsAt(source, tip, known)),

    transfers: ({ from, to, contracts, recipients }) =>
      ofOneChain(source, async ({ height }) => {
        const wanted = recipients === null ? null : new Set(recipients);
        const logs = await logsBetween(source, from, Math.min(to, height));
        const { segments, forks } = await view(source, height);
        return {
          logs: logs.filter(
            (log) => contracts.includes(log.contract) && (wanted === null || wanted.has(log.to)),
          ),
          latest: blockAt(segments, forks, height),
        };
      }),

    blockTransfers: (height, contracts) =>
      ofOneChain(source, async (tip) => {
        if (height > tip.height)
          throw unreachable(source, `block ${String(height)} does not exist yet`);
        const logs = await logsBetween(source, height, height);
        return logs.filter(({ contract }) => contracts.includes(contract));
      }),

    blocks: (heights) =>
      ofOneChain(source, async (tip) => {
        const isThere = (height: number) => height >= 0 && height <= tip.height;
        const { segments, forks } = await view(
          source,
          Math.min(tip.height, ...heights.filter(isThere)),
        );
        return heights.map((height) => (isThere(height) ? blockAt(segments, forks, height) : null));
      }),

    receipt: (transactionHash) =>
      ofOneChain(source, (tip) => receiptAt(source, tip, transactionHash)),

    decimals: (contract) =>
      ofOneChain(source, () => {
        const token = findTokenByContract(network, contract);
        if (token !== null) return Promise.resolve(token.decimals);
        throw new ProviderError("the sandbox has no such contract", { kind: "refused", provider });
      }),
  };
}

/** A provider of the sandbox. */
interface Source extends Required<SandboxClientOptions> {
  /** True for the provider that returns false data on command. */
  readonly isLiar: boolean;
}

interface Tip {
  readonly newest: SegmentRow;
  readonly height: number;
}

interface View {
  readonly segments: readonly SegmentRow[];
  readonly forks: readonly ForkRow[];
}

async function headsAt(
  source: Source,
  { newest, height }: Tip,
  known: KnownChain | undefined,
): Promise<Heads> {
  const { network, clock } = source;
  const unchanging = tipAt(newest, clock.now() - finalAfterMs);
  const final = Math.max(0, Math.min(height - network.finality.lagBlocks, unchanging));
  const knownHeight = known?.final.height ?? final;
  const { segments, forks } = await view(source, Math.min(final, knownHeight));
  return {
    latest: blockAt(segments, forks, height),
    finalized: blockAt(segments, forks, final),
    known:
      known === undefined || knownHeight > height ? null : blockAt(segments, forks, knownHeight),
  };
}

/** Returns the receipt of a transaction; null if the chain does not contain it. */
async function receiptAt(
  source: Source,
  tip: Tip,
  transactionHash: string,
): Promise<Receipt | null> {
  const rows = await store.transfersOf(source.reader, transactionHash);
  const [first] = rows;
  if (first === undefined || first.blockHeight > tip.height || !isShown(source, first)) return null;
  const { segments, forks } = await view(source, first.blockHeight);
  const block = blockAt(segments, forks, first.blockHeight);
  const isFailed = first.isFailed || (await tells(source, "contraryUntil"));
  const moved = isFailed ? [] : rows.filter(({ amount }) => amount > 0n);
  return {
    transactionHash,
    succeeded: !isFailed,
    blockHeight: block.height,
    blockHash: block.hash,
    transfers: numbered(moved.map((row) => logOf(row, block))),
  };
}

function isShown({ isLiar }: Source, { isLie }: SandboxTransferRow): boolean {
  return !isLie || isLiar;
}

function unreachable({ provider }: Pick<Source, "provider">, message: string): ProviderError {
  return new ProviderError(message, { kind: "unreachable", provider });
}

async function requireChain(source: Source): Promise<SandboxChainRow> {
  const { reader, clock, provider, isLiar } = source;
  const chain = await store.readChain(reader);
  if (chain === null) throw unreachable(source, "the sandbox has no chain yet");
  const now = clock.now();
  if (now < chain.stalledUntil) throw unreachable(source, "the sandbox is stalled");
  if (isLiar && now < chain.refusedUntil) {
    const retryAfterMs = chain.refusedUntil - now;
    throw new ProviderError("too many requests (HTTP 429)", {
      kind: "rate_limited",
      provider,
      retryAfterMs,
    });
  }
  return chain;
}

/** True while the first provider simulates this failure. */
async function tells(source: Source, lie: "silentUntil" | "contraryUntil"): Promise<boolean> {
  return source.isLiar && source.clock.now() < (await requireChain(source))[lie];
}

/** Repeats `read` if a reorganization occurred between its statements, so that every result is of one chain. */
async function ofOneChain<T>(source: Source, read: (tip: Tip) => Promise<T>): Promise<T> {
  const { reader, clock } = source;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const before = (await requireChain(source)).generation;
    const newest = await store.newestSegment(reader);
    if (newest === null) throw unreachable(source, "the sandbox has no chain yet");
    const reply = await read({ newest, height: tipAt(newest, clock.now()) });
    if ((await requireChain(source)).generation === before) return reply;
  }
  throw unreachable(source, "the sandbox is being reorganized");
}

async function view({ reader }: Source, lowest: number): Promise<View> {
  const height = Math.max(0, lowest);
  return {
    segments: await store.segmentsFrom(reader, height),
    forks: await store.forksFrom(reader, height),
  };
}

async function logsBetween(source: Source, from: number, to: number): Promise<TransferLog[]> {
  if (await tells(source, "silentUntil")) return [];
  const rows = await store.transfersBetween(source.reader, from, to);
  const { segments, forks } = await view(source, from);
  const blocks = new Map<number, Head>();
  const logs: UnnumberedTransfer[] = [];
  for (const row of rows) {
    if (!isShown(source, row) || row.isFailed || row.amount === 0n) continue;
    const block = blocks.get(row.blockHeight) ?? blockAt(segments, forks, row.blockHeight);
    blocks.set(row.blockHeight, block);
    logs.push(logOf(row, block));
  }
  return numbered(logs);
}

function logOf(row: SandboxTransferRow, block: Head): UnnumberedTransfer {
  return {
    transactionHash: row.transactionHash,
    logIndex: row.logIndex,
    blockHeight: block.height,
    blockHash: block.hash,
    blockTime: block.time,
    contract: row.contract,
    from: row.sender,
    to: row.recipient,
    amount: row.amount,
  };
}
