export { createApp, type App, type Outside } from "./app.ts";
export { NoStore, openStore, StoreBehind, storeFile, storeName, WrongSecret } from "./store.ts";
