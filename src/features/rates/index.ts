export { makeRatesWorkers } from "./jobs.ts";
export { createQuotes, type FindQuote } from "./quotes.ts";
export { makeRatesService, type RatesHealth, type RatesService } from "./service.ts";
