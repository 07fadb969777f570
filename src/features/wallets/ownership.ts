import { Defect } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { NetworkKind } from "../../platform/chain/networks.ts";
import type { Tx } from "../../platform/database/database.ts";
import { WalletAddressUnavailable } from "./errors.ts";
import { mayTake, strideOf, type AddressTaker, type Receiver } from "./rules.ts";
import {
  advanceIndex,
  insertFreeClaims,
  isClaimInUse,
  lockClaim,
  type DerivedRow,
  type WalletRow,
} from "./store.ts";
import { walletClaims } from "./table.ts";

/** Returns the same message whether the organization itself or another one has the address, so it reveals nothing. */
export function unavailable(): InstanceType<typeof WalletAddressUnavailable> {
  return new WalletAddressUnavailable(
    "This address or key is already registered. Use another one. If it belongs to you but another organization registered it, ask the operator to release it.",
  );
}

const notDerived = { keyIdentity: null, keyIndex: null, derivedState: null };

/** Claims an address or key for the organization within its address family, or throws 409. */
export async function takeOwnership(
  tx: Tx,
  organizationId: Id<"organization">,
  family: string,
  receiver: Receiver,
): Promise<{ readonly nextIndex: number; readonly highestPaidIndex: number | null }> {
  const { kind, identity } = receiver;
  const fresh = {
    family,
    identity,
    organizationId,
    kind,
    nextIndex: 0,
    highestPaidIndex: null,
    ...notDerived,
  };
  if (await tx.insertIfAbsent(walletClaims, fresh)) return fresh;
  const current = await lockClaim(tx, family, identity);
  if (current === null) throw unavailable();
  if (current.kind === "released") {
    // A released extended key continues at its index, even for a new owner, because earlier addresses were shown to
    // payers.
    await tx.update(walletClaims, { organizationId, kind }, "WHERE family = $1 AND identity = $2", [
      family,
      identity,
    ]);
    return current;
  }
  if (current.organizationId !== organizationId || current.kind !== kind) throw unavailable();
  return current;
}

/** Releases the address or key if no active wallet of the family uses it any more. */
export async function releaseIfUnused(tx: Tx, wallet: WalletRow): Promise<void> {
  const { family, identity } = wallet;
  if ((await lockClaim(tx, family, identity)) === null) return;
  if (await isClaimInUse(tx, family, identity)) return;
  await tx.update(walletClaims, { kind: "released" }, "WHERE family = $1 AND identity = $2", [
    family,
    identity,
  ]);
}

/** Maximum number of consecutive indexes whose addresses are already claimed. */
const claimedInARowMax = 100;

/** An address that was derived from an extended key. */
export type DerivedAddress = DerivedRow;

/** A wallet with an extended key. */
export type KeyWallet = WalletRow & { readonly xpub: string };

/**
 * Assigns addresses of an extended key to invoices that no invoice has had yet, the next indexes of the key, even if the
 * wallet was archived and registered again. Addresses that are or were wallets themselves are skipped, so that payments
 * to them are never taken for an invoice's. Addresses that the taker may not have become free for others. Returns fewer
 * than `count` if the wallet was archived in the meantime or has no address left, or if more than `unpaidMax` addresses
 * in a row would be unpaid.
 */
export async function takeAddresses(
  tx: Tx,
  wallet: KeyWallet,
  { extendedKeys }: NetworkKind,
  taker: AddressTaker,
  count: number,
  unpaidMax: number = Number.MAX_SAFE_INTEGER,
): Promise<readonly DerivedAddress[]> {
  const { family, identity, organizationId } = wallet;
  if (extendedKeys === null) throw new Defect(`${wallet.id} has a key that its network cannot use`);
  const { addressCount, deriveAddress } = extendedKeys;
  const taken: DerivedAddress[] = [];
  let claimedInARow = 0;
  while (taken.length < count && claimedInARow < claimedInARowMax) {
    const indexes = await advanceIndex(tx, family, identity, {
      count: count - taken.length,
      stride: strideOf(taker),
      end: addressCount,
      unpaidMax,
    });
    if (indexes.length === 0) break;
    const derived = indexes.map((index) => ({ index, address: deriveAddress(wallet.xpub, index) }));
    const free = await insertFreeClaims(
      tx,
      derived.map(({ address, index }) => ({
        family,
        identity: address,
        organizationId,
        kind: "derived",
        nextIndex: 0,
        highestPaidIndex: null,
        keyIdentity: identity,
        keyIndex: index,
        derivedState: mayTake(taker, index) ? "held" : "free",
      })),
    );
    for (const each of derived.filter(({ index }) => mayTake(taker, index))) {
      const isFree = free.has(each.address);
      if (isFree) taken.push(each);
      claimedInARow = isFree ? 0 : claimedInARow + 1;
    }
  }
  return taken;
}
