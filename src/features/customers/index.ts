export { makeCustomerService, type CustomerService } from "./service.ts";
export { findCustomer } from "./store.ts";
export { customerTexts, isFoundCustomer, searchCustomers } from "./search.ts";
