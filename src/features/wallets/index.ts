export { takeAddresses } from "./ownership.ts";
export { continueIndexes, skippedAddresses } from "./after-restore.ts";
export { NetworkNotEnabled } from "./errors.ts";
export { presentWallet } from "./present.ts";
export { WalletListRecord, WalletRecord } from "./records.ts";
export { makeWalletService, type WalletInput, type WalletService } from "./service.ts";
export {
  activeAddresses,
  activeAmong,
  activeSince,
  addressOwners,
  findWallet,
  hasWallet,
  keepActive,
  keepReceivingWallets,
  raisePaidIndexes,
  receivingWallets,
  walletsAt,
  walletsOf,
  withoutDefault,
  type WalletRow,
  type WalletView,
} from "./store.ts";
export { hasWideGap, ordinaryGapLimit, readReceiver } from "./rules.ts";
