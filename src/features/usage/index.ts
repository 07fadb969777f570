export { makeRollUp } from "./roll-up.ts";
export { meterInvoice, meterPayment } from "./meter.ts";
export { usageOperations } from "./operations.ts";
export {
  defaultCurrency,
  makeUsageService,
  monthAt,
  type Period,
  type PlanInUse,
  type UsageCounter,
  type UsageService,
} from "./service.ts";
export { figureDecimals, platformScope, type Measure } from "./table.ts";
