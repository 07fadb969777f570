export { apiKeyOperations } from "./operations.ts";
export { makeApiKeyService, type ApiKeyService } from "./service.ts";
