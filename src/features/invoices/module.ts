import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { batchOperations } from "./batches/operations.ts";
import type { InvoiceBatchService } from "./batches/service.ts";
import { capacityMetrics } from "./capacity/metrics.ts";
import { capacityOperations } from "./capacity/operations.ts";
import type { CapacityService } from "./capacity/service.ts";
import { invoiceChecks } from "./checks.ts";
import { invoiceOperations } from "./operations.ts";
import type { InvoiceService } from "./service.ts";

export const invoicesModule: FeatureModule<{
  readonly invoices: InvoiceService;
  readonly invoiceBatches: InvoiceBatchService;
  readonly capacity: CapacityService;
}> = {
  operations: {
    invoices: invoiceOperations,
    invoiceBatches: batchOperations,
    capacity: capacityOperations,
  },
  checks: invoiceChecks,
  metrics: (parts) => [capacityMetrics(parts)],
};
