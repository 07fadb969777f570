import * as z from "zod";

/** The descriptions of a record's fields, by field name. */
export type FieldDescriptions<Shape> = { readonly [Name in keyof Shape]?: string };

/** A time in the document. Every description of a time adds when it is null. */
const time = "ISO 8601, UTC.";

/** Descriptions of the fields that mean the same in every record that does not describe them itself. */
const commonFields: Readonly<Record<string, string>> = {
  id: "Unique id. It never changes and is never used again.",
  createdAt: `Time of creation: ${time}`,
  updatedAt: `Time of the last change: ${time}`,
  data: "The items of the page.",
  nextCursor: "The `cursor` of the next page; null on the last page.",
  organizationId: "The organization's id.",
  organizationName: "The organization's name.",
  membershipId: "The id of the membership.",
  invitationId: "The id of the invitation.",
  apiKeyId: "The id of the API key.",
  userId: "The user's id.",
  customerId: "The customer's id.",
  walletId: "The id of the receiving wallet.",
  invoiceId: "The invoice's id.",
  paymentId: "The payment's id.",
  transferId: "The transfer's id.",
  refundId: "The refund's id.",
  paymentLinkId: "The id of the payment link.",
  webhookEndpointId: "The id of the webhook endpoint.",
  webhookDeliveryId: "The id of the webhook delivery.",
  eventId: "The event's id.",
  subscriptionId: "The subscription's id.",
  platformInvoiceId: "The id of the platform invoice.",
  checkoutId: "The unguessable id of the invoice's checkout, which is part of its URL.",
  publicId: "The invoice's `publicId`, which its payer sees.",
  queue: "The name of the background queue.",
  network: "The network's id, such as `tron`.",
  tokenSymbol: "The token's symbol, such as `USDT`.",
  currency: "The currency: an ISO 4217 code such as `USD`, or a token's symbol.",
  settlementCurrency:
    "The currency of the invoice's price: an ISO 4217 code such as `USD`, or a token's symbol.",
  transactionHash: "The transaction's hash, in the notation of the network's explorers.",
  metadata: "The merchant's own data: at most 50 keys of 40 characters, values of 500.",
};

/** Descriptions of the filters that several lists have, by query parameter. */
const commonFilters: Readonly<Record<string, string>> = {
  status: "Only items with this status.",
  externalId: "Only items with exactly this `externalId`.",
};

/** Describes a path parameter, or a query parameter without a description of its own, by its name. */
export function describeParameter(name: string): string | undefined {
  return commonFilters[name] ?? commonFields[name];
}

const described = new Map<z.core.$ZodType, Readonly<Record<string, string | undefined>>>();

/** Describes fields of a record, with their units; the texts are those of the OpenAPI document. Returns the record. */
export function describeFields<Shape extends z.ZodRawShape, Record extends z.ZodObject<Shape>>(
  record: Record & z.ZodObject<Shape>,
  descriptions: FieldDescriptions<Shape>,
): Record {
  described.set(record, descriptions);
  return record;
}

/** Returns the description of a field of a record, by the record itself, by the field's schema, or as a common field. */
export function describeField(record: z.ZodType | null, field: string): string | undefined {
  const shape: z.ZodRawShape | null = record instanceof z.ZodObject ? record.shape : null;
  if (record === null || shape === null) return undefined;
  const schema = shape[field] as z.ZodType | undefined;
  return described.get(record)?.[field] ?? schema?.meta()?.description ?? commonFields[field];
}

/**
 * Returns the function that describes a field of a record: by the record's own description, by that of the first
 * record that has the same field, by the field's schema, or as a common field. Undefined if none describes it.
 */
export function fieldDescriber(
  records: Iterable<z.ZodType>,
): (
  record: z.ZodType | undefined,
  field: string,
  written: string | undefined,
) => string | undefined {
  const origins = new Map<z.core.$ZodType, Map<string, string | undefined>>();
  for (const record of records) {
    if (!(record instanceof z.ZodObject)) continue;
    const shape: z.ZodRawShape = record.shape;
    for (const [field, shared] of Object.entries(shape)) {
      const texts = origins.get(shared) ?? new Map<string, string | undefined>();
      if (!texts.has(field)) origins.set(shared, texts.set(field, described.get(record)?.[field]));
    }
  }
  return (record, field, written) => {
    if (record === undefined) return written;
    const shared = fieldOf(record, field);
    const taken = shared === undefined ? undefined : origins.get(shared)?.get(field);
    return described.get(record)?.[field] ?? taken ?? written ?? commonFields[field];
  };
}

function fieldOf(record: z.core.$ZodType, field: string): z.core.$ZodType | undefined {
  const shape: z.ZodRawShape | null = record instanceof z.ZodObject ? record.shape : null;
  return shape?.[field];
}
