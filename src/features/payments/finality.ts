import { minute, second, type Clock, type Instant } from "../../kernel/clock.ts";
import type { ChainAlarms } from "../../platform/chain/alarms.ts";
import type { ChainClient, Head, Heads } from "../../platform/chain/client.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { ProviderError } from "../../platform/chain/provider-error.ts";
import { knownBlocks, type KnownBlock, type NetworkStateRow } from "../../platform/chain/state.ts";
import type { Reader } from "../../platform/database/index.ts";
import { AnswerDropped } from "./look.ts";
import { NetworkStopped } from "./preparation.ts";

/** Compares the final blocks that were scanned with those that the provider has now, at every look. */
export interface FinalityCheck {
  /**
   * Null: the provider has the block at the cursor. Otherwise the chain replaced final blocks, and this is the newest
   * kept one that it still has: the scan goes back there. Throws AnswerDropped while that is not believed of it, or the
   * provider lacks the block, and NetworkStopped where it has none of the kept blocks.
   */
  changedSince(state: NetworkStateRow, heads: Heads): Promise<Head | null>;
}

/** The only provider must say so for so long, in a row: behind one address may be a machine on another fork. */
const onlyMs = 30 * second;
/** One of several does, while no other can be asked. */
const aloneMs = 2 * minute;

export function makeFinalityCheck(deps: {
  readonly db: Reader;
  readonly clock: Clock;
  readonly network: Network;
  /** The provider that the look is put to. */
  readonly client: ChainClient;
  /** Each provider by itself. */
  readonly providers: readonly ChainClient[];
  readonly alarms: ChainAlarms;
}): FinalityCheck {
  const { db, clock, network, client, providers, alarms } = deps;
  let since: Instant | null = null;
  /** The subject of the alarm about a change that is not believed yet. */
  let waiting: string | null = null;

  /** The kept final blocks, the newest first. */
  async function keptFinal(state: NetworkStateRow): Promise<readonly KnownBlock[]> {
    const { cursorHeight: height, cursorHash: hash } = state;
    const kept = (await knownBlocks(db, network.id)).filter((block) => block.height < height);
    return [{ height, hash }, ...kept.reverse()];
  }

  /** The newest scanned final block that the provider should have, and what it has there. */
  async function compared(
    state: NetworkStateRow,
    { latest, known }: Heads,
  ): Promise<{ readonly ours: KnownBlock; readonly told: string } | null> {
    if (known !== null) {
      return { ours: { height: state.cursorHeight, hash: state.cursorHash }, told: known.hash };
    }
    if (latest.height >= state.cursorHeight) {
      const height = String(state.cursorHeight);
      throw new AnswerDropped(`${client.provider} does not have block ${height}, which was final`);
    }
    // It is behind, or the chain went back below the cursor.
    const ours = (await keptFinal(state)).find(({ height }) => height <= latest.height);
    if (ours === undefined) return null;
    const [block] = await client.blocks([ours.height]);
    return block == null ? null : { ours, told: block.hash };
  }

  /** What the other providers have at a height. Those that do not answer, or do not have it, are left out. */
  async function hashesOfOthers(height: number): Promise<readonly string[]> {
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

  /** The newest kept block that the provider still has. */
  async function newestAgreed(state: NetworkStateRow): Promise<Head> {
    const kept = await keptFinal(state);
    const blocks = await client.blocks(kept.map(({ height }) => height));
    const place = kept.findIndex(({ hash }, at) => blocks[at]?.hash === hash);
    const agreed = blocks[place];
    if (agreed != null) return agreed;
    throw new NetworkStopped(
      `This is not the chain of ${network.title} that was scanned before: none of its kept final ` +
        `blocks, from ${String(kept.at(-1)?.height)} to ${String(state.cursorHeight)}, is the one ` +
        "that was read. Correct the network's provider.",
    );
  }

  function raise(subject: string, message: string, { height, hash }: KnownBlock): void {
    const details = { network: network.id, blockHeight: height, scannedHash: hash };
    alarms.raise("final_block_changed", subject, message, details);
  }

  return {
    async changedSince(state, heads) {
      const found = await compared(state, heads);
      if (found === null || found.told === found.ours.hash) {
        since = null;
        alarms.clear("final_block_changed", client.provider);
        if (waiting !== null) alarms.clear("final_block_changed", waiting);
        waiting = null;
        return null;
      }
      const { ours, told } = found;
      const what = `block ${String(ours.height)}, which was final, is another one now`;
      const subject = `block ${String(ours.height)}`;
      const others = await hashesOfOthers(ours.height);
      if (others.includes(ours.hash)) {
        const message = `${client.provider} says that ${what}, and another provider contradicts it`;
        raise(client.provider, message, ours);
        throw new AnswerDropped(message, "denies_final");
      }
      since ??= clock.now();
      const isConfirmed = others.includes(told);
      const waitMs = providers.length > 1 ? aloneMs : onlyMs;
      if (!isConfirmed && clock.now() - since < waitMs) {
        waiting = subject;
        raise(subject, `${client.provider} says that ${what}; it is asked again`, ours);
        throw new AnswerDropped(`${client.provider} says that ${what}`);
      }
      waiting = null;
      raise(
        subject,
        `the chain replaced final blocks: ${what}. The transfers above the newest block that is ` +
          "still the same are read again. Look at the invoices that were reverted.",
        ours,
      );
      const base = await newestAgreed(state);
      since = null;
      return base;
    },
  };
}
