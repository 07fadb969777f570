export { makeMeter, meterInvoice } from "./meter.ts";
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
