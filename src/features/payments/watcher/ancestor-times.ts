import { minute, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { ChainClient, Head } from "../../../platform/chain/client.ts";
import type { NetworkStateRow } from "../../../platform/chain/state/network-state.ts";
import type { AskedBlock, BlockTimes } from "./block-times.ts";
import { blockAt, timeAboveTip, wrongTime } from "./chain-reader.ts";

/** Checks that no block of a log is dated before the newest scanned block, on which it is built. */
export type AncestorTimes = ReturnType<typeof makeAncestorTimes>;

/**
 * How long a provider must keep contradicting the stored time of the newest scanned block before that time is given up,
 * in milliseconds: as long as a provider is distrusted. A provider may have reported a wrong time for that block, and no
 * scan that finds a payment above it would ever succeed again.
 */
const contradictedMs = 5 * minute;

interface Deps {
  readonly clock: Clock;
  /** The individual providers. */
  readonly providers: readonly ChainClient[];
  readonly times: Pick<BlockTimes, "of">;
}

/** The newest scanned block's time as a provider reports it, and since when it does. */
interface Contradiction {
  readonly hash: string;
  readonly time: Instant;
  readonly since: Instant;
}

type State = Deps & { readonly contradictions: Map<string, Contradiction> };

export function makeAncestorTimes(deps: Deps) {
  const self: State = { ...deps, contradictions: new Map() };
  return {
    assertNoneBeforeTip: (
      read: { readonly client: ChainClient; readonly state: NetworkStateRow },
      blocks: readonly AskedBlock[],
    ) => assertNoneBeforeTip(self, read, blocks),
  };
}

/**
 * Throws AnswerDropped if the provider dates a block before the newest scanned one, on which it is built: before the
 * stored time of that block, or before the time that two providers, or this one for five minutes, give it instead.
 */
async function assertNoneBeforeTip(
  self: State,
  { client, state }: { readonly client: ChainClient; readonly state: NetworkStateRow },
  blocks: readonly AskedBlock[],
): Promise<void> {
  const { tipHeight, tipHash } = state;
  const dated = blocks.flatMap(({ height, reported }) =>
    height > tipHeight && reported !== null ? [{ height, time: reported.time }] : [],
  );
  const [earliest] = dated.sort((one, other) => one.time - other.time);
  if (earliest === undefined || earliest.time >= timeAboveTip(state, self.providers.length)) return;
  const tip = await blockAt(client, tipHeight);
  if (tip.hash !== tipHash) return;
  const corrected = await correctedTime(self, client.provider, tip);
  if (corrected === null || earliest.time < corrected) throw wrongTime(earliest);
}

/** Returns the time that replaces the stored one of the newest scanned block; null while the stored one holds. */
async function correctedTime(
  { clock, providers, times, contradictions }: State,
  provider: string,
  { height, hash, time }: Head,
): Promise<Instant | null> {
  if (providers.length > 1) {
    const found = await times.of([{ height, hash, reported: { provider, time } }]);
    const agreed = found.get(hash);
    if (agreed?.isAgreed === true) return agreed.time;
  }
  const now = clock.now();
  const before = contradictions.get(provider);
  const isSame = before?.hash === hash && before.time === time;
  // A clock that was set back must not prolong the wait.
  const since = isSame ? Math.min(now, before.since) : now;
  contradictions.set(provider, { hash, time, since });
  return now - since >= contradictedMs ? time : null;
}
