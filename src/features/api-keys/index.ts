export { restoredKeys, type RestoredKey } from "./after-restore.ts";
export { makeApiKeyService, type ApiKeyService } from "./service.ts";
