import { minute, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import type { ChainClient, Head, Heads } from "../../../platform/chain/client.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import {
  knownBlocks,
  type KnownBlock,
  type NetworkStateRow,
} from "../../../platform/chain/state/network-state.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { ReplyDropped, BlockMissing } from "./chain-reader.ts";
import { NetworkStopped } from "./network-checks.ts";

/** Checks, at every scan, that the provider still has the final blocks that were scanned. */
export type FinalityCheck = ReturnType<typeof makeFinalityCheck>;

/** How long the only provider must keep reporting a change, in milliseconds: its URL may hide a machine on a fork. */
const onlyMs = 30 * second;
/** The same for one of several providers, while no other confirms the change. */
const aloneMs = 2 * minute;
/** The end of the alarm's message while a change is not confirmed. The process that reads next may be another one. */
const unconfirmed = "; it will be asked again";

interface Deps {
  readonly db: Reader;
  readonly clock: Clock;
  readonly network: Network;
  /** The provider that the scan reads. */
  readonly client: ChainClient;
  /** The individual providers. */
  readonly providers: readonly ChainClient[];
  readonly alarms: ChainAlarms;
}

type State = Deps & { since: Instant | null };

export function makeFinalityCheck(deps: Deps) {
  const self: State = { ...deps, since: null };
  return {
    changedSince: (state: NetworkStateRow, heads: Heads) => changedSince(self, state, heads),
    resume(): void {
      resume(self);
    },
  };
}

/**
 * Returns null unless the provider contradicts the scanned final blocks. Otherwise the chain replaced final blocks:
 * returns the newest kept block that the provider still has, to which the scan goes back. Throws ReplyDropped while
 * the change is unconfirmed or the provider lacks the block, and NetworkStopped if it has none of the kept blocks.
 */
async function changedSince(
  self: State,
  state: NetworkStateRow,
  heads: Heads,
): Promise<Head | null> {
  const { clock, client, providers, alarms } = self;
  const found = await compared(self, state, heads);
  if (found === null || found.reported === found.ours.hash) {
    self.since = null;
    alarms.clear("final_block_changed", client.provider);
    endUnconfirmed(alarms);
    return null;
  }
  const { ours, reported } = found;
  const what = `the final block ${String(ours.height)} was replaced`;
  const subject = `block ${String(ours.height)}`;
  const others = await hashesOfOthers(self, ours.height);
  if (others.includes(ours.hash)) {
    const message = `${client.provider} says that ${what}, and another provider contradicts it`;
    raise(self, client.provider, message, ours);
    throw new ReplyDropped(message, "denies_final");
  }
  self.since ??= clock.now();
  const isConfirmed = others.includes(reported);
  const waitMs = providers.length > 1 ? aloneMs : onlyMs;
  if (!isConfirmed && clock.now() - self.since < waitMs) {
    const message = `${client.provider} says that ${what}`;
    raise(self, subject, `${message}${unconfirmed}`, ours);
    throw new ReplyDropped(message);
  }
  raise(
    self,
    subject,
    `the chain replaced final blocks: ${what}. The blocks above the newest unchanged one ` +
      "are read again. Check the invoices with reverted payments.",
    ours,
  );
  const base = await newestAgreed(self, state);
  self.since = null;
  return base;
}

/** Forgets since when a change is reported: another process may have found it undone meanwhile. */
function resume(self: State): void {
  self.since = null;
}

/** Returns the kept final blocks, newest first. */
async function storedFinal(
  { db, network }: State,
  state: NetworkStateRow,
): Promise<readonly KnownBlock[]> {
  const { cursorHeight: height, cursorHash: hash } = state;
  const stored = (await knownBlocks(db, network.id)).filter((block) => block.height < height);
  return [{ height, hash }, ...stored.reverse()];
}

/** Returns the newest scanned final block that the provider should have, with the provider's hash at that height. */
async function compared(
  self: State,
  state: NetworkStateRow,
  { latest, known }: Heads,
): Promise<{ readonly ours: KnownBlock; readonly reported: string } | null> {
  const { client } = self;
  if (known !== null) {
    return { ours: { height: state.cursorHeight, hash: state.cursorHash }, reported: known.hash };
  }
  if (latest.height >= state.cursorHeight) {
    const height = String(state.cursorHeight);
    throw new BlockMissing(`${client.provider} does not have block ${height}, which was final`);
  }
  // The provider is behind, or the chain was rolled back below the cursor.
  const ours = (await storedFinal(self, state)).find(({ height }) => height <= latest.height);
  if (ours === undefined) return null;
  const [block] = await client.blocks([ours.height]);
  return block == null ? null : { ours, reported: block.hash };
}

/** Returns the other providers' hashes at a height. Leaves out providers that fail or lack the block. */
async function hashesOfOthers(
  { client, providers }: State,
  height: number,
): Promise<readonly string[]> {
  const others = providers.filter(({ provider }) => provider !== client.provider);
  const found = await Promise.all(
    others.map(async (other) => {
      try {
        return await other.blocks([height]);
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        return [];
      }
    }),
  );
  return found.flatMap(([block]) => (block == null ? [] : [block.hash]));
}

/** Returns the newest kept block that the provider still has. */
async function newestAgreed(self: State, state: NetworkStateRow): Promise<Head> {
  const { network, client } = self;
  const stored = await storedFinal(self, state);
  const blocks = await client.blocks(stored.map(({ height }) => height));
  const index = stored.findIndex(({ hash }, at) => blocks[at]?.hash === hash);
  const agreed = blocks[index];
  if (agreed != null) return agreed;
  throw new NetworkStopped(
    `This is not the chain of ${network.title} that was scanned before: the provider has none of the final ` +
      `blocks that were kept, from ${String(stored.at(-1)?.height)} to ${String(state.cursorHeight)}. ` +
      "Correct the network's provider.",
  );
}

/** Ends the alarms about changes that were not confirmed. Those about replaced blocks stay until they are acknowledged. */
function endUnconfirmed(alarms: ChainAlarms): void {
  for (const { kind, subject, message } of alarms.open()) {
    if (kind === "final_block_changed" && message.endsWith(unconfirmed))
      alarms.clear(kind, subject);
  }
}

function raise(
  { network, alarms }: State,
  subject: string,
  message: string,
  { height, hash }: KnownBlock,
): void {
  const details = { network: network.id, blockHeight: height, scannedHash: hash };
  alarms.raise("final_block_changed", subject, message, details);
}
