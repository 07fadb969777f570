import { makeCheckoutService } from "../../../src/features/checkout/service.ts";
import { makeCheckoutSources } from "../../../src/features/checkout/sources.ts";
import type { Shop } from "../../support/invoice-services-fixture.ts";

const unused = () => Promise.reject(new Error("this checkout is only read"));

/** Returns the checkouts of a shop as the store holds them. */
export const sourcesOf = ({ db }: Shop) =>
  makeCheckoutSources({ db, baseUrl: () => "https://pay.example/till" });

/** Makes the checkout of a shop, for reading only. */
export const checkoutOf = (shop: Shop) =>
  makeCheckoutService({
    db: shop.db,
    clock: { now: shop.now },
    networks: shop.networks,
    enabled: new Set(shop.networks.keys()),
    baseUrl: () => "https://pay.example/till",
    pageKey: new Uint8Array(32),
    sources: sourcesOf(shop),
    claims: { submit: unused },
    refunds: { offer: unused, request: unused },
    choose: unused,
    sandbox: null,
  });
