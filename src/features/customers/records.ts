import { z } from "zod";
import {
  datetime,
  email,
  id,
  line,
  listRecord,
  metadata,
  requestRecord,
  responseRecord,
} from "../../api/declare/record.ts";

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
});

export const CustomerListRecord = listRecord("CustomerList", CustomerRecord);

export const CreateCustomerRequest = requestRecord("CreateCustomerRequest", {
  name: line(nameLengthMax),
  email: email().nullish(),
  externalId: line(externalIdLengthMax).nullish(),
  metadata: metadata().optional(),
});

export const UpdateCustomerRequest = requestRecord("UpdateCustomerRequest", {
  name: line(nameLengthMax).optional(),
  email: email().nullish(),
  externalId: line(externalIdLengthMax).nullish(),
  metadata: metadata().optional(),
});
