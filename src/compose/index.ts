export { createApp, type App, type Externals } from "./app.ts";
export { verifyStore, type CheckResult } from "./checks.ts";
export { openStore } from "./store.ts";
export { noStore, requireStoreFile, storeName } from "./store-place.ts";
