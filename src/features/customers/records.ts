import * as z from "zod";
import {
  datetime,
  describeFields,
  email,
  id,
  line,
  listRecord,
  metadata,
  objectVersion,
  presentRow,
  requestRecord,
  responseRecord,
} from "../../http/declare/record.ts";
import type { CustomerRow } from "./store.ts";

const nameLengthMax = 200;
const externalIdLengthMax = 200;

export const CustomerRecord = responseRecord("Customer", {
  id: id("customer"),
  externalId: z.string().nullable().meta({
    description: "The merchant's own id of the customer, unique in the organization.",
  }),
  name: z.string(),
  email: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  createdAt: datetime(),
  updatedAt: datetime(),
  objectVersion: objectVersion(),
});
describeFields(CustomerRecord, {
  name: "The customer's name.",
  email: "The customer's e-mail address, in lower case; null without one.",
});

export function presentCustomer(row: CustomerRow): z.input<typeof CustomerRecord> {
  return presentRow(CustomerRecord, row, { objectVersion: row.version });
}

export const CustomerListRecord = listRecord("CustomerList", CustomerRecord);

export const CreateCustomerRequest = requestRecord("CreateCustomerRequest", {
  name: line(nameLengthMax),
  email: email().nullish(),
  externalId: line(externalIdLengthMax).nullish(),
  metadata: metadata().optional(),
});
describeFields(CreateCustomerRequest, {
  name: "The customer's name.",
  email: "The customer's e-mail address; stored in lower case.",
  externalId: "The merchant's own id of the customer, unique in the organization.",
});

export const UpdateCustomerRequest = requestRecord("UpdateCustomerRequest", {
  name: line(nameLengthMax).optional(),
  email: email().nullish(),
  externalId: line(externalIdLengthMax).nullish(),
  metadata: metadata().optional(),
});
describeFields(UpdateCustomerRequest, {
  name: "The customer's name.",
  email: "The customer's e-mail address; null removes it.",
  externalId: "The merchant's own id of the customer, unique in the organization; null removes it.",
  metadata: "Replaces all metadata.",
});
