export { createQuotes, type Quotes } from "./quotes.ts";
export { makeRatesService, type RatesService } from "./service.ts";
