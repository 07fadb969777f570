import * as z from "zod";
import { pageParameters } from "../../../api/declare/list.ts";
import { describeFields } from "../../../api/declare/field-descriptions.ts";
import {
  datetime,
  id,
  line,
  listRecord,
  money,
  moneyAnswer,
  record,
  requestRecord,
  responseRecord,
  signedMoneyAnswer,
} from "../../../api/declare/record.ts";
import { signedMoneyPattern } from "../../../kernel/money/money.ts";
import { PaymentRecord } from "../../payments/records.ts";
import { WalletRecord } from "../../wallets/records.ts";
import { platformInvoiceStatuses, PlatformInvoiceRecord } from "../records.ts";

export const reasonLengthMax = 500;
const periodsMax = 1_200;
const tokenLengthMax = 20;

/** The service refuses unknown currencies. */
const currency = () => z.string().min(1).max(tokenLengthMax);
const signedMoney = () =>
  z.string().regex(signedMoneyPattern, { error: 'must be decimal text such as "-4.10"' });

export const ApplyAdminCreditRequest = requestRecord("ApplyAdminCreditRequest", {
  amount: money(),
  currency: currency(),
  reason: line(reasonLengthMax),
  expiresAt: datetime().nullish(),
});
describeFields(ApplyAdminCreditRequest, {
  amount: "The amount to grant: a decimal string in `currency`.",
  reason: "Why the credit is granted.",
  expiresAt:
    "Time from which the remainder is no longer used: ISO 8601, UTC; null or absent if it does not expire.",
});

export const AdminCreditRecord = responseRecord("AdminCredit", {
  id: id("credit"),
  organizationId: id("organization"),
  amount: moneyAnswer(),
  remaining: moneyAnswer(),
  currency: z.string(),
  reason: z.string(),
  status: z.enum(["available", "consumed", "expired"]),
  expiresAt: datetime().nullable(),
  createdBy: z
    .string()
    .meta({ description: "The id of a user or API key, the operator's name, or `system`." }),
  createdAt: datetime(),
});
describeFields(AdminCreditRecord, {
  amount: "The granted amount: a decimal string in `currency`.",
  remaining: "The part that no platform invoice has used yet: a decimal string in `currency`.",
  reason: "Why the credit was granted, as the operator or Till wrote it.",
  status: "`available`, `consumed` once nothing remains, or `expired` with a remainder.",
  expiresAt:
    "Time from which the remainder is no longer used: ISO 8601, UTC; null if it does not expire.",
});

export const AdminCreditListRecord = listRecord("AdminCreditList", AdminCreditRecord);

export const ApplyAdminDiscountRequest = requestRecord("ApplyAdminDiscountRequest", {
  kind: z.enum(["percent", "fixed"]),
  value: z.string().min(1).max(40).meta({
    description: 'A percentage such as "15", or an amount of `currency`.',
  }),
  currency: currency().nullish().meta({ description: "For fixed discounts only." }),
  periods: z.int().min(1).max(periodsMax).nullish().meta({
    description: "How many invoices the discount applies to; all if absent.",
  }),
  reason: line(reasonLengthMax),
});
describeFields(ApplyAdminDiscountRequest, {
  kind: "Whether `value` is a percentage (`percent`) or an amount (`fixed`).",
  reason: "Why the discount is granted.",
});

export const AdminDiscountRecord = responseRecord("AdminDiscount", {
  id: id("discount"),
  organizationId: id("organization"),
  kind: z.enum(["percent", "fixed"]),
  value: z.string(),
  currency: z.string().nullable(),
  periods: z.int().nullable(),
  periodsUsed: z.int(),
  reason: z.string(),
  status: z.enum(["active", "exhausted"]),
  createdBy: z.string(),
  createdAt: datetime(),
});
describeFields(AdminDiscountRecord, {
  kind: "Whether `value` is a percentage (`percent`) or an amount (`fixed`).",
  value: "A percentage such as `15`, or a decimal string in `currency`.",
  currency: "The currency of a fixed discount; null for a percentage.",
  periods: "The number of platform invoices that it applies to; null for all.",
  periodsUsed: "The number of platform invoices that it was applied to.",
  reason: "Why the discount was granted, as the operator wrote it.",
  status: "`active`, or `exhausted` once it was applied to `periods` invoices.",
  createdBy: "The id of a user or API key, the operator's name, or `system`.",
});

export const AdminDiscountListRecord = listRecord("AdminDiscountList", AdminDiscountRecord);

export const CreateAdminManualAdjustmentRequest = requestRecord(
  "CreateAdminManualAdjustmentRequest",
  {
    amount: signedMoney().meta({
      description:
        "A decimal string in `currency`: a positive amount is charged, a negative one is deducted.",
    }),
    currency: currency(),
    description: line(reasonLengthMax),
  },
);
describeFields(CreateAdminManualAdjustmentRequest, {
  description: "The text of its line on the platform invoice.",
});

export const AdminManualAdjustmentRecord = responseRecord("AdminManualAdjustment", {
  id: id("adjustment"),
  organizationId: id("organization"),
  amount: signedMoneyAnswer(),
  currency: z.string(),
  description: z.string(),
  status: z.enum(["pending", "invoiced"]),
  platformInvoiceId: id("platformInvoice").nullable(),
  createdBy: z.string(),
  createdAt: datetime(),
});
describeFields(AdminManualAdjustmentRecord, {
  amount:
    "A decimal string in `currency`: a positive amount is charged, a negative one is deducted.",
  description: "The text of its line on the platform invoice.",
  status: "`pending` until the next platform invoice in its currency takes it, then `invoiced`.",
  platformInvoiceId: "The id of the platform invoice that took it; null while pending.",
  createdBy: "The id of a user or API key, the operator's name, or `system`.",
});

export const AdminManualAdjustmentListRecord = listRecord(
  "AdminManualAdjustmentList",
  AdminManualAdjustmentRecord,
);

export const PlatformReceiveWalletRecord = responseRecord("PlatformReceiveWallet", {
  wallet: WalletRecord.nullable(),
  tokenSymbol: z.string().nullable(),
  network: z.string().nullable(),
  updatedAt: datetime().nullable(),
});
describeFields(PlatformReceiveWalletRecord, {
  wallet: "The wallet that receives the payments of platform invoices; null until one is set.",
  tokenSymbol: "The symbol of the token in which platform invoices are paid; null until it is set.",
  network: "The wallet's network; null until a wallet is set.",
  updatedAt: "Time of the last change: ISO 8601, UTC; null if it was never set.",
});

export const SetPlatformReceiveWalletRequest = requestRecord("SetPlatformReceiveWalletRequest", {
  walletId: id("wallet"),
  tokenSymbol: z.string().min(1).max(tokenLengthMax),
});
describeFields(SetPlatformReceiveWalletRequest, {
  walletId: "The id of a wallet of the platform organization.",
});

const AdminPlatformInvoiceRecord = record(
  "AdminPlatformInvoice",
  PlatformInvoiceRecord.extend({ organizationName: z.string() }),
);

export const AdminPlatformInvoiceListRecord = listRecord(
  "AdminPlatformInvoiceList",
  AdminPlatformInvoiceRecord,
);

export const AdminPlatformInvoiceDetailRecord = record(
  "AdminPlatformInvoiceDetail",
  AdminPlatformInvoiceRecord.extend({ payments: z.array(PaymentRecord) }),
);
describeFields(AdminPlatformInvoiceDetailRecord, {
  payments: "The payments of the platform invoice, oldest first.",
});

/** Filters of the list of all platform invoices. */
export const adminInvoiceQuery = {
  ...pageParameters,
  organizationId: id("organization").optional(),
  status: z.enum(platformInvoiceStatuses).optional(),
};
export const AdminInvoiceQuery = z.strictObject(adminInvoiceQuery);
