export { makeCustomerService, type CustomerService } from "./service.ts";
export { customersAmong } from "./store.ts";
export { customerTexts, isFoundCustomer, searchCustomers } from "./search.ts";
