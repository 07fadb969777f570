export { networkOperations } from "./operations.ts";
export { makeNetworkService, type NetworkService } from "./service.ts";
