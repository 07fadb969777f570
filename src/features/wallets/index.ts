export { takeAddresses, type DerivedAddress, type KeyWallet } from "./ownership.ts";
export { continueIndexes, skippedAddresses, spendBackedUp } from "./after-restore.ts";
export { NetworkNotEnabled } from "./errors.ts";
export { presentWallet } from "./present.ts";
export { WalletListRecord, WalletRecord } from "./records.ts";
export { makeWalletService, type WalletInput, type WalletService } from "./service.ts";
export {
  activeAddresses,
  activeAmong,
  addressesToRead,
  addressOwners,
  findWallet,
  freeAddresses,
  hasWallet,
  heldAddresses,
  isReceiverSql,
  keepActive,
  keepReceivingWallets,
  raisePaidIndexes,
  receivingWallets,
  spendAddresses,
  takeFree,
  walletsAt,
  walletsOf,
  withoutDefault,
  type ReadAddress,
  type WalletRow,
  type WalletView,
} from "./store.ts";
export { hasWideGap, ordinaryGapLimit, readReceiver, type AddressTaker } from "./rules.ts";
