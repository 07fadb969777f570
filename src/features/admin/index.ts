export {
  alreadyInitialized,
  isInitialized,
  makeInstallation,
  type Installation,
} from "./installation.ts";
export { makeOversight, type OversightService } from "./cross-organization/queries.ts";
export { makeCertificateCheck } from "./status/outside-checks.ts";
export { presentInstalled } from "./present.ts";
export { InitializeRequest } from "./records.ts";
export { makeQueueService, type QueueService } from "./queues.ts";
export { makeAdminService, type AdminService } from "./service.ts";
