import { minute, second, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Address, Receipt } from "../../../platform/chain/client.ts";
import { findToken, type Network } from "../../../platform/chain/networks.ts";
import type { RefundRefusal } from "../status.ts";
import type { RefundRow } from "../store.ts";

const retryFirstMs = 3 * second;
const retryMostMs = 5 * minute;

/** The attempts of a refund whose transaction was not examined yet. */
export const unexamined = { attempts: 0, denials: 0, heldAttempts: 0 };

/** The number of denials by every provider, in about an hour, after which an unknown transaction is given up. */
export const denialsMax = 18;

/** The number of consecutive attempts, in about a day, after which it is given up although a provider does not answer. */
export const attemptsMax = 300;

/**
 * The number of attempts, in about eleven minutes, for which a transaction in a final block waits for a second
 * provider before one suffices.
 */
export const heldAttemptsMax = 7;

/** The interval in milliseconds at which a transaction is read until its block is final, or a provider answers. */
export const waitMs = minute;

/** Returns when an unknown transaction is looked up again, or a held one: exponential backoff from 3 seconds to 5 minutes. */
export function retryAt(attempts: number, at: Instant): Instant {
  return at + Math.min(retryMostMs, retryFirstMs * 2 ** Math.min(attempts, 20));
}

/**
 * Returns why a transaction does not pay a refund, by its receipt; null if it does. `owners` are the owners of the
 * addresses that sent tokens in it.
 */
export function refusalOf(
  receipt: Receipt,
  refund: RefundRow,
  network: Network,
  owners: ReadonlyMap<Address, Id<"organization">>,
): RefundRefusal | null {
  if (!receipt.succeeded) return "failed";
  if (receipt.blockHeight < refund.paymentHeight) return "too_early";
  const received = receipt.transfers.filter(({ to }) => to === refund.address);
  if (received.length === 0) return "other_recipient";
  const contract = findToken(network, refund.token)?.contract;
  const inToken = received.filter((log) => log.contract === contract);
  if (inToken.length === 0) return "other_token";
  const own = inToken.filter(({ from }) => owners.get(from) === refund.organizationId);
  if (own.length === 0) return "other_sender";
  const total = own.reduce((sum, { amount }) => sum + amount, 0n);
  return total < refund.amount ? "too_small" : null;
}
