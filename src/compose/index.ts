export { createApp, type App, type Outside } from "./app.ts";
export {
  NoStore,
  noStore,
  openStore,
  requireStoreFile,
  StoreBehind,
  storeFile,
  storeName,
  WrongSecret,
} from "./store.ts";
