export { makeNetworkService, type NetworkService } from "./service.ts";
