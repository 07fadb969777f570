export { adminOperations } from "./operations.ts";
export { presentOrganizationDetail } from "./present.ts";
export { makeAdminService, type AdminService } from "./service.ts";
