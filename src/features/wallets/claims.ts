import type { Id } from "../../kernel/id.ts";
import type { Address } from "../../platform/chain/client.ts";
import { deriveAddress } from "../../platform/chain/xpub.ts";
import type { Tx } from "../../platform/database/index.ts";
import { WalletAddressUnavailable } from "./errors.ts";
import type { Receiver } from "./rules.ts";
import { advanceIndex, isClaimInUse, lockClaim, type WalletRow } from "./store.ts";
import { walletClaims } from "./table.ts";

/** The same words whether the address is the organization's own or another's: nothing is told of others. */
export function unavailable(): InstanceType<typeof WalletAddressUnavailable> {
  return new WalletAddressUnavailable(
    "This address or key is registered already and cannot be registered again. Use another; where it is yours and somebody else has it, ask the operator to release it.",
  );
}

/** Makes the address or key the organization's within its family, or refuses with 409. */
export async function claim(
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
    // Whoever had it before: an extended key goes on where it stood, since its addresses were shown to payers.
    await tx.update(walletClaims, { organizationId, kind }, "WHERE family = $1 AND identity = $2", [
      family,
      identity,
    ]);
    return current;
  }
  if (current.organizationId !== organizationId || current.kind !== kind) throw unavailable();
  return current;
}

/** Gives the address or key free when no active wallet of the family uses it any more. */
export async function releaseIfUnused(tx: Tx, wallet: WalletRow): Promise<void> {
  const { family, identity } = wallet;
  if ((await lockClaim(tx, family, identity)) === null) return;
  if (await isClaimInUse(tx, family, identity)) return;
  await tx.update(walletClaims, { kind: "released" }, "WHERE family = $1 AND identity = $2", [
    family,
    identity,
  ]);
}

/** How many indexes in a row may lead to addresses that are wallets of their own. */
const takenInARowMax = 100;

/**
 * Takes the next address of an extended key for one invoice. An index is never given twice, not even where the wallet
 * was archived and registered again, and an address that is or was a wallet of its own is passed over, so that what
 * is paid there is never taken for this invoice's. Null where the wallet was archived meanwhile, or has no address left.
 */
export async function takeAddress(
  tx: Tx,
  wallet: WalletRow & { readonly xpub: string },
): Promise<{ readonly index: number; readonly address: Address } | null> {
  const { family, identity, organizationId } = wallet;
  for (let taken = 0; taken < takenInARowMax; taken += 1) {
    const index = await advanceIndex(tx, family, identity);
    if (index === null) return null;
    const address = deriveAddress(wallet.xpub, index);
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
