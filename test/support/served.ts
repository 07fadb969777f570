import { startApp, type AppOptions, type TestApp } from "./app.ts";
import { anyStore, eachStore, type TestStore } from "./store/stores.ts";

/** The program under test; it runs from the suite's first test on. */
export interface Served {
  readonly app: TestApp;
  readonly store: TestStore;
}

type Body = (served: Served) => void;

/** Runs a suite against the whole program, on SQLite and on PostgreSQL, each with a store of its own. */
export function eachServed(title: string, body: Body, options: AppOptions = {}): void {
  eachStore(title, (store) => {
    serve(store, body, options);
  });
}

/** `eachServed` for subjects in which the database has no part, as defined by `anyStore`. */
export function anyServed(title: string, body: Body, options: AppOptions = {}): void {
  anyStore(title, (store) => {
    serve(store, body, options);
  });
}

function serve(store: TestStore, body: Body, options: AppOptions): void {
  describe("served", () => {
    let running: TestApp | undefined;
    before(async () => {
      running = await startApp({ place: await store.place("migrated"), ...options });
    });
    after(async () => {
      await running?.stop();
    });
    body({
      store,
      get app() {
        if (running === undefined) throw new Error("the program does not run yet");
        return running;
      },
    });
  });
}
