import { minute, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { Heads } from "../client.ts";
import type { Network } from "../networks.ts";
import type { ChainAlarms } from "../state/alarms.ts";
import { ProviderError } from "./error.ts";
import type { PoolMember } from "./member.ts";

/** A provider is passed over if its newest block is this much older than another's. */
const staleMs = minute;
const staleBlocksMin = 10;
/** For this long, the last heads of a provider whose blocks are old are used instead of a new call. */
const heardMs = 30 * second;

interface Deps {
  readonly network: Network;
  readonly clock: Clock;
  readonly alarms: ChainAlarms;
  readonly members: readonly PoolMember[];
}

/** Returns the number of blocks by which a provider may be below another's newest block. */
export function staleBlocksOf({ blockTimeMs }: Network): number {
  return Math.max(staleBlocksMin, Math.ceil(staleMs / blockTimeMs));
}

/**
 * A single provider could make a payment look old, or a network unreadable, by reporting blocks that do not exist. If
 * its blocks are far above those of the others, this asks the others. Another provider contradicts it if its own
 * newest block is current and not below the highest block already read.
 */
export async function isTooFarAhead(
  deps: Deps,
  member: PoolMember,
  reported: Heads,
  known: number,
): Promise<boolean> {
  const { network, clock, alarms, members } = deps;
  const { provider } = member.client;
  let against: { readonly provider: string; readonly height: number } | null = null;
  const isRecent = (at: Instant) => Math.abs(clock.now() - at) < heardMs;
  const isOfNow = ({ latest }: Heads) =>
    latest.time >= Math.min(reported.latest.time, clock.now()) - staleMs;
  for (const other of members) {
    if (other === member || other.rank() > 0) continue;
    const before = other.heard();
    // A provider that is behind proves nothing here, and is not called in every scan.
    const isBehind = before !== null && isRecent(before.at) && !isOfNow(before);
    const heard = supports(deps, before, reported) || isBehind ? before : await askHeads(other);
    if (supports(deps, heard, reported)) {
      against = null;
      break;
    }
    if (heard === null || heard.latest.height < known || !isOfNow(heard)) continue;
    against = { provider: other.client.provider, height: heard.latest.height };
  }
  if (against === null) {
    alarms.clear("provider_too_far_ahead", provider);
    return false;
  }
  const reason = `its newest block is far above that of ${against.provider}, which is current`;
  member.doubt(reason);
  alarms.raise("provider_too_far_ahead", provider, `${provider} is not read: ${reason}`, {
    network: network.id,
    blockHeight: reported.latest.height,
    finalHeight: reported.finalized.height,
    otherHeight: against.height,
  });
  return true;
}

/** True if the heads that one provider reported earlier make those of another plausible. */
function supports(
  { network, clock }: Deps,
  heard: ReturnType<PoolMember["heard"]>,
  { latest, finalized }: Heads,
): boolean {
  if (heard === null) return false;
  const grown = Math.max(0, clock.now() - heard.at) / network.blockTimeMs;
  const { lagBlocks } = network.finality;
  const staleBlocks = staleBlocksOf(network);
  // If many blocks become final at once, honest providers learn of it at slightly different times.
  const finalSlack = Math.max(staleBlocksMin, Math.ceil(lagBlocks / 2));
  // A provider that does not know the final block derives it from its tip by a large lag, so its final block proves
  // nothing.
  const isCounted = heard.latest.height - heard.finalized.height === lagBlocks;
  const final =
    isCounted && lagBlocks > staleBlocks
      ? heard.latest.height
      : heard.finalized.height + finalSlack;
  return (
    latest.height <= heard.latest.height + grown + staleBlocks && finalized.height <= final + grown
  );
}

/** Returns its current heads; null if it does not respond. */
async function askHeads(member: PoolMember): Promise<ReturnType<PoolMember["heard"]>> {
  if (member.isLeftAlone()) return null;
  try {
    await member.heads();
    return member.heard();
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return null;
  }
}
