export { createApp, type App, type Outside } from "./app.ts";
export { noStore, openStore, requireStoreFile, storeName } from "./store.ts";
