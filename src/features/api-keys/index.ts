export { makeApiKeyService, type ApiKeyService } from "./service.ts";
