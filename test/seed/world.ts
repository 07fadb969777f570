import { openEstate, type Estate } from "../features/billing/billing-fleet.ts";
import { keyOf, type Answer, type Merchant, type Person } from "../support/app.ts";
import { eachStore, testsAll, type TestStore } from "../support/store/stores.ts";

/** The two credentials of section 5. */
export const schemes = ["a Bearer JWT", "an API key"] as const;
export type Scheme = (typeof schemes)[number];

/** A caller of operations with one of the two credentials. */
export interface Caller extends Person {
  /** Calls an operation; `path` begins below /v1. A JWT is renewed if the clock has passed its expiry. */
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Calls an operation of the caller's own organization; `path` begins below it. */
  home(method: string, path: string, body?: unknown): Promise<Answer>;
}

/** A running program whose clock and chain the test moves, and callers who use one of the credentials. */
export interface World {
  readonly estate: Estate;
  readonly scheme: Scheme;
  /** The owner of a new approved organization. */
  merchant(): Promise<Caller & Merchant>;
  /** An admin of the platform organization. */
  admin(): Promise<Caller>;
  /** A person whose JWT was just issued; an API key is made with these scopes. */
  callerOf(person: Person, ...scopes: readonly string[]): Promise<Caller>;
}

/** A JWT is valid for 15 minutes. */
const renewAfterMs = 10 * 60_000;

export async function openWorld(
  store: TestStore,
  scheme: Scheme,
  settings: Readonly<Record<string, string>> = {},
): Promise<World> {
  const estate = await openEstate({
    place: await store.place("migrated"),
    // Merchants of these tests issue invoices with and without a plan.
    settings: { TILL_BILLING: "off", TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8", ...settings },
  });
  const { app, clock, tokenOf } = estate;

  async function callerOf(person: Person, ...scopes: readonly string[]): Promise<Caller> {
    let { token } = person;
    let tokenAt = clock.now();
    const key = scheme === "an API key" ? await keyOf(app, person, ...scopes) : null;
    const credential = async () => {
      if (key !== null) return { key };
      if (clock.now() - tokenAt > renewAfterMs) {
        token = await tokenOf(person);
        tokenAt = clock.now();
      }
      return { token };
    };
    const ask = async (method: string, path: string, body?: unknown) =>
      app.request(method, `/v1${path}`, { ...(await credential()), body });
    const home = (method: string, path: string, body?: unknown) =>
      ask(method, `/organizations/${person.organizationId}${path}`, body);
    return { ...person, ask, home };
  }

  return {
    estate,
    scheme,
    callerOf,
    async merchant() {
      const merchant = await estate.merchant();
      return { ...merchant, ...(await callerOf(merchant, "read", "write", "billing")) };
    },
    async admin() {
      return callerOf({ ...estate.admin, token: await tokenOf(estate.admin) }, "platform");
    },
  };
}

/**
 * Runs a suite in a separate world for each database and credential; on PostgreSQL only with keys, unless
 * TILL_TEST_ALL=1.
 */
export function eachWorld(title: string, body: (world: () => World) => void): void {
  eachStore(title, (store) => {
    // The credential does not affect the database, and catalogue.test.ts tests both for each operation on both
    // databases.
    const tried = testsAll || store.dialect === "sqlite" ? schemes : schemes.slice(-1);
    for (const scheme of tried) {
      describe(`with ${scheme}`, () => {
        let world: World | undefined;
        before(async () => {
          world = await openWorld(store, scheme);
        });
        after(() => world?.estate.stop());
        body(() => {
          if (world === undefined) throw new Error("the world is not open yet");
          return world;
        });
      });
    }
  });
}
