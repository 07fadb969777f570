import type { Operation } from "../api/declare/operation.ts";
import {
  adminAnalyticsOperations,
  adminAuditLogOperations,
  adminOperations,
  oversightOperations,
} from "./admin/index.ts";
import { analyticsOperations } from "./analytics/index.ts";
import {
  adminBillingOperations,
  billingOperations,
  balanceOperations,
  receiveWalletOperations,
  subscriptionOperations,
} from "./billing/index.ts";
import { checkoutOperations } from "./checkout/index.ts";
import { capacityOperations, invoiceOperations } from "./invoices/index.ts";
import { decisionOperations, paymentOperations, transferOperations } from "./payments/index.ts";
import { walletOperations } from "./wallets/index.ts";
import { apiKeyOperations } from "./api-keys/index.ts";
import { auditLogOperations } from "./audit-logs/index.ts";
import { authOperations, passwordOperations } from "./auth/index.ts";
import { customerOperations } from "./customers/index.ts";
import { eventOperations } from "./events/index.ts";
import { meOperations } from "./me/index.ts";
import { invitationOperations, memberOperations } from "./members/index.ts";
import { networkOperations } from "./networks/index.ts";
import { organizationOperations } from "./organizations/index.ts";
import { usageOperations } from "./usage/index.ts";
import { webhookOperations } from "./webhooks/index.ts";

/**
 * The operations of every feature, in dependency order: a feature may import only features that are listed before it.
 */
export const features = {
  members: memberOperations,
  invitations: invitationOperations,
  organizations: organizationOperations,
  me: meOperations,
  auth: authOperations,
  passwords: passwordOperations,
  apiKeys: apiKeyOperations,
  auditLogs: auditLogOperations,
  customers: customerOperations,
  networks: networkOperations,
  wallets: walletOperations,
  webhooks: webhookOperations,
  events: eventOperations,
  usage: usageOperations,
  invoices: invoiceOperations,
  walletCapacity: capacityOperations,
  payments: paymentOperations,
  paymentDecisions: decisionOperations,
  transfers: transferOperations,
  checkout: checkoutOperations,
  subscriptions: subscriptionOperations,
  billing: billingOperations,
  billingBalances: balanceOperations,
  receiveWallet: receiveWalletOperations,
  adminBilling: adminBillingOperations,
  analytics: analyticsOperations,
  admin: adminOperations,
  oversight: oversightOperations,
  adminAuditLogs: adminAuditLogOperations,
  adminAnalytics: adminAnalyticsOperations,
} as const;

/** All operations, for readers that need no service: the OpenAPI document, the reference, the contract tests. */
export const allOperations: readonly Operation[] = Object.values(features).flat();
