import { perApp } from "../../app.ts";
import { second } from "../../kernel/clock.ts";
import { createRecentStates } from "../../platform/chain/state/network-state.ts";
import { makeManagedInvoices } from "../invoices/managed/service.ts";
import { createQuotes } from "../rates/quotes.ts";
import { makeWalletService } from "../wallets/service.ts";

/** The invoices of the platform organization by which platform invoices are paid. */
export const managedOf = perApp((app) => {
  const { config, clock, ids, journal, randomBytes, networks, baseUrl } = app;
  return makeManagedInvoices({
    ids,
    journal,
    randomBytes,
    networks: networks.enabled,
    baseUrl,
    recentState: createRecentStates(clock, second),
    quotes: createQuotes({ plan: config.rates, clock, ageMaxMs: second }),
  });
});

/** The wallets of organizations. */
export const walletServiceOf = perApp(({ config, db, clock, ids, journal, networks }) =>
  makeWalletService({
    db,
    clock,
    ids,
    journal,
    networks: networks.enabled,
    limits: { active: config.walletsPerOrganization, verification: config.verification },
  }),
);
