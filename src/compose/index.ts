export { createApp, type App, type Externals } from "./app.ts";
export { verifyStore, type CheckResult } from "./checks.ts";
export { copyStore, type CopiedStore } from "./backup/copy.ts";
export { targetOf } from "./backup/files.ts";
export { makeBackup, type MadeBackup } from "./backup/make-backup.ts";
export { planMigration } from "./backup/plan-migration.ts";
export { instanceAt, noteBackup } from "./backup/record.ts";
export {
  planRestore,
  restoreBackup,
  type RestoredStore,
  type RestorePlan,
} from "./backup/restore.ts";
export { rehearseBilling, type Rehearsal } from "./rehearsal/rehearse-billing.ts";
export { skippedAddresses } from "../features/wallets/index.ts";
export { openStore } from "./store.ts";
export { secretFor } from "./store-secret.ts";
export { isUsualStore, noStore, requireStoreFile, storeName } from "./store-place.ts";
