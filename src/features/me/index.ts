export { meOperations } from "./operations.ts";
export { makeMeService, type MeService } from "./service.ts";
