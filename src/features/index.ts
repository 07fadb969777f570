import type { FeatureModule } from "../http/declare/feature-module.ts";
import type { Operation } from "../http/declare/operation.ts";
import { membersModule } from "./members/api.ts";
import { organizationsModule } from "./organizations/api.ts";
import { meModule } from "./me/api.ts";
import { authModule } from "./auth/api.ts";
import { apiKeysModule } from "./api-keys/api.ts";
import { auditLogsModule } from "./audit-logs/api.ts";
import { customersModule } from "./customers/api.ts";
import { networksModule } from "./networks/api.ts";
import { walletsModule } from "./wallets/api.ts";
import { webhooksModule } from "./webhooks/api.ts";
import { eventsModule } from "./events/api.ts";
import { usageModule } from "./usage/api.ts";
import { ratesModule } from "./rates/api.ts";
import { invoicesModule } from "./invoices/api.ts";
import { paymentsModule } from "./payments/worker.ts";
import { refundsModule } from "./refunds/api.ts";
import { checkoutModule } from "./checkout/api.ts";
import { paymentLinksModule } from "./payment-links/pages.ts";
import { receiptsModule } from "./receipts/api.ts";
import { billingModule } from "./billing/api.ts";
import { exportsModule } from "./exports/api.ts";
import { analyticsModule } from "./analytics/api.ts";
import { adminModule } from "./admin/api.ts";

/** All features, in dependency order: a feature may import only features that are listed before it. */
export const features: readonly FeatureModule[] = [
  membersModule,
  organizationsModule,
  meModule,
  authModule,
  apiKeysModule,
  auditLogsModule,
  customersModule,
  networksModule,
  walletsModule,
  webhooksModule,
  eventsModule,
  usageModule,
  ratesModule,
  invoicesModule,
  paymentsModule,
  refundsModule,
  checkoutModule,
  paymentLinksModule,
  receiptsModule,
  billingModule,
  exportsModule,
  analyticsModule,
  adminModule,
];

/** All operations, as the OpenAPI document, the reference and the contract tests read them. */
export const allOperations: readonly Operation[] = features.flatMap(
  ({ operations = [] }) => operations,
);
