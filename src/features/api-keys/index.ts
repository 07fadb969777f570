export { apiKeyOperations } from "./operations.ts";
export { presentApiKey, presentCreatedApiKey } from "./present.ts";
export { makeApiKeyService, type ApiKeyService } from "./service.ts";
