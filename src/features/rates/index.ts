export { makeRatesWorkers } from "./jobs.ts";
export { createQuotes, type FindQuote } from "./quotes.ts";
export { makeRatesService, type RatesService } from "./service.ts";
