import { randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Id } from "../../../kernel/id.ts";
import { lockFile } from "../../../platform/database/sqlite/standalone.ts";

// Each run of `till webhook listen` keeps a locked, empty file in the data folder, whose name says which endpoint the
// run makes. The operating system ends the lock with the process, so nothing else has to prove that a run was killed.

const folderName = "listening";

type OrganizationId = Id<"organization">;
type EndpointId = Id<"webhookEndpoint">;

/** The file of a run. */
export interface OwnRun {
  /** Remembers the endpoint that this run is about to make. */
  remember(organizationId: OrganizationId, endpointId: EndpointId): Promise<void>;
  /** Forgets the run, whose endpoint is gone. */
  forget(): Promise<void>;
  /** Lets go of the file; if it was not forgotten, the next run removes its endpoint. */
  release(): Promise<void>;
}

/** Begins the file of a run, under a name that no other run looks at. */
export async function beginRun(dataDir: string): Promise<OwnRun> {
  const folder = join(dataDir, folderName);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  let path = join(folder, randomUUID());
  const lock = await lockFile(path);
  if (lock === null) throw new Error(`${path} is locked by another process`);
  await chmod(path, 0o600);
  let isNamed = false;
  return {
    async remember(organizationId, endpointId) {
      const named = join(folder, `${organizationId}.${endpointId}`);
      // Locked before it has the name, so that it never looks abandoned.
      await rename(path, named);
      path = named;
      isNamed = true;
    },
    forget: () => rm(path, { force: true }),
    async release() {
      if (!isNamed) await rm(path, { force: true });
      await lock.release();
    },
  };
}

/** Calls `remove` with each endpoint of an organization whose run was killed, and then forgets the run. */
export async function eachAbandoned(
  dataDir: string,
  organizationId: OrganizationId,
  remove: (endpointId: EndpointId) => Promise<void>,
): Promise<void> {
  const folder = join(dataDir, folderName);
  const start = `${organizationId}.`;
  for (const name of await readdir(folder)) {
    if (!name.startsWith(start)) continue;
    const path = join(folder, name);
    const lock = await lockFile(path);
    // Its run is going on.
    if (lock === null) continue;
    try {
      await remove(name.slice(start.length) as EndpointId);
      await rm(path, { force: true });
    } finally {
      await lock.release();
    }
  }
}
