import { join } from "node:path";
import { expect } from "chai";
import { submitKyb } from "../../src/features/organizations/verification.ts";
import {
  addOrganization,
  updateOrganization,
} from "../../src/features/organizations/organizations.ts";
import { createApp, type Program } from "../../src/compose/app.ts";
import { systemActor } from "../../src/kernel/actor.ts";
import type { Id } from "../../src/kernel/id.ts";
import { loadConfig } from "../../src/platform/config/load.ts";
import { silentLogger } from "../../src/platform/logger/index.ts";
import { legalFields } from "../support/app.ts";
import { init, till, useFolders, type Outcome, type RunOptions } from "../support/programs/till.ts";

export const context = { actor: systemActor("tests"), requestId: null, ip: null };

/** A store of its own that `till init` made, and the command line on it. */
export interface DeskStore {
  readonly folder: string;
  till(words: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** Runs a command that must succeed, with --json, and returns its output. */
  json(words: readonly string[], options?: RunOptions): Promise<unknown>;
  /** The program on the same store, as a server beside the command line would have it. */
  withApp<T>(work: (app: Program) => Promise<T>): Promise<T>;
  platformId(): Promise<Id<"organization">>;
  pendingOrganization(): Promise<Id<"organization">>;
  /** The secret of a new key. */
  key(organizationId: Id<"organization">): Promise<string>;
  audited(action: string): Promise<Record<string, unknown>[]>;
}

export function makeDesk(settings: Readonly<Record<string, string>> = {}) {
  const folders = useFolders();

  function openStore(folder: string): DeskStore {
    const onStore = (words: readonly string[], options: RunOptions = {}) =>
      till([...words, "--data-dir", folder], {
        ...options,
        env: { ...settings, ...options.env },
      });
    const store: DeskStore = {
      folder,
      till: onStore,
      async json(words, options) {
        const { code, stdout, stderr } = await onStore([...words, "--json"], options);
        expect(code, stderr).to.equal(0);
        return JSON.parse(stdout) as unknown;
      },
      async withApp(work) {
        const env = { ...settings, TILL_DATA_DIR: folder };
        const { config } = await loadConfig({ mode: "cli", env });
        const app = await createApp(config, "use", { logger: silentLogger });
        try {
          return await work(app);
        } finally {
          await app.close();
        }
      },
      async platformId() {
        const { data } = (await store.json(["org", "list"])) as {
          data: { id: Id<"organization">; name: string }[];
        };
        const own = data.find(({ name }) => name === "Shop");
        if (own === undefined) throw new Error("the store has no platform organization");
        return own.id;
      },
      pendingOrganization: () =>
        store.withApp(async (app) => {
          const { id } = await app.db.write(context, (tx) =>
            addOrganization(tx, app, app.clock.now(), { name: "Nook", ownerId: null }),
          );
          await updateOrganization(app, context, id, legalFields, () => undefined);
          await submitKyb(app, context, id);
          return id;
        }),
      async key(organizationId) {
        const words = [
          "--organization",
          organizationId,
          "--name",
          "shop",
          "--scopes",
          "read,write",
        ];
        return ((await store.json(["key", "create", ...words])) as { secret: string }).secret;
      },
      audited: (action) =>
        store.withApp((app) =>
          app.db.all("SELECT * FROM audit_logs WHERE action = $1 ORDER BY id", [action]),
        ),
    };
    return store;
  }

  return {
    async store(): Promise<DeskStore> {
      const folder = join(await folders.make(), "data");
      const { code, stderr } = await init(["--data-dir", folder]);
      expect(code, stderr).to.equal(0);
      return openStore(folder);
    },
  };
}
