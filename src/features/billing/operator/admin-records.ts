import { z } from "zod";
import { pageParameters } from "../../../api/declare/list.ts";
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
import { PaymentRecord } from "../../payments/index.ts";
import { WalletRecord } from "../../wallets/index.ts";
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

export const AdminDiscountListRecord = listRecord("AdminDiscountList", AdminDiscountRecord);

export const CreateAdminManualAdjustmentRequest = requestRecord(
  "CreateAdminManualAdjustmentRequest",
  {
    amount: signedMoney().meta({
      description: "A positive amount is charged, a negative one is deducted.",
    }),
    currency: currency(),
    description: line(reasonLengthMax),
  },
);

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

export const SetPlatformReceiveWalletRequest = requestRecord("SetPlatformReceiveWalletRequest", {
  walletId: id("wallet"),
  tokenSymbol: z.string().min(1).max(tokenLengthMax),
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

/** Filters of the list of all platform invoices. */
export const adminInvoiceQuery = {
  ...pageParameters,
  organizationId: id("organization").optional(),
  status: z.enum(platformInvoiceStatuses).optional(),
};
export const AdminInvoiceQuery = z.strictObject(adminInvoiceQuery);
