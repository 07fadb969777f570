import { Defect } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Address } from "../../platform/chain/client.ts";
import type { NetworkKind } from "../../platform/chain/networks.ts";
import type { Tx } from "../../platform/database/index.ts";
import { WalletAddressUnavailable } from "./errors.ts";
import type { Receiver } from "./rules.ts";
import { advanceIndex, isClaimInUse, lockClaim, type WalletRow } from "./store.ts";
import { walletClaims } from "./table.ts";

/** Returns the same message whether the organization itself or another one has the address, so it reveals nothing. */
export function unavailable(): InstanceType<typeof WalletAddressUnavailable> {
  return new WalletAddressUnavailable(
    "This address or key is already registered. Use another one. If it belongs to you but another organization registered it, ask the operator to release it.",
  );
}

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
const takenInARowMax = 100;

/**
 * Assigns the next address of an extended key to an invoice. An index is never used twice, even if the wallet was
 * archived and registered again. Addresses that are or were wallets themselves are skipped, so that payments to them
 * are never taken for this invoice's. Returns null if the wallet was archived in the meantime or has no address left.
 */
export async function takeAddress(
  tx: Tx,
  wallet: WalletRow & { readonly xpub: string },
  { extendedKeys }: NetworkKind,
): Promise<{ readonly index: number; readonly address: Address } | null> {
  const { family, identity, organizationId } = wallet;
  if (extendedKeys === null) throw new Defect(`${wallet.id} has a key that its network cannot use`);
  for (let taken = 0; taken < takenInARowMax; taken += 1) {
    const index = await advanceIndex(tx, family, identity);
    if (index === null) return null;
    const address = extendedKeys.deriveAddress(wallet.xpub, index);
    const isFree = await tx.insertIfAbsent(walletClaims, {
      family,
      identity: address,
      organizationId,
      kind: "derived",
      nextIndex: 0,
      highestPaidIndex: null,
    });
    if (isFree) return { index, address };
  }
  return null;
}
