export { customerOperations } from "./operations.ts";
export { presentCustomer } from "./present.ts";
export { CustomerRecord } from "./records.ts";
export { makeCustomerService, type CustomerService } from "./service.ts";
export { findCustomer } from "./store.ts";
export type { CustomerRow } from "./table.ts";
